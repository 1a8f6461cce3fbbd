import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { BodyRefusal } from '../../message.ts'
import { BodyBuffer } from './body-buffer.ts'
import { clientGone } from './received-request.ts'
import type { ServerCore } from './server-core.ts'

/** Where the body of a request comes from. */
export interface BodySource {
  readonly stream: IncomingMessage | ServerHttp2Stream
  /** What the client says its length is; undefined when it does not. */
  readonly declared: number | undefined
  /** Whether all of it came, once the stream has ended: half a body is no body. */
  readonly isComplete: () => boolean
  /** Breaks the exchange off: the client was too slow. */
  readonly cutOff: () => void
}

/** A body, or why there is none. What it holds is released when its request is answered. */
export interface IncomingBody {
  readonly result: Uint8Array | BodyRefusal
  readonly release: () => void
}

const nothing = (): void => {}

/** Reads a body within the limits. Rejects when the client breaks off, or is cut off. */
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
    stream.on('error', nothing) // the connection broke; 'close' follows
    if (stream.destroyed) onClose()
  })
}
