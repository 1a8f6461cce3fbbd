import { AsyncQueue } from '@coxswain/kit'
import { joinChunks } from '../../body.ts'
import type { MessageChannel } from '../../message.ts'
import { HeaderBlocks } from './header-block.ts'

/** A stream of a SPDY session, opened by the client. */
export interface SpdyStream {
  /** Names are lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** What the client sends, for one consumer; ends when it closes or resets the stream, or disconnects. */
  readonly data: AsyncIterable<Uint8Array>
  /** Resolves when more can be written. Does nothing once the stream is over. */
  write(chunk: Uint8Array): Promise<void>
  /** Closes the write side. */
  end(): Promise<void>
  /** Resets it in both directions. */
  reset(): Promise<void>
}

const types = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
} as const
const version = 3
const finFlag = 1
const cancel = 5
/** The largest data frame that is sent. */
const maxData = 32 * 1024
const maxFrame = 16 * 1024 * 1024
/** How many frames of a stream are buffered before the client, with all its streams, has to wait. */
const waitingLimit = 256

/**
 * The server's side of SPDY/3.1 as Kubernetes uses it: streams opened by the client, no flow control but the connection's, no push. Resolves
 * when the client has disconnected; `onStream` is called for each stream it opens.
 *
 *   bytes -> frames -> SYN_STREAM: onStream, SYN_REPLY    data: stream.data    PING: echoed
 */
export async function acceptSpdy(
  channel: MessageChannel,
  onStream: (stream: SpdyStream) => void,
): Promise<void> {
  const blocks = new HeaderBlocks()
  const streams = new Map<number, AsyncQueue<Uint8Array>>()
  const sendControl = (type: number, flags: number, payload: Uint8Array): Promise<void> => {
    const frame = Buffer.alloc(8 + payload.length)
    frame.writeUInt16BE(0x8000 | version, 0)
    frame.writeUInt16BE(type, 2)
    frame.writeUInt32BE((flags << 24) | payload.length, 4)
    frame.set(payload, 8)
    return channel.send(frame)
  }
  const sendData = async (id: number, flags: number, payload: Uint8Array): Promise<void> => {
    const frame = Buffer.alloc(8 + payload.length)
    frame.writeUInt32BE(id, 0)
    frame.writeUInt32BE((flags << 24) | payload.length, 4)
    frame.set(payload, 8)
    await channel.send(frame)
  }
  const open = async (id: number, headers: Map<string, string>, isEnded: boolean): Promise<void> => {
    const data = new AsyncQueue<Uint8Array>()
    if (isEnded) data.end()
    streams.set(id, data)
    let isOver = false
    const reply = await blocks.encode(new Map())
    await sendControl(types.synReply, 0, Buffer.concat([numberBytes(id), reply]))
    onStream({
      headers,
      data,
      async write(chunk) {
        for (let at = 0; at < chunk.length && !isOver; at += maxData)
          await sendData(id, 0, chunk.subarray(at, at + maxData))
      },
      async end() {
        if (isOver) return
        isOver = true
        await sendData(id, finFlag, new Uint8Array())
      },
      async reset() {
        isOver = true
        data.end()
        streams.delete(id)
        await sendControl(types.rstStream, 0, Buffer.concat([numberBytes(id), numberBytes(cancel)]))
      },
    })
  }
  const onControl = async (type: number, flags: number, payload: Buffer): Promise<void> => {
    const id = payload.length >= 4 ? payload.readUInt32BE(0) & 0x7fffffff : 0
    if (type === types.synStream) {
      await open(id, await blocks.decode(payload.subarray(10)), (flags & finFlag) !== 0)
    } else if (type === types.headers) {
      await blocks.decode(payload.subarray(4)) // keeps the compression state in sync
    } else if (type === types.rstStream) {
      streams.get(id)?.end()
      streams.delete(id)
    } else if (type === types.ping) {
      await sendControl(types.ping, 0, payload)
    }
  }
  try {
    for await (const { head, payload } of framesOf(channel.messages)) {
      const first = head.readUInt32BE(0)
      const flags = head[4]!
      if (first & 0x80000000) {
        await onControl(first & 0xffff, flags, payload)
        continue
      }
      const data = streams.get(first)
      if (payload.length > 0) data?.push(payload)
      await data?.room(waitingLimit)
      if (flags & finFlag) data?.end()
    }
  } finally {
    for (const data of streams.values()) data.end()
    blocks.close()
  }
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

async function* framesOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly head: Buffer; readonly payload: Buffer }, void, undefined> {
  let held: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : joinChunks([held, chunk])
    while (held.length >= 8) {
      const bytes = Buffer.from(held.buffer, held.byteOffset, held.length)
      const length = bytes.readUInt32BE(4) & 0xffffff
      if (length > maxFrame) throw new RangeError('a frame is too long')
      if (bytes.length < 8 + length) break
      yield { head: bytes.subarray(0, 8), payload: bytes.subarray(8, 8 + length) }
      held = held.subarray(8 + length)
    }
  }
}
