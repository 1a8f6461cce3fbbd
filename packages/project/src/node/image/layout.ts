import { closeSync, existsSync, lstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ProjectError } from '../../errors.ts'
import type { Descriptor } from '../../image/documents.ts'
import { tarBlock } from '../../image/tar.ts'
import { fileBlob } from './blob.ts'
import { type ImageSource, maxDocument, readIndex } from './image-source.ts'

/** Where the files of a layout are: in a folder, or one after the other in an archive. */
interface LayoutFiles {
  find(path: string): { readonly file: string; readonly start: number; readonly size: number } | undefined
}

/** Opens an OCI image layout: a folder, or a tar archive of one. `tag` chooses where it holds several images. */
export function openLayout(path: string, tag?: string): ImageSource {
  const files = lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : layoutFiles(path)
  if (files?.find('oci-layout') === undefined)
    throw new ProjectError('BadImage', `${path} is not an OCI image layout: it has no file oci-layout`)
  const readFile = (name: string, limit: number) => {
    const found = files.find(name)
    if (found === undefined) throw new ProjectError('BadImage', `${path}: ${name} is missing`)
    if (found.size > limit)
      throw new ProjectError('BadImage', `${path}: ${name} has more than ${limit} bytes`)
    return readPart(found.file, found.start, found.size)
  }
  const blobPath = ({ digest }: Descriptor) => `blobs/${digest.replace(':', '/')}`
  return {
    name: path,
    root: choose(readIndex(readFile('index.json', maxDocument), path).manifests, path, tag),
    read: async descriptor => readFile(blobPath(descriptor), maxDocument),
    blob(descriptor) {
      const found = files.find(blobPath(descriptor))
      if (found === undefined)
        throw new ProjectError('BadImage', `${path}: ${blobPath(descriptor)} is missing`)
      return fileBlob(descriptor, found.file, found.start)
    },
  }
}

const refName = 'org.opencontainers.image.ref.name'

function choose(manifests: readonly Descriptor[], path: string, tag: string | undefined): Descriptor {
  const named = tag === undefined ? manifests : manifests.filter(each => hasTag(each, tag))
  const digests = new Set(named.map(each => each.digest))
  if (digests.size === 1) return named[0]!
  const names = manifests.map(each => each.annotations?.[refName] ?? each.digest)
  const problem = digests.size === 0 ? `has no image ${tag ?? ''}`.trimEnd() : 'has several images'
  throw new ProjectError('BadImage', `${path} ${problem}: ${names.slice(0, 20).join(', ') || 'it is empty'}`)
}

function hasTag({ annotations }: Descriptor, tag: string): boolean {
  const name = annotations?.[refName]
  return name === tag || name?.endsWith(`:${tag}`) === true
}

function layoutFiles(path: string): LayoutFiles {
  if (statSync(path).isDirectory())
    return {
      find(name) {
        const file = join(path, name)
        return existsSync(file) ? { file, start: 0, size: statSync(file).size } : undefined
      },
    }
  const index = indexArchive(path)
  return { find: name => index.get(name) }
}

/** Where each file of an uncompressed tar archive is. */
function indexArchive(file: string): Map<string, { file: string; start: number; size: number }> {
  const found = new Map<string, { file: string; start: number; size: number }>()
  const end = statSync(file).size
  for (let at = 0; at + tarBlock <= end; ) {
    const header = readPart(file, at, tarBlock)
    const text = (from: number, length: number) =>
      header.toString('latin1', from, from + length).split('\0', 1)[0]!
    const name = text(0, 100)
    if (name === '') break
    const size = Number.parseInt(text(124, 12).trim(), 8)
    if (text(257, 5) !== 'ustar' || !Number.isSafeInteger(size) || size < 0)
      throw new ProjectError('BadImage', `${file} is not a folder and not a tar archive`)
    if (text(156, 1) === '0') found.set(name.replace(/^\.\//, ''), { file, start: at + tarBlock, size })
    at += tarBlock + Math.ceil(size / tarBlock) * tarBlock
  }
  return found
}

function readPart(file: string, start: number, size: number): Buffer {
  if (start === 0 && size === statSync(file).size) return readFileSync(file)
  const buffer = Buffer.alloc(size)
  const handle = openSync(file, 'r')
  try {
    const length = readSync(handle, buffer, 0, size, start)
    if (length < size) throw new ProjectError('BadImage', `${file} ends within a file`)
    return buffer
  } finally {
    closeSync(handle)
  }
}
