import { isObject, type JsonObject } from '@coxswain/apimachinery'
import { listOf, objectOf, textOf } from '../../shared/reading.ts'

/** A file of a volume, and what it comes from. */
interface FilePath {
  readonly path: string
  readonly source: string
}

const quote = (text: string): string => JSON.stringify(text)
const show = ({ path, source }: FilePath): string =>
  source === '' ? quote(path) : `${quote(path)} (${source})`

const filesOf = (items: unknown, source: string): FilePath[] =>
  listOf(items).map(({ path }) => ({ path: textOf(path), source }))

/** Files of one volume that hide one another, or stand where another's directory is. */
export function overlapWarnings(volumes: readonly JsonObject[]): string[] {
  return volumes.flatMap(volume => {
    const warnings: string[] = []
    const report = (description: string, files: readonly FilePath[]) => {
      for (const text of overlaps(files))
        warnings.push(`volume ${quote(textOf(volume.name))} (${description}): overlapping paths: ${text}`)
    }
    const { configMap, secret, downwardAPI, projected } = volume
    if (isObject(configMap))
      report(`ConfigMap ${quote(textOf(configMap.name))}`, filesOf(configMap.items, ''))
    if (isObject(secret)) report(`Secret ${quote(textOf(secret.secretName))}`, filesOf(secret.items, ''))
    if (isObject(downwardAPI)) report('DownwardAPI', filesOf(downwardAPI.items, ''))
    if (isObject(projected)) {
      for (const source of listOf(projected.sources)) {
        if (Object.keys(source).length === 0)
          warnings.push(`volume ${quote(textOf(volume.name))} (Projected) has no sources provided`)
      }
      report('Projected', listOf(projected.sources).flatMap(projectedFiles))
    }
    return warnings
  })
}

function projectedFiles(source: JsonObject): FilePath[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source
  if (isObject(configMap) && configMap.items !== undefined)
    return filesOf(configMap.items, `ConfigMap ${quote(textOf(configMap.name))}`)
  if (isObject(secret) && secret.items !== undefined)
    return filesOf(secret.items, `Secret ${quote(textOf(secret.name))}`)
  if (isObject(downwardAPI) && downwardAPI.items !== undefined)
    return filesOf(downwardAPI.items, 'DownwardAPI')
  if (isObject(serviceAccountToken))
    return [{ path: textOf(serviceAccountToken.path), source: 'ServiceAccountToken' }]
  if (isObject(clusterTrustBundle)) {
    const name = textOf(clusterTrustBundle.name ?? clusterTrustBundle.signerName)
    return [{ path: textOf(clusterTrustBundle.path), source: `ClusterTrustBundle ${quote(name)}` }]
  }
  const certificate = objectOf(podCertificate)
  const files: FilePath[] = [
    { path: textOf(certificate.certificateChainPath), source: 'PodCertificate chain' },
    { path: textOf(certificate.keyPath), source: 'PodCertificate key' },
    { path: textOf(certificate.credentialBundlePath), source: 'PodCertificate credential bundle' },
  ]
  return files.filter(({ path }) => path !== '')
}

function overlaps(files: readonly FilePath[]): string[] {
  const seen: FilePath[] = []
  return files.flatMap(file => {
    const trimmed = { ...file, path: file.path.replace(/\/+$/, '') }
    const hits = seen.filter(other => collides(other.path, trimmed.path))
    seen.push(trimmed)
    return hits.map(other => `${show(trimmed)} with ${show(other)}`)
  })
}

function collides(one: string, other: string): boolean {
  if (one === '' || other === '') return false
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`)
}
