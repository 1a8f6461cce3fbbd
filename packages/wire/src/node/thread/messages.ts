import type { MessagePort } from 'node:worker_threads'
import type { TransportErrorCode } from '../../errors.ts'
import type { WireHeaders } from '../../message.ts'

/** What the client's thread says of one of its requests. */
export type ClientMessage = { readonly id: number } & (
  | { readonly request: ThreadRequest }
  /** So many chunks of the answer have been read. */
  | { readonly taken: number }
  /** Nobody waits for the answer any more. */
  | { readonly gone: true }
)

export interface ThreadRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: WireHeaders
  readonly body?: Uint8Array
}

/** What the server's thread answers. */
export type ServerMessage = { readonly id: number } /** Without a body, chunks follow. */ & (
  | { readonly status: number; readonly headers: WireHeaders; readonly body?: Uint8Array }
  | { readonly chunk: Uint8Array }
  | { readonly ended: true }
  | {
      readonly failed: { readonly code: TransportErrorCode; readonly message: string; readonly sent: boolean }
    }
)

/** Chunks of an answer that may be on their way. */
export const chunksInFlight = 32
/** Chunks that are told of together. */
export const chunksTold = 8

/** Sends messages of one turn of the event loop together, in their order: each crossing of threads costs more than most messages. */
export function createBatch<M>(port: MessagePort): (message: M) => void {
  let batch: M[] = []
  const flush = () => {
    const messages = batch
    batch = []
    port.postMessage(messages)
  }
  return message => {
    if (batch.push(message) === 1) setImmediate(flush)
  }
}
