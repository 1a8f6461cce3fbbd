import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { isTransportError, TransportError } from '../../errors.ts'
import type { WireRequest, WireResponse } from '../../message.ts'
import { builtin } from '../builtin-modules.ts'
import { collectHeaders } from '../server/received-request.ts'
import { sendStream } from './send-stream.ts'
import { StreamBody } from './stream-body.ts'

export interface Http1Options {
  readonly server: URL
  /** Opens a connection, TLS included. */
  readonly open: () => Promise<Socket>
  /** The maximum number of connections; further requests wait. */
  readonly maxConnections: number
  readonly idle: number
}

/** HTTP/1.1 with keep-alive connections, each opened by `open`. */
export class Http1Exchange {
  readonly #server: URL
  readonly #agent: Agent

  constructor(options: Http1Options) {
    this.#server = options.server
    const agent = new builtin.http.Agent({
      keepAlive: true,
      maxSockets: options.maxConnections,
      maxFreeSockets: 16,
      timeout: options.idle / 2, // sooner than the server, so that a request does not race with its close
      scheduling: 'lifo',
    })
    agent.createConnection = (_options, callback) => {
      options.open().then(
        socket => callback?.(null, socket),
        error => callback?.(error, undefined as unknown as Socket),
      )
      return undefined
    }
    this.#agent = agent
  }

  send(request: WireRequest): Promise<WireResponse> {
    return new Promise((resolve, reject) => {
      const { signal, path, query, method, body, bodyStream } = request
      const { hostname, port } = this.#server
      let failure: Error | undefined
      let answer: IncomingMessage | undefined
      const reason = () => reasonOf(call, request, failure)
      const call = builtin.http.request({
        agent: this.#agent,
        host: hostname,
        ...(port && { port }),
        setHost: false,
        method,
        path: query === '' ? path : `${path}?${query}`,
        headers: {
          host: this.#server.host,
          ...(request.headers as Record<string, string | string[]>),
          ...(body !== undefined && { 'content-length': String(body.length) }),
        },
      })
      const onAbort = () => call.destroy()
      signal.addEventListener('abort', onAbort, { once: true })
      call.on('response', message => {
        answer = message
        const headers = collectHeaders(message.rawHeaders) ?? {}
        const truncated = () => (message.complete ? undefined : reason())
        const source = { stream: message, cancel: onAbort, truncated, reason }
        resolve({ status: message.statusCode ?? 0, headers, body: new StreamBody(source) })
      })
      call.on('error', error => {
        failure = error
        if (!answer) reject(reason())
      })
      call.on('close', () => {
        signal.removeEventListener('abort', onAbort)
        if (!answer) reject(reason())
      })
      if (bodyStream) sendStream(bodyStream, call)
      else call.end(body)
    })
  }

  /** Closes idle connections, with `force` all of them. */
  close(force: boolean): void {
    if (force) this.#agent.destroy()
    for (const sockets of Object.values(this.#agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy()
    }
  }
}

function reasonOf(call: ClientRequest, { signal, method }: WireRequest, cause: Error | undefined): unknown {
  if (signal.aborted) return signal.reason
  if (isTransportError(cause)) return cause
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  if (code?.startsWith('HPE_')) {
    return new TransportError('BadMessage', `the response is not HTTP: ${cause?.message}`, { cause })
  }
  // Most likely a keep-alive connection that the server just closed. Only reads may rely on that.
  const sent = !(call.reusedSocket && code === 'ECONNRESET' && (method === 'GET' || method === 'HEAD'))
  const message = `the connection was lost${cause ? `: ${cause.message}` : ''}`
  return new TransportError('ConnectionLost', message, { ...(cause && { cause }), sent })
}
