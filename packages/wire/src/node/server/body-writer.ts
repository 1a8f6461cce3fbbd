import type { WireBody } from '../../message.ts'
import { isPushStream, type PushStream } from '../../push-stream.ts'
import type { Deadline, Deadlines } from './deadlines.ts'
import type { TurnBatch, TurnBatches } from './turn-batch.ts'

/** The destination of a response body: an HTTP/2 stream, or an HTTP/1.1 response with its framing. */
export interface Sink {
  /** False when the peer should read first. */
  write(chunk: Uint8Array): boolean
  /** Calls back once, when more can be written or the sink is closed. */
  onRoom(callback: () => void): void
  /** Calls back once, when the sink is closed. */
  onClose(callback: () => void): void
  end(): void
  /** Aborts, so that the client sees that the body is incomplete. */
  destroy(): void
  readonly closed: boolean
  /** What the streams of the sink's connection are to send next. */
  readonly batches: TurnBatches
}

/** Chunks are joined to writes of about this size: a list of 10,000 objects is not 10,000 writes. */
const writeSize = 64 * 1024

/** Writes the chunks in order, waiting whenever the client is slower. */
export async function writePieces(
  sink: Sink,
  pieces: readonly Uint8Array[],
  stall: StallGuard,
): Promise<void> {
  let buffer = Buffer.allocUnsafeSlow(writeSize)
  let used = 0
  for (const piece of pieces) {
    if (used + piece.length > writeSize) {
      if (used > 0 && !(await put(sink, buffer.subarray(0, used), stall))) return
      if (used > 0) buffer = Buffer.allocUnsafeSlow(writeSize)
      used = 0
    }
    if (piece.length > writeSize / 2) {
      if (used > 0 && !(await put(sink, buffer.subarray(0, used), stall))) return
      if (used > 0) buffer = Buffer.allocUnsafeSlow(writeSize)
      used = 0
      if (!(await put(sink, piece, stall))) return
    } else {
      buffer.set(piece, used)
      used += piece.length
    }
  }
  if (used > 0 && !(await put(sink, buffer.subarray(0, used), stall))) return
  sink.end()
}

/** Sends chunks as they arrive. Resolves when the body has ended or the client has disconnected; never rejects. */
export async function writeStream(
  sink: Sink,
  body: AsyncIterable<Uint8Array>,
  stall: StallGuard,
  onError: (error: unknown) => void,
): Promise<void> {
  if (isPushStream(body)) return await writePushed(sink, body, stall)
  try {
    for await (const chunk of body) {
      if (sink.closed) return
      if (chunk.length > 0 && !sink.write(chunk) && !(await room(sink, stall))) return
    }
    sink.end()
  } catch (error) {
    if (!sink.closed) {
      sink.destroy()
      onError(error)
    }
  }
}

/**
 * Sends the chunks of a turn as one write: a burst of events is not a burst of frames. Streams with the same chunks
 * share the joined bytes.
 */
function writePushed(sink: Sink, body: PushStream, { deadlines, timeout }: StallGuard): Promise<void> {
  return new Promise(resolve => {
    const deadline: Deadline = { expire: () => sink.destroy() }
    let isEnding = false
    /** The client has to read before more is written. */
    let isFull = false
    /** Bytes of this turn. */
    let held = 0
    const batch: TurnBatch = {
      chunks: [],
      flush(bytes) {
        const isPaused = held >= writeSize
        held = 0
        if (sink.closed) return
        if (!sink.write(bytes)) {
          isFull = true
          deadlines.set(deadline, timeout)
          sink.onRoom(onRoom)
        } else if (isPaused) body.resume()
        if (isEnding) finish()
      },
    }
    const onRoom = () => {
      isFull = false
      deadlines.forget(deadline)
      if (!sink.closed) body.resume()
    }
    const finish = () => {
      sink.end()
      resolve()
    }
    sink.onClose(() => {
      deadlines.forget(deadline)
      body.leave()
      resolve()
    })
    body.attach({
      chunk(bytes) {
        if (sink.closed) return false
        sink.batches.add(batch, bytes)
        held += bytes.length
        return !isFull && held < writeSize
      },
      end() {
        isEnding = true
        if (batch.chunks.length === 0 && !sink.closed) finish()
      },
    })
  })
}

async function put(sink: Sink, chunk: Uint8Array, stall: StallGuard): Promise<boolean> {
  if (sink.closed) return false
  return sink.write(chunk) || room(sink, stall)
}

/** Ends connections of clients that do not read. */
export interface StallGuard {
  readonly deadlines: Deadlines
  readonly timeout: number
}

/** Resolves with whether the client is still connected. */
async function room(sink: Sink, { deadlines, timeout }: StallGuard): Promise<boolean> {
  const deadline: Deadline = { expire: () => sink.destroy() }
  deadlines.set(deadline, timeout)
  await new Promise<void>(resolve => sink.onRoom(resolve))
  deadlines.forget(deadline)
  return !sink.closed
}

/** The length of a body that is not a stream. */
export function bodyLength(body: Exclude<WireBody, AsyncIterable<Uint8Array>>): number {
  if (body instanceof Uint8Array) return body.length
  let length = 0
  for (const piece of body) length += piece.length
  return length
}
