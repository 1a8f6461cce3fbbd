import { isStatusError } from '@coxswain/apimachinery/status'
import { createAbortError, type Env } from '@coxswain/kit'
import {
  discardBody,
  getHeader,
  isStream,
  type QueryParameters,
  readBody,
  type WireHeaders,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import { forwardUpgrade } from '../nodes/proxy/forward-upgrade.ts'
import {
  forwardedHeaders,
  forwardedUpgradeHeaders,
  isUpgrade,
  returnedHeaders,
} from '../nodes/proxy/proxy-headers.ts'
import { encodePath } from '../outbound/url-path.ts'
import { auditIdOf } from '../request/audit-id.ts'
import type { RequestContext } from '../request/context.ts'
import { isLongRunning } from '../request/long-running.ts'
import { notFoundPage, textResponse, whenOver } from '../request/response.ts'
import type { RemoteApiService } from './api-services.ts'
import type { ExtensionServers, Sent } from './extension-servers.ts'
import { setIdentity } from './identity-headers.ts'

export interface ProxyPorts {
  readonly env: Env
  readonly servers: ExtensionServers
}

/** Discovery has to be fast: clients wait for it. */
const discoveryTimeout = 5_000
/** The server itself answers with a 504 after a minute; this only ends what is left of such a request. */
const longest = 61_000
/** Bodies of this length are collected: most are, and a stream costs more than they do. */
const collected = 64 * 1024

const unavailable = textResponse(503, 'service unavailable\n')
const redirected = textResponse(502, 'the backend attempted to redirect this request, which is not permitted')

/**
 * Passes a request on to the server of an APIService and streams its response, in upstream's words where there is none. The client's
 * credentials stay here: headers say who the client is.
 */
export async function proxyRequest(
  { env, servers }: ProxyPorts,
  service: RemoteApiService,
  context: RequestContext,
): Promise<WireResponse> {
  const { path, request, user } = context
  if (!service.isAvailable) return unavailable
  // The other server must not read a path differently than the authorizers did.
  if (!path.segments.every(isPlainSegment)) return notFoundPage
  const address = servers.resolve(service.server)
  if (!address.found) {
    env.log.warn('cannot resolve the service of an APIService', {
      name: service.name,
      reason: address.reason,
    })
    return unavailable
  }
  // The other server has limits of its own; waiting for it must not keep others from theirs.
  context.seat?.leave()
  const target = encodePath(`/${path.segments.join('/')}${path.trailingSlash ? '/' : ''}`)
  const headers = isUpgrade(request) ? forwardedUpgradeHeaders(request) : forwardedHeaders(request)
  headers['x-forwarded-uri'] = target
  headers['x-forwarded-host'] = address.address
  headers['x-forwarded-proto'] = 'https'
  context.auditId ??= auditIdOf(context)
  headers['audit-id'] = context.auditId
  setIdentity(headers, user)
  if (isUpgrade(request)) {
    headers.host = address.address
    const query = encodeQuery(context.query)
    const backend = servers.backend(service.server, address.address)
    return await forwardUpgrade(request, backend, {
      target: query === '' ? target : `${target}?${query}`,
      headers,
    }).catch(explainUpgrade)
  }
  delete headers.host
  delete headers.expect
  if (!request.bodyStream) delete headers['content-length']
  return await exchange({ env, servers }, { service, context, address: address.address, target, headers })
}

/** Errors are texts here, as all errors of upstream's aggregator. */
function explainUpgrade(error: unknown): WireResponse {
  if (!isStatusError(error)) throw error
  return textResponse(503, `${error.message}\n`)
}

function isPlainSegment(segment: string): boolean {
  return segment !== '.' && segment !== '..' && !segment.includes('/')
}

/** As the filters read it: the other server must not read it differently. Sorted, as Go's `url.Values` encodes it. */
function encodeQuery(query: QueryParameters): string {
  const encode = (text: string) =>
    encodeURIComponent(text)
      .replace(/[!'()*]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%20', '+')
  return [...query.names()]
    .sort()
    .flatMap(name => query.getAll(name).map(value => `${encode(name)}=${encode(value)}`))
    .join('&')
}

interface Exchange {
  readonly service: RemoteApiService
  readonly context: RequestContext
  readonly address: string
  readonly target: string
  readonly headers: WireHeaders
}

async function exchange(
  { env, servers }: ProxyPorts,
  { service, context, address, target, headers }: Exchange,
): Promise<WireResponse> {
  const { request, info, path } = context
  const { method, body, bodyStream, signal } = request
  const isDiscovery = !info.isResource && path.segments.length === 3
  const abort = new AbortController()
  let isExpired = false
  const onAbort = () => abort.abort(signal.reason)
  const timer = isLongRunning(info)
    ? undefined
    : env.clock.after(isDiscovery ? discoveryTimeout : longest, () => {
        isExpired = true
        abort.abort(createAbortError('deadline exceeded'))
      })
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  const message: WireRequest = {
    method,
    path: target,
    query: encodeQuery(context.query),
    headers,
    signal: abort.signal,
    ...(body && { body }),
    ...(bodyStream && { bodyStream }),
  }
  let sent: Sent | undefined
  const finish = () => {
    timer?.cancel()
    signal.removeEventListener('abort', onAbort)
    sent?.release()
  }
  try {
    sent = await servers.send(service.server, address, message)
    const answer = await returnAnswer(sent.response, abort.signal)
    const lasting = whenOver(answer, () => signal, finish)
    if (!lasting) finish()
    return lasting ?? answer
  } catch (error) {
    finish()
    if (signal.aborted) throw signal.reason
    const reason = isExpired ? 'context deadline exceeded' : servers.explain(service.server, address, error)
    return textResponse(503, `error trying to reach service: ${reason}\n`)
  }
}

async function returnAnswer(answer: WireResponse, signal: AbortSignal): Promise<WireResponse> {
  const { status, body } = answer
  if (status >= 300 && status < 400 && getHeader(answer.headers, 'location')) {
    await discardBody(body)
    return redirected
  }
  const headers = returnedHeaders(answer.headers)
  delete headers['audit-id'] // the same one, of this server
  for (const name in headers) if (name.startsWith(':')) delete headers[name]
  if (!isStream(body)) return body ? { status, headers, body } : { status, headers }
  const length = Number(getHeader(headers, 'content-length') ?? Number.POSITIVE_INFINITY)
  if (!(length <= collected)) return { status, headers, body, unhurried: true }
  try {
    return { status, headers, body: await readBody(body, length) }
  } catch (error) {
    signal.throwIfAborted()
    return { status, headers, body: failing(error), unhurried: true }
  }
}

/** The head of a response arrived, its body did not: the client sees the same. */
async function* failing(error: unknown): AsyncGenerator<Uint8Array, void, undefined> {
  yield* []
  throw error
}
