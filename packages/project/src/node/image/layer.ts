import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import { Deflate } from 'pako'
import { ProjectError } from '../../errors.ts'
import { mediaTypes } from '../../image/media-types.ts'
import { type TarEntry, tarEnd, tarHeader, tarPadding } from '../../image/tar.ts'
import { type Blob, type ByteStream, fileBlob } from './blob.ts'

/** An entry and, for a file, where its content is. */
export interface LayerEntry extends TarEntry {
  readonly source?: string
}

export interface Layer {
  readonly title: string
  /** The digest of the tar archive before compression. */
  readonly diffId: string
  readonly blob: Blob
}

export interface WriteLayerOptions {
  readonly title: string
  /** Sorted; two entries never have the same path. */
  readonly entries: readonly LayerEntry[]
  /** The file to write. */
  readonly file: string
  /** In seconds since 1970. */
  readonly time: number
}

/** Deflate, no name, no time, an unknown operating system: the same bytes wherever it is written. */
const gzipHeader = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

/**
 * Compresses in JavaScript: what Node's own zlib writes depends on its version and on the processor, and with it the digest would. It takes
 * about twice as long.
 */
async function* deflate(raw: ByteStream): ByteStream {
  const ready: Uint8Array[] = []
  const deflater = new Deflate({ raw: true, level: 6, memLevel: 8 })
  deflater.onData = chunk => void ready.push(chunk)
  for await (const chunk of raw) {
    deflater.push(chunk)
    yield* ready.splice(0)
  }
  deflater.push(new Uint8Array(), true)
  if (deflater.err) throw new Error(`deflate fails with ${deflater.err}`)
  yield* ready
}

/** Writes a gzipped tar archive. Contents are streamed; memory does not grow with them. */
export async function writeLayer({ title, entries, file, time }: WriteLayerOptions): Promise<Layer> {
  const tar = createHash('sha256')
  const compressed = createHash('sha256')
  let checksum = 0
  let length = 0
  let size = 0
  async function* raw(): ByteStream {
    for await (const chunk of tarChunks(entries, time)) {
      tar.update(chunk)
      checksum = crc32(chunk, checksum)
      length += chunk.length
      yield chunk
    }
  }
  async function* gzipped(deflated: ByteStream): ByteStream {
    const count = (chunk: Uint8Array) => {
      compressed.update(chunk)
      size += chunk.length
      return chunk
    }
    yield count(gzipHeader)
    for await (const chunk of deflated) yield count(chunk)
    const trailer = Buffer.alloc(8)
    trailer.writeUInt32LE(checksum, 0)
    trailer.writeUInt32LE(length % 2 ** 32, 4)
    yield count(trailer)
  }
  await pipeline(gzipped(deflate(raw())), createWriteStream(file))
  const descriptor = { mediaType: mediaTypes.layer, digest: `sha256:${compressed.digest('hex')}`, size }
  return { title, diffId: `sha256:${tar.digest('hex')}`, blob: fileBlob(descriptor, file) }
}

async function* tarChunks(entries: readonly LayerEntry[], time: number): ByteStream {
  for (const entry of entries) {
    yield tarHeader(entry, time)
    const { source, size = 0 } = entry
    if (source === undefined || size === 0) continue
    let read = 0
    // `end` bounds a file that grows while it is read.
    for await (const chunk of createReadStream(source, { end: size - 1 }) as ByteStream) {
      read += chunk.length
      yield chunk
    }
    if (read !== size) throw new ProjectError('BadProject', `${source} changed while it was read: try again`)
    yield tarPadding(size)
  }
  yield tarEnd
}
