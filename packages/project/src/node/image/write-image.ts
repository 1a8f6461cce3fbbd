import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { encodeText } from '@coxswain/kit'
import { ProjectError } from '../../errors.ts'
import { type Descriptor, encodeDocument, imageIndex } from '../../image/documents.ts'
import { formatReference, type ImageReference } from '../../image/reference.ts'
import { tarEnd, tarHeader, tarPadding } from '../../image/tar.ts'
import { type Blob, type ByteStream, memoryBlob } from './blob.ts'
import type { Image } from './image-source.ts'

/** Options of {@link writeImage}. */
export interface WriteImageOptions {
  /** A folder, or a file whose name ends in `.tar`. */
  readonly output: string
  readonly tags: readonly ImageReference[]
}

/**
 * Writes an OCI image layout, as a folder or as an archive, which for one platform `docker load` reads too. It is written beside its destination and
 * renamed: after a failure (`NotWritten`) the destination is as it was.
 */
export async function writeImage(image: Image, { output, tags }: WriteImageOptions): Promise<void> {
  const target = resolve(output)
  const isArchive = output.endsWith('.tar')
  checkTarget(target, isArchive ? 'archive' : 'folder')
  const staged = `${target}.${process.pid}.new~`
  try {
    mkdirSync(dirname(target), { recursive: true })
    if (isArchive) await writeArchive(image, staged, tags)
    else await writeFolder(image, staged, tags)
    replace(staged, target)
  } catch (cause) {
    rmSync(staged, { recursive: true, force: true })
    if (cause instanceof ProjectError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ProjectError('NotWritten', `${output} cannot be written: ${reason}`, { cause })
  }
}

/** Only a layout is replaced: a folder with anything else in it was not meant. */
function checkTarget(target: string, kind: 'archive' | 'folder'): void {
  if (!existsSync(target)) return
  if (kind === 'archive') {
    if (!statSync(target).isFile()) throw new ProjectError('NotWritten', `${target} is not a file`)
    return
  }
  if (!statSync(target).isDirectory())
    throw new ProjectError('NotWritten', `${target} is not a folder; an archive has a name that ends in .tar`)
  if (readdirSync(target).length > 0 && !existsSync(join(target, 'oci-layout')))
    throw new ProjectError(
      'NotWritten',
      `${target} is not empty, and not an OCI image layout: choose another folder`,
    )
}

function replace(staged: string, target: string): void {
  if (!existsSync(target) || statSync(target).isFile()) {
    renameSync(staged, target)
    return
  }
  const old = `${target}.${process.pid}.old~`
  renameSync(target, old)
  try {
    renameSync(staged, target)
  } catch (error) {
    renameSync(old, target)
    throw error
  }
  rmSync(old, { recursive: true, force: true })
}

async function writeFolder(image: Image, folder: string, tags: readonly ImageReference[]): Promise<void> {
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
  for (const blob of blobsOf(image))
    await pipeline(Readable.from(blob.open()), createWriteStream(join(folder, blobPath(blob))))
  for (const [name, content] of headFiles(image, tags)) writeFileSync(join(folder, name), content)
}

async function writeArchive(image: Image, file: string, tags: readonly ImageReference[]): Promise<void> {
  async function* chunks(): ByteStream {
    for (const path of ['blobs', 'blobs/sha256']) yield tarHeader({ path, type: 'folder' }, 0)
    for (const blob of blobsOf(image)) {
      const { size } = blob.descriptor
      yield tarHeader({ path: blobPath(blob), type: 'file', size }, 0)
      yield* blob.open()
      yield tarPadding(size)
    }
    for (const [path, content] of [...headFiles(image, tags), ...dockerFiles(image, tags)]) {
      yield tarHeader({ path, type: 'file', size: content.length }, 0)
      yield content
      yield tarPadding(content.length)
    }
    yield tarEnd
  }
  await pipeline(Readable.from(chunks()), createWriteStream(file))
}

const blobPath = ({ descriptor }: Blob) => `blobs/${descriptor.digest.replace(':', '/')}`

/** Every blob once, documents included. */
function blobsOf({ root, bytes, manifests }: Image): Blob[] {
  const all = [
    ...manifests.flatMap(({ descriptor, bytes: content, config, layers }) => [
      ...layers,
      config,
      memoryBlob(descriptor, content),
    ]),
    memoryBlob(root, bytes),
  ]
  return [...new Map(all.map(blob => [blob.descriptor.digest, blob])).values()]
}

function headFiles({ root }: Image, tags: readonly ImageReference[]): [string, Uint8Array][] {
  const { mediaType, digest, size } = root
  const entries: Descriptor[] = tags.map(tag => ({
    mediaType,
    digest,
    size,
    annotations: { 'org.opencontainers.image.ref.name': formatReference(tag) },
  }))
  return [
    ['oci-layout', encodeText('{"imageLayoutVersion":"1.0.0"}')],
    ['index.json', encodeDocument(imageIndex(entries.length > 0 ? entries : [{ mediaType, digest, size }]))],
  ]
}

/** What `docker load` looks for; its format has no place for several platforms. */
function dockerFiles({ manifests }: Image, tags: readonly ImageReference[]): [string, Uint8Array][] {
  const [only, ...others] = manifests
  if (only === undefined || others.length > 0) return []
  const entry = {
    Config: blobPath(only.config),
    RepoTags: tags.filter(tag => tag.tag !== undefined).map(formatReference),
    Layers: only.layers.map(blobPath),
  }
  return [['manifest.json', encodeDocument([entry])]]
}
