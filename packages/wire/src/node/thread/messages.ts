import type { MessagePort } from 'node:worker_threads'
import { joinChunks } from '../../body.ts'
import type { TransportErrorCode } from '../../errors.ts'
import type { WireHeaders } from '../../message.ts'

/** A message of the client's thread about one of its requests. */
export type ClientMessage = OfCall & (RequestMessage | TakenMessage | GoneMessage)

/** A message of the server's thread. */
export type ServerMessage = OfCall & Answer

export type Answer = HeadMessage | ChunkMessage | EndMessage | FailureMessage

interface OfCall {
  readonly id: number
}

interface RequestMessage {
  readonly request: ThreadRequest
  /** The body, if there is one. */
  readonly bytes?: Uint8Array
}

export interface ThreadRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: WireHeaders
}

/** How many chunks of the response have been read. */
interface TakenMessage {
  readonly taken: number
}

/** The client no longer waits for the response. */
interface GoneMessage {
  readonly gone: true
}

interface HeadMessage {
  readonly status: number
  readonly headers: WireHeaders
  /** The body; without it, chunks follow. */
  readonly bytes?: Uint8Array
}

interface ChunkMessage {
  readonly bytes: Uint8Array
}

interface EndMessage {
  readonly ended: true
}

interface FailureMessage {
  readonly failed: { readonly code: TransportErrorCode; readonly message: string; readonly sent: boolean }
}

/** Chunks of a response that may be in flight. */
export const chunksInFlight = 32
/** Chunks that are acknowledged together. */
export const chunksTold = 8

/** Messages of one turn of the event loop, with their bytes in one buffer. */
interface Batch<M> {
  readonly messages: readonly M[]
  /** The length of each message's bytes; -1 for those without. */
  readonly lengths: readonly number[]
  readonly bytes: Uint8Array
}

type Message = { readonly bytes?: Uint8Array } | object

/** Sends messages in ordered batches: each crossing of threads, and each transferred buffer, costs more than most messages. */
export function createBatch<M extends Message>(port: MessagePort): (message: M) => void {
  let waiting: M[] = []
  const flush = () => {
    const lengths = waiting.map(message => bytesOf(message)?.length ?? -1)
    const bytes = joinChunks(waiting.flatMap(message => bytesOf(message) ?? []))
    const messages = waiting.map(message => (bytesOf(message) ? { ...message, bytes: undefined } : message))
    waiting = []
    port.postMessage({ messages, lengths, bytes } satisfies Batch<object>)
  }
  return message => {
    if (waiting.push(message) === 1) setImmediate(flush)
  }
}

/** Calls back with each message of the batches that arrive. */
export function receiveBatches<M extends Message>(port: MessagePort, receive: (message: M) => void): void {
  port.on('message', ({ messages, lengths, bytes }: Batch<M>) => {
    let at = 0
    messages.forEach((message, index) => {
      const length = lengths[index]!
      receive(length < 0 ? message : { ...message, bytes: bytes.subarray(at, at + length) })
      at += Math.max(0, length)
    })
  })
}

function bytesOf(message: Message): Uint8Array | undefined {
  return 'bytes' in message ? message.bytes : undefined
}
