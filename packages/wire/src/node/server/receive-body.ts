import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { BodyRefusal } from '../../message.ts'
import { BodyBuffer } from './body-buffer.ts'
import { clientGone } from './received-request.ts'
import type { ServerCore } from './server-core.ts'

/** The source of a request body. */
export interface BodySource {
  readonly stream: IncomingMessage | ServerHttp2Stream
  /** The Content-Length; undefined without one. */
  readonly declared: number | undefined
  /** Whether the body was complete, once the stream has ended: half a body is rejected. */
  readonly isComplete: () => boolean
  /** Aborts the exchange: the client was too slow. */
  readonly cutOff: () => void
}

/** A body, or why there is none. Its memory is released when the request is answered. */
export interface IncomingBody {
  readonly result: Uint8Array | BodyRefusal
  readonly release: () => void
}

const nothing = (): void => {}

/** Receives a body within the limits. Rejects when the client aborts, or is cut off. */
export function receiveBody(core: ServerCore, source: BodySource, owner: string): Promise<IncomingBody> {
  const { stream, declared } = source
  const { bodyBytes: limit, bodyTimeout } = core.limits
  if (declared !== undefined && declared > limit)
    return Promise.resolve({ result: 'too large', release: nothing })
  return new Promise((resolve, reject) => {
    const buffer = new BodyBuffer({ budget: core.budget, owner, limit, declared })
    const deadline = { expire: source.cutOff }
    core.deadlines.set(deadline, bodyTimeout)
    const stop = () => {
      core.deadlines.forget(deadline)
      stream.off('data', onData).off('end', onEnd).off('close', onClose)
    }
    const onData = (chunk: Buffer) => {
      const result = buffer.add(chunk)
      if (result === undefined) return
      stop()
      stream.pause()
      buffer.release()
      resolve({ result, release: nothing })
    }
    const onEnd = () => {
      if (!source.isComplete()) return onClose()
      stop()
      resolve({ result: buffer.bytes, release: () => buffer.release() })
    }
    const onClose = () => {
      stop()
      buffer.release()
      reject(clientGone())
    }
    stream.on('data', onData).on('end', onEnd).on('close', onClose)
    stream.on('error', nothing) // the connection failed; 'close' follows
    if (stream.destroyed) onClose()
  })
}
