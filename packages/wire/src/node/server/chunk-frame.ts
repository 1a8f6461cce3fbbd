/** Longer chunks are not worth copying. */
const maxFramed = 32 * 1024

let lastChunk: Uint8Array | undefined
let lastFrame: Buffer | undefined

/**
 * The chunk with HTTP/1.1 chunked framing. The same bytes are framed once, however many connections they
 * are sent to in a row. Undefined when the chunk is too long to copy.
 */
export function frameChunk(chunk: Uint8Array): Buffer | undefined {
  if (chunk === lastChunk) return lastFrame
  if (chunk.length > maxFramed) return undefined
  const head = `${chunk.length.toString(16)}\r\n`
  const frame = Buffer.allocUnsafe(head.length + chunk.length + 2)
  frame.write(head, 0, 'latin1')
  frame.set(chunk, head.length)
  frame.write('\r\n', head.length + chunk.length, 'latin1')
  lastChunk = chunk
  lastFrame = frame
  return frame
}
