import type { KeyToPath, Volume, VolumeProjection } from '@coxswain/api/core/v1'
import type { Decoded } from '../../decoded.ts'
import type { WarningTexts } from '../../shared/reading.ts'

/** A file of a volume, and what it comes from: `ConfigMap "name"`. */
interface FilePath {
  readonly path: string
  readonly source: string
  readonly sourceName?: string | undefined
}

const quote = (text: string): string => JSON.stringify(text)

function show({ path, source, sourceName }: FilePath): string {
  if (source === '') return quote(path)
  return `${quote(path)} (${sourceName === undefined ? source : `${source} ${quote(sourceName)}`})`
}

const filesOf = (
  items: Decoded<KeyToPath[]> | null | undefined,
  source: string,
  sourceName?: string,
): FilePath[] => (items ?? []).map(({ path }) => ({ path: path ?? '', source, sourceName }))

/** Files of one volume that hide one another, or stand where another's directory is. */
export function* overlapWarnings(volume: Decoded<Volume>): WarningTexts {
  const { configMap, secret, downwardAPI, projected } = volume
  if (configMap)
    yield* report(volume, filesOf(configMap.items, ''), `ConfigMap ${quote(configMap.name ?? '')}`)
  if (secret) yield* report(volume, filesOf(secret.items, ''), `Secret ${quote(secret.secretName ?? '')}`)
  if (downwardAPI) yield* report(volume, filesOf(downwardAPI.items, ''), 'DownwardAPI')
  if (projected) {
    for (const source of projected.sources ?? []) {
      if (Object.keys(source).length === 0)
        yield `volume ${quote(volume.name ?? '')} (Projected) has no sources provided`
    }
    yield* report(volume, (projected.sources ?? []).flatMap(projectedFiles), 'Projected')
  }
}

const nothing: readonly string[] = []

function report(volume: Decoded<Volume>, files: readonly FilePath[], description: string): Iterable<string> {
  if (haveOwnRoots(files)) return nothing
  const name = quote(volume.name ?? '')
  return reportOverlaps(files, `volume ${name} (${description}): overlapping paths:`)
}

function* reportOverlaps(files: readonly FilePath[], head: string): WarningTexts {
  for (const text of overlaps(files)) yield `${head} ${text}`
}

function projectedFiles(source: Decoded<VolumeProjection>): FilePath[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  if (configMap && configMap.items !== undefined)
    return filesOf(configMap.items, 'ConfigMap', configMap.name ?? '')
  if (secret && secret.items !== undefined) return filesOf(secret.items, 'Secret', secret.name ?? '')
  if (downwardAPI && downwardAPI.items !== undefined) return filesOf(downwardAPI.items, 'DownwardAPI')
  if (serviceAccountToken) return [{ path: serviceAccountToken.path ?? '', source: 'ServiceAccountToken' }]
  if (clusterTrustBundle) {
    const sourceName = clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? ''
    return [{ path: clusterTrustBundle.path ?? '', source: 'ClusterTrustBundle', sourceName }]
  }
  const certificate = podCertificate ?? {}
  const files: FilePath[] = [
    { path: certificate.certificateChainPath ?? '', source: 'PodCertificate chain' },
    { path: certificate.keyPath ?? '', source: 'PodCertificate key' },
    { path: certificate.credentialBundlePath ?? '', source: 'PodCertificate credential bundle' },
  ]
  return files.filter(({ path }) => path !== '')
}

interface SeenFile {
  readonly order: number
  readonly shown: string
  /** Files that are reported to overlap with this one, so that the same is not said twice. */
  readonly reported: Set<SeenFile>
}

/** One path of a volume, and the files seen so far that have it or a path below it. */
class FileNode {
  readonly prefix: string
  /** The longest path that is a directory of this one. */
  readonly parent: FileNode | undefined
  readonly files: SeenFile[] = []
  readonly below: SeenFile[] = []

  constructor(path: string, parent: FileNode | undefined) {
    this.prefix = `${path}/`
    this.parent = parent
  }

  add(file: SeenFile): void {
    this.files.push(file)
    for (let node = this.parent; node; node = node.parent) node.below.push(file)
  }

  /** Files seen before that a file of this path overlaps with, in their order. */
  overlapping(): SeenFile[] {
    const found = [...this.files, ...this.below]
    for (let node = this.parent; node; node = node.parent) for (const file of node.files) found.push(file)
    return found.sort((one, other) => one.order - other.order)
  }
}

/** In the order of their prefixes a directory stands right before all that is below it. */
function nodesOf(paths: Iterable<string>): Map<string, FileNode> {
  const nodes = new Map<string, FileNode>()
  let nearest: FileNode | undefined
  for (const prefix of Array.from(paths, path => `${path}/`).sort()) {
    while (nearest && !prefix.startsWith(nearest.prefix)) nearest = nearest.parent
    const path = prefix.slice(0, -1)
    nearest = new FileNode(path, nearest)
    nodes.set(path, nearest)
  }
  return nodes
}

/** Whether no two files have the first segment of their paths in common: nothing overlaps then, as in most volumes. */
function haveOwnRoots(files: readonly FilePath[]): boolean {
  if (files.length < 2) return true
  return new Set(files.map(({ path }) => path.split('/', 1)[0])).size === files.length
}

/** Each file with those before it that have its path, a directory of it, or a path below it; no pair twice. */
function* overlaps(files: readonly FilePath[]): WarningTexts {
  const trimmed = files.map(file => ({ ...file, path: file.path.replace(/\/+$/, '') }))
  const nodes = nodesOf(new Set(trimmed.map(({ path }) => path)))
  let order = 0
  for (const file of trimmed) {
    if (file.path === '') continue
    const node = nodes.get(file.path)!
    const shown = show(file)
    const seen = node.files.find(other => other.shown === shown)
    const reported = seen?.reported ?? new Set()
    for (const other of node.overlapping()) {
      if (reported.has(other)) continue
      reported.add(other)
      yield `${shown} with ${other.shown}`
    }
    if (!seen) node.add({ order: order++, shown, reported })
  }
}
