import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ProjectError } from '../../errors.ts'
import {
  type Descriptor,
  emptyConfig,
  encodeDocument,
  extendConfig,
  imageIndex,
  imageManifest,
} from '../../image/documents.ts'
import { mediaTypes } from '../../image/media-types.ts'
import { formatPlatform, type Platform } from '../../image/platform.ts'
import { createSpdx } from '../../image/spdx.ts'
import { describeBytes, memoryBlob } from './blob.ts'
import {
  type BaseImage,
  type Image,
  type ImageSource,
  loadBase,
  type ManifestContent,
} from './image-source.ts'
import { type Layer, writeLayer } from './layer.ts'
import { type ImagePlan, planImage } from './plan-image.ts'

/** Options of {@link buildImage}. */
export interface BuildImageOptions {
  /** The project's folder, with its package.json. */
  readonly folder: string
  /** The base image; undefined for none (`scratch`). */
  readonly base: ImageSource | undefined
  readonly platforms: readonly Platform[]
  /** What the image runs when a container has no arguments of its own, relative to the folder. */
  readonly operators: readonly string[]
  /** Of all files, and of the image itself: seconds since 1970. */
  readonly time: number
  /** In addition to the ones that the project's package.json gives. */
  readonly labels?: Readonly<Record<string, string>>
  /** Absolute paths that stay out, such as where the image is written to. */
  readonly exclude?: readonly string[]
}

/** A built image. Its layers are files that disposing removes. */
export interface BuiltImage extends Disposable {
  readonly image: Image
  readonly layers: readonly Layer[]
  readonly warnings: readonly string[]
  /** SPDX 2.3, JSON. */
  readonly sbom: Uint8Array
}

/** Not root, and in no image's list of users: the number that distroless images call nonroot. */
const user = '65532:65532'

/**
 * Builds an image: base | dependencies | linked packages | code. The same files, base and time give the same digest.
 * Throws `BadProject`, `BadImage` and `NotWritten` (the layers' files, in the folder for temporary files).
 */
export async function buildImage(options: BuildImageOptions): Promise<BuiltImage> {
  const plan = planImage(options.folder, options.operators, options.exclude)
  const folder = makeStaging()
  const dispose = () => rmSync(folder, { recursive: true, force: true })
  try {
    const layers: Layer[] = []
    for (const [at, { title, entries }] of plan.layers.entries())
      layers.push(
        await writeLayer({ title, entries, file: join(folder, `${at}.tar.gz`), time: options.time }),
      )
    const manifests: ManifestContent[] = []
    for (const platform of options.platforms)
      manifests.push(await buildManifest(plan, layers, { ...options, platform }))
    const image = assemble(manifests)
    return {
      image,
      layers,
      warnings: [...plan.warnings, ...platformWarnings(plan, options)],
      sbom: describe(plan, image, options),
      [Symbol.dispose]: dispose,
    }
  } catch (cause) {
    dispose()
    if (cause instanceof ProjectError) throw cause
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === undefined) throw cause
    throw new ProjectError('NotWritten', `the image cannot be built: ${message}`, { cause })
  }
}

function makeStaging(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'coxswain-image-'))
  } catch (cause) {
    throw new ProjectError('NotWritten', `${tmpdir()} cannot be written to: ${(cause as Error).message}`, {
      cause,
    })
  }
}

async function buildManifest(
  plan: ImagePlan,
  layers: readonly Layer[],
  {
    base: source,
    platform,
    operators,
    time,
    labels = {},
  }: BuildImageOptions & { readonly platform: Platform },
): Promise<ManifestContent> {
  const base: BaseImage =
    source === undefined
      ? { name: 'scratch', config: emptyConfig(platform), layers: [] }
      : await loadBase(source, platform)
  const created = timeText(time)
  const all = { ...standardLabels(plan, base, created), ...labels }
  const config = encodeDocument(
    extendConfig(base.config, {
      created,
      layers,
      entrypoint: [nodeOf(base), plan.command],
      cmd: ['run', ...operators],
      workingDirectory: plan.workingDirectory,
      user,
      env: { NODE_ENV: 'production' },
      labels: all,
    }),
  )
  const configBlob = memoryBlob(describeBytes(mediaTypes.config, config), config)
  const blobs = [...base.layers, ...layers.map(layer => layer.blob)]
  const bytes = encodeDocument(
    imageManifest(
      configBlob.descriptor,
      blobs.map(blob => plain(blob.descriptor)),
      all,
    ),
  )
  const { architecture, os, variant } = base.config
  const described = { architecture, os, ...(variant !== undefined && { variant }) }
  return {
    descriptor: { ...describeBytes(mediaTypes.manifest, bytes), platform: described },
    bytes,
    config: configBlob,
    layers: blobs,
  }
}

/** Base images that start Node directly (distroless) say where it is; the others have it in PATH. */
function nodeOf({ config }: BaseImage): string {
  const first = config.config?.Entrypoint?.[0]
  return first !== undefined && basename(first) === 'node' ? first : 'node'
}

function standardLabels({ project }: ImagePlan, base: BaseImage, created: string): Record<string, string> {
  return {
    'org.opencontainers.image.created': created,
    'org.opencontainers.image.title': project.name,
    'org.opencontainers.image.version': project.version,
    ...(project.license !== undefined && { 'org.opencontainers.image.licenses': project.license }),
    ...(base.digest !== undefined && {
      'org.opencontainers.image.base.name': base.name,
      'org.opencontainers.image.base.digest': base.digest,
    }),
  }
}

const plain = ({ mediaType, digest, size }: Descriptor): Descriptor => ({ mediaType, digest, size })

/** One platform is a manifest, several are an index of theirs. */
function assemble(manifests: readonly ManifestContent[]): Image {
  const [only, ...others] = manifests
  if (only === undefined) throw new ProjectError('BadReference', 'an image needs a platform')
  if (others.length === 0) return { root: plain(only.descriptor), bytes: only.bytes, manifests }
  const bytes = encodeDocument(imageIndex(manifests.map(each => each.descriptor)))
  return { root: describeBytes(mediaTypes.index, bytes), bytes, manifests }
}

function platformWarnings({ native }: ImagePlan, { platforms }: BuildImageOptions): string[] {
  const here: Platform = { os: 'linux', architecture: process.arch === 'x64' ? 'amd64' : process.arch }
  const isForeign =
    process.platform !== 'linux' || platforms.some(each => each.architecture !== here.architecture)
  if (native.length === 0 || !isForeign) return []
  const named = native.slice(0, 5).join(', ')
  return [
    `the dependencies have compiled code for ${process.platform}/${process.arch}, and the image is for ${platforms.map(formatPlatform).join(', ')}: ${named}`,
  ]
}

function describe(plan: ImagePlan, image: Image, { base, time }: BuildImageOptions): Uint8Array {
  const document = createSpdx({
    project: plan.project,
    packages: plan.packages,
    ...(base && { base: { name: base.name, digest: base.root.digest } }),
    created: timeText(time),
    digest: image.root.digest,
  })
  return Buffer.from(`${JSON.stringify(document, undefined, 2)}\n`)
}

const timeText = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
