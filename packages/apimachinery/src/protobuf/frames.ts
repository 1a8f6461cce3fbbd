import { concatBytes } from '@coxswain/kit'
import { malformed } from './malformed.ts'

/** Larger frames are rejected, as upstream's client does. */
const maxFrameBytes = 16 * 1024 * 1024

/** Prepends the four-byte length that separates the events of a protobuf watch. */
export function frame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(bytes.length + 4)
  new DataView(framed.buffer).setUint32(0, bytes.length)
  framed.set(bytes, 4)
  return framed
}

/** Splits a stream of chunks into frames. A stream that ends inside a frame is an error. */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let pending: Uint8Array[] = []
  let total = 0
  let needed = 4 // chunks are joined only when there is enough for the length or the frame
  for await (const chunk of chunks) {
    pending.push(chunk)
    total += chunk.length
    if (total < needed) continue
    let rest = pending.length === 1 ? chunk : concatBytes(pending)
    for (needed = bytesNeeded(rest); rest.length >= needed && needed > 4; needed = bytesNeeded(rest)) {
      yield rest.subarray(4, needed)
      rest = rest.subarray(needed)
    }
    pending = [rest]
    total = rest.length
  }
  if (total > 0) throw malformed('unexpected EOF')
}

/** The length of the first frame with its prefix, or 4 while that is not known. */
function bytesNeeded(bytes: Uint8Array): number {
  if (bytes.length < 4) return 4
  const size = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)
  if (size === 0 || size > maxFrameBytes) throw malformed(`frame of ${size} bytes`)
  return size + 4
}
