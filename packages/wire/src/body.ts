import { concatBytes } from '@coxswain/kit'
import { TransportError } from './errors.ts'
import type { WireBody } from './message.ts'

/** Whether a body is streamed in chunks. */
export function isStream(body: WireBody | undefined): body is AsyncIterable<Uint8Array> {
  return body !== undefined && Symbol.asyncIterator in body
}

const nothing = new Uint8Array(0)

/** The whole body as one chunk. Rejects with `BadMessage` when it is longer than `limit` bytes. */
export async function readBody(
  body: WireBody | undefined,
  limit: number = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  if (body === undefined) return nothing
  if (body instanceof Uint8Array) return checkLength(body, limit)
  if (!isStream(body)) return checkLength(joinChunks(body), limit)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > limit) throw tooLong(limit)
    chunks.push(chunk)
  }
  return joinChunks(chunks)
}

/** Tells the sender of a body that (the rest of) it will not be read. */
export async function discardBody(body: WireBody | undefined): Promise<void> {
  if (!isStream(body)) return
  // A stream of Node's is not closed by the end of an iteration that has not begun.
  const { [Symbol.asyncDispose]: dispose } = body as Partial<AsyncDisposable>
  if (dispose) await dispose.call(body)
  else await body[Symbol.asyncIterator]().return?.()
}

/** Concatenates all chunks; a single one is not copied. */
export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? chunks[0]! : concatBytes(chunks)
}

function checkLength(bytes: Uint8Array, limit: number): Uint8Array {
  if (bytes.length > limit) throw tooLong(limit)
  return bytes
}

function tooLong(limit: number): TransportError {
  return new TransportError('BadMessage', `the body is longer than ${limit} bytes`)
}
