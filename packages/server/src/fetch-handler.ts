import { encodeText } from '@coxswain/kit'
import {
  type Handler,
  isStream,
  type PeerCertificate,
  type WireHeaders,
  type WireResponse,
} from '@coxswain/wire'

/** Options of {@link toFetchHandler}. */
export interface FetchHandlerOptions {
  /** What precedes the paths of the API where it is mounted, such as `/k8s`. @default nothing */
  readonly basePath?: string
  /** The largest body of a request, in bytes. @default 3 MiB, as kube-apiserver */
  readonly maxBody?: number
  /**
   * Who the request is from, when the application has authenticated it: the server takes it as a client certificate of
   * that user. @default the server authenticates by itself: bearer tokens
   */
  readonly userOf?: (
    request: Request,
  ) => { readonly name: string; readonly groups?: readonly string[] } | undefined
}

const defaultMaxBody = 3 * 1024 * 1024

/** A server as a function of the web's `Request` and `Response`: for Hono, Bun, Deno, edge runtimes, or any framework that has them. */
export function toFetchHandler(
  { handler }: { readonly handler: Handler },
  options: FetchHandlerOptions = {},
): (request: Request) => Promise<Response> {
  const { basePath = '', maxBody = defaultMaxBody, userOf } = options
  return async request => {
    const { path, query } = splitUrl(request.url, basePath)
    const peer = peerOf(userOf?.(request))
    const body = await receive(request, maxBody)
    const response = await handler({
      method: request.method,
      path,
      query,
      headers: Object.fromEntries(request.headers),
      signal: request.signal,
      ...(body === 'too large' ? { bodyTooLarge: true } : body && { body }),
      ...(peer && { peer }),
    })
    return toResponse(response)
  }
}

/** The path as it was sent: a URL object would normalise it. */
function splitUrl(url: string, basePath: string): { readonly path: string; readonly query: string } {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const target = (start < 0 ? '/' : url.slice(start)).split('#')[0]!
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const isBelow = path === basePath || path.startsWith(`${basePath}/`)
  return {
    path: basePath !== '' && isBelow ? path.slice(basePath.length) || '/' : path,
    query: mark < 0 ? '' : target.slice(mark + 1),
  }
}

function peerOf(user: { readonly name: string; readonly groups?: readonly string[] } | undefined) {
  const peer: PeerCertificate | undefined = user && {
    commonName: user.name,
    organizations: user.groups ?? [],
    notAfter: Number.MAX_SAFE_INTEGER,
  }
  return peer
}

/** Stops to read at the limit. */
async function receive(request: Request, limit: number): Promise<Uint8Array | 'too large' | undefined> {
  if (!request.body) return undefined
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body) {
    length += chunk.length
    if (length > limit) return 'too large'
    chunks.push(chunk)
  }
  const body = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}

function toResponse({ status, headers, body, conversation }: WireResponse): Response {
  if (conversation) return new Response(encodeText('upgrades are not supported here'), { status: 501 })
  const init = { status, headers: toHeaders(headers) }
  if (body === undefined || status === 204 || status === 304) return new Response(null, init)
  if (body instanceof Uint8Array) return new Response(body as Uint8Array<ArrayBuffer>, init)
  if (!isStream(body)) return new Response(new Blob(body as Uint8Array<ArrayBuffer>[]), init)
  return new Response(toReadable(body), init)
}

function toHeaders(headers: WireHeaders): Headers {
  const made = new Headers()
  for (const [name, value] of Object.entries(headers))
    for (const each of typeof value === 'string' ? [value] : value) made.append(name, each)
  return made
}

/** Reads on when the client does, and stops when it leaves. */
function toReadable(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
