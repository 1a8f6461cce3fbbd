import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { decodeText } from '@coxswain/kit'
import { ProjectError } from '../../errors.ts'
import type { Descriptor, ImageConfig, ImageIndex, ImageManifest } from '../../image/documents.ts'
import { isIndexType, isManifestType, layerType } from '../../image/media-types.ts'
import { formatPlatform, isSamePlatform, type Platform } from '../../image/platform.ts'
import { isDigest } from '../../image/reference.ts'
import { type Blob, digestOf } from './blob.ts'

/** Where an image is read from: a registry, or a layout on the disk. */
export interface ImageSource {
  /** For messages. */
  readonly name: string
  /** The image's manifest or index. */
  readonly root: Descriptor
  /** The bytes of a manifest, an index or a configuration, which `readDocument` verifies. */
  read(descriptor: Descriptor): Promise<Uint8Array>
  blob(descriptor: Descriptor): Blob
}

/** An image that can be written or pushed: its documents in memory, its layers wherever they are. */
export interface Image {
  readonly root: Descriptor
  readonly bytes: Uint8Array
  readonly manifests: readonly ManifestContent[]
}

export interface ManifestContent {
  readonly descriptor: Descriptor
  readonly bytes: Uint8Array
  readonly config: Blob
  readonly layers: readonly Blob[]
}

/** The largest manifest, index or configuration; registries accept 4 MiB. */
export const maxDocument: number = 4 * 1024 * 1024

/** Reads and verifies a document. */
export async function readDocument(source: ImageSource, descriptor: Descriptor): Promise<Uint8Array> {
  if (descriptor.size > maxDocument)
    throw new ProjectError(
      'BadImage',
      `${source.name}: ${descriptor.digest} has ${descriptor.size} bytes, and more than ${maxDocument} are not read`,
    )
  const bytes = await source.read(descriptor)
  const found = digestOf(bytes)
  if (found !== descriptor.digest)
    throw new ProjectError(
      'BadImage',
      `${source.name}: the content of ${descriptor.digest} has the digest ${found}`,
    )
  return bytes
}

/** All manifests of an image. */
export async function loadImage(source: ImageSource): Promise<Image> {
  const { root } = source
  const bytes = await readDocument(source, root)
  const descriptors = isIndexType(root.mediaType) ? readIndex(bytes, source.name).manifests : [root]
  const manifests: ManifestContent[] = []
  for (const descriptor of descriptors) {
    if (!isManifestType(descriptor.mediaType)) throw unknownType(source, descriptor)
    const content = descriptor === root ? bytes : await readDocument(source, descriptor)
    const manifest = readManifest(content, source.name)
    manifests.push({
      descriptor,
      bytes: content,
      config: source.blob(manifest.config),
      layers: manifest.layers.map(layer => source.blob(layer)),
    })
  }
  return { root, bytes, manifests }
}

/** An image for one platform, to build on. */
export interface BaseImage {
  readonly name: string
  /** Of its manifest or index; undefined for an empty base. */
  readonly digest?: string
  readonly config: ImageConfig
  readonly layers: readonly Blob[]
}

/** Chooses the manifest of a platform. Throws `BadImage` when there is none. */
export async function loadBase(source: ImageSource, platform: Platform): Promise<BaseImage> {
  const { root, name } = source
  const bytes = await readDocument(source, root)
  if (!isIndexType(root.mediaType) && !isManifestType(root.mediaType)) throw unknownType(source, root)
  const isIndex = isIndexType(root.mediaType)
  const manifest = readManifest(
    isIndex ? await readDocument(source, choose(readIndex(bytes, name), platform, name)) : bytes,
    name,
  )
  const config = readConfig(await readDocument(source, manifest.config), name)
  if (!isSamePlatform(platform, config))
    throw new ProjectError(
      'BadImage',
      `${name} is for ${formatPlatform(config)}, not for ${formatPlatform(platform)}`,
    )
  if (config.rootfs.diff_ids.length !== manifest.layers.length)
    throw new ProjectError(
      'BadImage',
      `${name}: the configuration has ${config.rootfs.diff_ids.length} layers, the manifest ${manifest.layers.length}`,
    )
  const layers = manifest.layers.map(layer =>
    source.blob({ ...layer, mediaType: layerType(layer.mediaType) }),
  )
  return { name, digest: root.digest, config, layers }
}

function choose({ manifests }: ImageIndex, platform: Platform, name: string): Descriptor {
  const found = manifests.find(each => each.platform !== undefined && isSamePlatform(platform, each.platform))
  if (found !== undefined) return found
  const offered = manifests.flatMap(each => (each.platform ? [formatPlatform(each.platform)] : []))
  throw new ProjectError(
    'BadImage',
    `${name} is not there for ${formatPlatform(platform)}, only for ${[...new Set(offered)].join(', ')}`,
  )
}

const unknownType = ({ name }: ImageSource, { mediaType }: Descriptor) =>
  new ProjectError(
    'BadImage',
    `${name}: ${JSON.stringify(mediaType)} is neither an image manifest nor an image index`,
  )

function readManifest(bytes: Uint8Array, name: string): ImageManifest {
  const read = parseObject(bytes, name)
  if (!isDescriptor(read.config) || !Array.isArray(read.layers) || !read.layers.every(isDescriptor))
    throw new ProjectError('BadImage', `${name}: the manifest has no valid config and layers`)
  return read as unknown as ImageManifest
}

export function readIndex(bytes: Uint8Array, name: string): ImageIndex {
  const read = parseObject(bytes, name)
  if (!Array.isArray(read.manifests) || !read.manifests.every(isDescriptor))
    throw new ProjectError('BadImage', `${name}: the index has no valid list of manifests`)
  return read as unknown as ImageIndex
}

function readConfig(bytes: Uint8Array, name: string): ImageConfig {
  const read = parseObject(bytes, name)
  const { rootfs, os, architecture } = read
  const diffIds = isObject(rootfs) ? rootfs.diff_ids : undefined
  const isValid =
    typeof os === 'string' &&
    typeof architecture === 'string' &&
    Array.isArray(diffIds) &&
    diffIds.every(each => typeof each === 'string')
  if (!isValid) throw new ProjectError('BadImage', `${name}: the configuration is not one of an image`)
  return read as unknown as ImageConfig
}

export function parseObject(bytes: Uint8Array, name: string): JsonObject {
  let read: unknown
  try {
    read = JSON.parse(decodeText(bytes))
  } catch (cause) {
    throw new ProjectError('BadImage', `${name}: a document is not JSON`, { cause })
  }
  if (!isObject(read)) throw new ProjectError('BadImage', `${name}: a document is not a JSON object`)
  return read
}

function isDescriptor(value: unknown): value is Descriptor {
  return (
    isObject(value) &&
    typeof value.mediaType === 'string' &&
    typeof value.digest === 'string' &&
    isDigest(value.digest) &&
    Number.isSafeInteger(value.size) &&
    (value.size as number) >= 0
  )
}
