import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { ProjectError } from '../../errors.ts'
import type { Descriptor } from '../../image/documents.ts'

export type ByteStream = AsyncIterable<Uint8Array>

/** Bytes of an image that are read when they are needed, and never held in memory as a whole. */
export interface Blob {
  readonly descriptor: Descriptor
  /** From the beginning each time; ends in an error when the bytes do not have the digest. */
  open(): ByteStream
  /** Where a registry already has it, so that it can be mounted from there. */
  readonly location?: { readonly registry: string; readonly repository: string }
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

export function describeBytes(mediaType: string, bytes: Uint8Array): Descriptor {
  return { mediaType, digest: digestOf(bytes), size: bytes.length }
}

/** Passes on exactly the bytes that the descriptor names; throws `BadImage` at the first byte too many, and at the end when they differ. */
export async function* verifyBytes(
  source: ByteStream,
  { digest, size }: Descriptor,
  from: string,
): ByteStream {
  const hash = createHash('sha256')
  let length = 0
  for await (const chunk of source) {
    length += chunk.length
    if (length > size)
      throw new ProjectError('BadImage', `${from}: ${digest} has more than its ${size} bytes`)
    hash.update(chunk)
    yield chunk
  }
  const found = `sha256:${hash.digest('hex')}`
  if (found !== digest)
    throw new ProjectError(
      'BadImage',
      `${from}: the content of ${digest} has the digest ${found} (${length} bytes)`,
    )
}

/** A blob in a file of its own, or in a part of one. */
export function fileBlob(descriptor: Descriptor, file: string, start = 0): Blob {
  return {
    descriptor,
    open: () =>
      descriptor.size === 0
        ? verifyBytes(noBytes(), descriptor, file)
        : verifyBytes(createReadStream(file, { start, end: start + descriptor.size - 1 }), descriptor, file),
  }
}

export function memoryBlob(descriptor: Descriptor, bytes: Uint8Array): Blob {
  return {
    descriptor,
    async *open() {
      yield bytes
    },
  }
}

async function* noBytes(): ByteStream {}
