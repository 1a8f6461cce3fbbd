import type { Env, Lane } from '@coxswain/kit'
import { isStream, joinChunks } from './body.ts'
import { ChunkStream } from './chunk-stream.ts'
import { TransportError } from './errors.ts'
import { type InProcessChannel, openInProcessChannel } from './in-process-channel.ts'
import type { Handler, PeerCertificate, Transport, WireBody, WireRequest, WireResponse } from './message.ts'

/** The client's identity on an in-process connection. */
export interface InProcessTransportOptions {
  /** The client's identity, as if its certificate had been verified. @default no certificate */
  readonly peer?: PeerCertificate
  /** @default '127.0.0.1' */
  readonly remoteAddress?: string
  /** The receiver of responses only reads their bytes: they need no copy. @default false */
  readonly lendsAnswers?: boolean
}

/** A transport without sockets, over which connections can be upgraded all the same. */
export interface InProcessTransport extends Transport {
  /** The channel, or the answer of a server that refuses it: exec, attach and port-forward. */
  upgrade(request: WireRequest, protocols: readonly string[]): Promise<InProcessChannel | WireResponse>
}

/**
 * A connection without sockets: requests go to `handler`, and every request, response and chunk is a hand-off of
 * `env.scheduler`. As over a socket, bytes are never shared, an abort reaches the other side in its turn, an aborted
 * request may still arrive, and a handler or stream that fails is a lost connection to the client.
 *
 *   client --up lane----> handler          (the request, then possibly its abort)
 *   client <--down lane-- handler          (the head, then chunk after chunk, then the end)
 *
 * Disposing it fails requests in flight and resolves when the server's side has stopped.
 */
export function createInProcessTransport(
  handler: Handler,
  env: Pick<Env, 'scheduler'>,
  options: InProcessTransportOptions = {},
): InProcessTransport {
  const { peer, remoteAddress = '127.0.0.1', lendsAnswers = false } = options
  const { scheduler } = env
  const calls = new Set<Call>()
  const channels = new Set<AbortController>()
  const running = new Set<Promise<void>>()
  let closed: TransportError | undefined

  return {
    async upgrade(request, protocols) {
      if (closed) throw closed
      request.signal.throwIfAborted()
      const label = `${request.method} ${request.path}`
      const lost = new AbortController()
      const signal = AbortSignal.any([request.signal, lost.signal])
      await scheduler.step(`request ${label}`)
      const { conversation, ...answer } = await handler({
        ...request,
        headers: {
          ...request.headers,
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-protocol': protocols.join(', '),
        },
        ...(peer && { peer }),
        remoteAddress,
        signal,
      })
      await scheduler.step(`answer ${label}`)
      const protocol = protocols.find(name => conversation?.protocols.includes(name))
      if (!conversation || protocol === undefined) return answer
      const ended = Promise.withResolvers<void>()
      channels.add(lost)
      running.add(ended.promise)
      return openInProcessChannel(conversation, { env, label, protocol, signal }, () => {
        channels.delete(lost)
        running.delete(ended.promise)
        ended.resolve()
      })
    },
    async send(request) {
      if (closed) throw closed
      request.signal.throwIfAborted()
      const label = `${request.method} ${request.path}`
      const call = new Call(
        scheduler.lane(`request ${label}`),
        scheduler.lane(`answer ${label}`),
        lendsAnswers,
      )
      const received: WireRequest = {
        method: request.method,
        path: request.path,
        query: request.query,
        headers: { ...request.headers },
        ...(request.body && { body: request.body.slice() }),
        ...(peer && { peer }),
        remoteAddress,
        signal: call.serverSignal,
      }
      const onAbort = () => call.stop(request.signal.reason)
      request.signal.addEventListener('abort', onAbort, { once: true })
      calls.add(call)
      const run = call.run(handler, received).finally(() => {
        request.signal.removeEventListener('abort', onAbort)
        calls.delete(call)
        running.delete(run)
      })
      running.add(run)
      return call.answer
    },
    async [Symbol.asyncDispose]() {
      closed ??= new TransportError('Closed', 'the transport is closed', { sent: false })
      for (const call of calls) call.stop(closed)
      for (const channel of channels) channel.abort(closed)
      await Promise.all(running)
    },
  }
}

/** One request on its way through the handler. */
class Call {
  readonly #up: Lane
  readonly #down: Lane
  readonly #lends: boolean
  readonly #server = new AbortController()
  readonly #answer = Promise.withResolvers<WireResponse>()
  #stream: ChunkStream | undefined
  #stopped = false

  constructor(up: Lane, down: Lane, lends: boolean) {
    this.#up = up
    this.#down = down
    this.#lends = lends
  }

  get serverSignal(): AbortSignal {
    return this.#server.signal
  }

  get answer(): Promise<WireResponse> {
    return this.#answer.promise
  }

  /** The client aborts: it sees `reason` at once, the server in its turn. */
  stop(reason: unknown): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#answer.reject(reason)
    this.#stream?.fail(reason)
    this.#up.post(() => {
      this.#server.abort(reason)
      this.#stream?.release()
    })
  }

  /** Resolves when the server's part is over; never rejects. */
  async run(handler: Handler, request: WireRequest): Promise<void> {
    await this.#up.step()
    try {
      const response = await handler(request)
      if (isStream(response.body)) await this.#answerStream(response, response.body)
      else await this.#answerWhole(response, response.body)
    } catch (cause) {
      await this.#down.step()
      this.#answer.reject(lostConnection(cause))
    }
  }

  async #answerWhole(
    response: WireResponse,
    body: Uint8Array | readonly Uint8Array[] | undefined,
  ): Promise<void> {
    const { status, headers } = response
    const own = this.#lends ? body : body && copyBody(body)
    await this.#down.step()
    this.#answer.resolve({ status, headers: { ...headers }, ...(own && { body: own }) })
  }

  async #answerStream(response: WireResponse, body: AsyncIterable<Uint8Array>): Promise<void> {
    const { status, headers } = response
    const source = body[Symbol.asyncIterator]()
    const stream = new ChunkStream(() =>
      this.stop(new TransportError('ConnectionLost', 'the client has disconnected')),
    )
    this.#stream = stream
    this.#down.post(() => this.#answer.resolve({ status, headers: { ...headers }, body: stream }))
    try {
      while (!this.#server.signal.aborted) {
        await stream.room()
        if (this.#server.signal.aborted) break
        const next = await source.next()
        if (next.done) {
          this.#down.post(() => stream.end())
          return
        }
        const chunk = this.#lends ? next.value : next.value.slice()
        stream.sent()
        this.#down.post(() => stream.deliver(chunk))
      }
      await source.return?.()
    } catch (cause) {
      this.#down.post(() => stream.fail(lostConnection(cause)))
    }
  }
}

function lostConnection(cause: unknown): TransportError {
  return new TransportError('ConnectionLost', 'the server closed the connection', { cause })
}

function copyBody(body: Uint8Array | readonly Uint8Array[]): WireBody {
  return body instanceof Uint8Array ? body.slice() : body.length === 1 ? body[0]!.slice() : joinChunks(body)
}
