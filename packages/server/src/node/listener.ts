import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ApiServer } from '@coxswain/apiserver'
import { type FetchHandlerOptions, toFetchHandler } from '../fetch-handler.ts'

/** A server as a listener of node:http: for Express (`app.use`), Fastify (`instance.all`), or `http.createServer`. */
export function toNodeListener(
  server: Pick<ApiServer, 'handler'>,
  options: FetchHandlerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const answer = toFetchHandler(server, options)
  return async (message, response) => {
    const stop = new AbortController()
    response.once('close', () => stop.abort())
    // A framework that mounts a listener below a path removes it from `url`.
    const target = (message as { originalUrl?: string }).originalUrl ?? message.url ?? '/'
    const hasBody = message.method !== 'GET' && message.method !== 'HEAD'
    const given = await answer(
      new Request(`http://localhost${target}`, {
        method: message.method ?? 'GET',
        headers: headersOf(message),
        signal: stop.signal,
        ...(hasBody && { body: Readable.toWeb(message) as ReadableStream, duplex: 'half' as const }),
      }),
    )
    response.writeHead(given.status, Object.fromEntries(given.headers))
    if (!given.body) {
      response.end()
      return
    }
    // A client that leaves a watch is no failure.
    await pipeline(Readable.fromWeb(given.body as never), response).catch(() => {})
  }
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(headersDistinct))
    if (!name.startsWith(':')) for (const value of values ?? []) headers.append(name, value)
  return headers
}
