import { newServiceUnavailable } from '@coxswain/apimachinery/status'
import {
  discardBody,
  getHeader,
  type Http1Response,
  sendHttp1,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import { cleanPath, encodePath } from '../../outbound/url-path.ts'
import type { Compression } from '../../request/compression.ts'
import type { Backend } from './backend.ts'
import { explain } from './explain.ts'
import { forwardUpgrade } from './forward-upgrade.ts'
import { rewriteLinks } from './html-links.ts'
import {
  forwardedHeaders,
  forwardedUpgradeHeaders,
  hostOf,
  isUpgrade,
  returnedHeaders,
} from './proxy-headers.ts'
import type { ProxyPath } from './proxy-path.ts'
import { type RewriteRule, rewriteUrl } from './rewrite-url.ts'

/** A request to forward to a backend. */
export interface Forwarding {
  /** Without credentials. */
  readonly request: WireRequest
  readonly path: ProxyPath
  readonly backend: Backend
  /** For compressed pages; without it they are passed on unchanged. */
  readonly compression?: Pick<Compression, 'gzip' | 'gunzip'>
}

/**
 * Answers a proxy request: the response is streamed, its links and redirects are rewritten to lead through the proxy. Errors are
 * Statuses in upstream's words: 503 when the backend does not respond.
 */
export async function forward(forwarding: Forwarding): Promise<WireResponse> {
  const { request, path, backend } = forwarding
  if (isUpgrade(request)) {
    const headers = forwardedUpgradeHeaders(request)
    // Upstream drops the query here; the backend may need it.
    return await forwardUpgrade(request, backend, { target: targetOf(path.path, request.query), headers })
  }
  const redirect = redirectToRoot(request, path)
  if (redirect) return redirect
  const headers = forwardedHeaders(request)
  headers['x-forwarded-uri'] = encodePath(cleanPath(`${path.prefix}${path.path || '/'}`))
  let answer: Http1Response
  try {
    const declared = getHeader(request.headers, 'content-length')
    const body = request.bodyStream ?? request.body
    answer = await sendHttp1(await backend.dial(), {
      method: request.method,
      target: targetOf(path.path, request.query),
      headers,
      signal: request.signal,
      ...(body && { body }),
      ...(declared !== undefined && { bodyLength: Number(declared) }),
    })
  } catch (error) {
    throw newServiceUnavailable(`error trying to reach service: ${explain(error, backend)}`)
  }
  return returnAnswer(forwarding, answer)
}

const noCache = 'no-cache, private'

/** Relative links of a page need the trailing slash: a read of `.../proxy` is redirected to `.../proxy/`. */
export function redirectToRoot(
  { method, path, query }: WireRequest,
  asked: ProxyPath,
): WireResponse | undefined {
  if (asked.path !== '' || (method !== 'GET' && method !== 'HEAD')) return undefined
  const location = `${path}/${query === '' ? '' : `?${query}`}`
  return { status: 301, headers: { location, 'cache-control': noCache } }
}

function targetOf(path: string, query: string): string {
  const encoded = path === '' ? '/' : encodePath(path)
  return query === '' ? encoded : `${encoded}?${query.replace(/[^!-~]/g, percentEncode)}`
}

/** Escapes bytes that are not allowed in a request line; clients send them anyway. */
function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

function returnAnswer(
  { request, path, backend, compression }: Forwarding,
  answer: Http1Response,
): WireResponse {
  const headers = returnedHeaders(answer.headers)
  const rule: RewriteRule = {
    prefix: path.prefix,
    backendHost: backend.host,
    requestHost: hostOf(request),
  }
  const rewrite = (url: string) => rewriteUrl(url, rule)
  const { status, body } = answer
  const location = getHeader(answer.headers, 'location') ?? ''
  if (location !== '') headers.location = rewrite(location)
  const type = (getHeader(answer.headers, 'content-type') ?? '').split(';')[0]!.trim()
  const encoding = getHeader(answer.headers, 'content-encoding') ?? ''
  const isReadable = encoding === '' || (encoding === 'gzip' && compression !== undefined)
  if (location !== '' || type !== 'text/html' || !isReadable || !body)
    return { status, headers, ...(body && { body, unhurried: true }) }
  delete headers['content-length']
  const isPacked = encoding === 'gzip' && compression !== undefined
  const page = rewriteLinks(isPacked ? compression.gunzip(body) : body, rewrite)
  const rewritten = closingWith(isPacked ? compression.gzip(page) : page, body)
  return { status, headers, body: rewritten, unhurried: true }
}

/** A stream derived from another one, which it releases even when it was never read. */
function closingWith(
  stream: AsyncIterable<Uint8Array>,
  source: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]()
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => iterator.next(),
      async return() {
        await discardBody(source)
        return { value: undefined, done: true }
      },
    }),
  }
}
