import { type Env, encodeText, type Span } from '@coxswain/kit'
import {
  discardBody,
  formatQuery,
  getHeader,
  isTransportError,
  readBody,
  type Transport,
  type WireHeaders,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import { traceCall } from './call-span.ts'
import { ClientError } from './errors.ts'
import { readFailure } from './failure.ts'
import { decodeJson, encodeJson } from './json.ts'
import type { Warning } from './options.ts'
import type { RateLimiter } from './rate-limit.ts'
import { Reachability } from './reachability.ts'
import type { RestRequest } from './rest-request.ts'
import { canUpgrade, isMessageChannel, type MessageChannel } from './streams/message-channel.ts'
import { parseWarnings } from './warnings.ts'

/** A finished call, for metrics and traces. */
export interface CallRecord {
  readonly method: string
  readonly path: string
  /** Undefined when there was no answer. */
  readonly status?: number
  /** Milliseconds until the head of the answer, waiting for the rate limit included. */
  readonly duration: number
  readonly retries: number
  readonly error?: unknown
}

export interface RestClientOptions {
  readonly transport: Transport
  readonly env: Env
  readonly headers: WireHeaders
  readonly timeout: number
  readonly maxRetries: number
  readonly maxAnswerBytes: number
  readonly rateLimiter?: RateLimiter
  readonly onWarning: (warning: Warning, request: RestRequest) => void
  readonly onCall?: (record: CallRecord) => void
}

/** Requests to any path of the server. Answers other than 2xx are thrown as `StatusError`. */
export interface RestClient {
  /** The answer decoded from JSON; undefined when its body is empty. */
  request(request: RestRequest): Promise<unknown>
  /** The answer's bytes. */
  bytes(request: RestRequest): Promise<Uint8Array>
  /** The head of a successful answer, its body unread. */
  stream(request: RestRequest): Promise<WireResponse>
  /** The answer whatever its status is, its body unread. Retries as the others do. */
  send(request: RestRequest): Promise<WireResponse>
  /**
   * Turns the connection of a GET into a WebSocket that speaks one of `protocols`. It lasts until one side closes it or
   * `signal` aborts; `timeout` is for the handshake only.
   * @throws ClientError `NoUpgrade` when the transport cannot do it
   */
  upgrade(request: RestRequest, protocols: readonly string[]): Promise<MessageChannel>
}

export function createRestClient(options: RestClientOptions): RestClient {
  const { transport, env, timeout: defaultTimeout, maxRetries, maxAnswerBytes, rateLimiter } = options
  const { clock, tracer } = env
  const reachability = new Reachability(env.log)

  const exchange = async (request: RestRequest, signal: AbortSignal, span?: Span): Promise<WireResponse> => {
    const message = encodeRequest(request, options.headers, signal)
    const start = options.onCall ? clock.monotonic() : 0
    const record = (retries: number, end: { status?: number; error?: unknown }) =>
      options.onCall?.({
        method: message.method,
        path: message.path,
        duration: clock.monotonic() - start,
        retries,
        ...end,
      })
    for (let retries = 0; ; retries++) {
      if (rateLimiter) await rateLimiter.wait(signal)
      let response: WireResponse
      let delay: number | undefined
      try {
        response = await transport.send(message)
      } catch (error) {
        if (!signal.aborted) reachability.failed(error)
        if (retries >= maxRetries || signal.aborted || !isSafeToRepeat(error, message.method)) {
          record(retries, { error })
          throw error
        }
        span?.addEvent('retry', { 'http.request.resend_count': retries + 1 })
        await clock.sleep(1000, { signal })
        continue
      }
      reachability.answered()
      for (const warning of parseWarnings(response.headers)) options.onWarning(warning, request)
      if (retries < maxRetries) delay = retryDelay(response)
      if (delay === undefined) {
        record(retries, { status: response.status })
        return response
      }
      span?.addEvent('retry', {
        'http.request.resend_count': retries + 1,
        'http.response.status_code': response.status,
      })
      await discardBody(response.body)
      await clock.sleep(delay, { signal })
    }
  }

  const send = (request: RestRequest, signal: AbortSignal): Promise<WireResponse> =>
    tracer
      ? traceCall(tracer, request, (traced, span) => exchange(traced, signal, span))
      : exchange(request, signal)

  const succeed = async (request: RestRequest, signal: AbortSignal): Promise<WireResponse> => {
    const response = await send(request, signal)
    if (response.status >= 200 && response.status < 300) return response
    throw await readFailure(response, request)
  }

  const whole = <T>(request: RestRequest, use: (bytes: Uint8Array) => T): Promise<T> =>
    withDeadline(request, request.timeout ?? defaultTimeout, async signal => {
      const response = await succeed(request, signal)
      return use(await readBody(response.body, maxAnswerBytes))
    })

  const withDeadline = async <T>(
    request: RestRequest,
    timeout: number,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    request.signal?.throwIfAborted()
    const controller = new AbortController()
    const onAbort = () => controller.abort(request.signal?.reason)
    request.signal?.addEventListener('abort', onAbort, { once: true })
    const timer =
      timeout > 0 && timeout !== Number.POSITIVE_INFINITY
        ? clock.after(timeout, () => controller.abort(timedOut(request, timeout)))
        : undefined
    try {
      return await call(controller.signal)
    } finally {
      timer?.cancel()
      request.signal?.removeEventListener('abort', onAbort)
    }
  }

  /** A body outlives the call: only the head has a deadline, and the caller's signal stays linked. */
  const unread = <T>(
    request: RestRequest,
    call: (request: RestRequest, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const { signal = neverAborted, timeout = 0 } = request
    if (timeout === 0) return call(request, signal)
    const deadline = new AbortController()
    const timer = clock.after(timeout, () => deadline.abort(timedOut(request, timeout)))
    return call(request, AbortSignal.any([signal, deadline.signal])).finally(() => timer.cancel())
  }

  const upgrade = async (request: RestRequest, protocols: readonly string[], signal: AbortSignal) => {
    if (!canUpgrade(transport))
      throw new ClientError('NoUpgrade', 'this transport cannot upgrade connections')
    if (rateLimiter) await rateLimiter.wait(signal)
    const answer = await transport.upgrade(encodeRequest(request, options.headers, signal), protocols)
    if (!isMessageChannel(answer)) throw await readFailure(answer, request)
    return answer
  }

  return {
    upgrade: (request, protocols) =>
      unread(request, (same, signal) =>
        tracer
          ? traceCall(tracer, same, traced => upgrade(traced, protocols, signal))
          : upgrade(same, protocols, signal),
      ),
    request: request => whole(request, bytes => (bytes.length === 0 ? undefined : decodeJson(bytes))),
    bytes: request => whole(request, bytes => bytes),
    stream: request => unread(request, succeed),
    send: request => unread(request, send),
  }
}

const neverAborted = new AbortController().signal

function encodeRequest(request: RestRequest, common: WireHeaders, signal: AbortSignal): WireRequest {
  const { method = 'GET', path, query, body, contentType, accept = 'application/json' } = request
  const bytes = body === undefined ? undefined : encodeBody(body)
  return {
    method,
    path,
    query: query ? formatQuery(query) : '',
    headers: {
      ...common,
      accept,
      ...(bytes && { 'content-type': contentType ?? 'application/json' }),
      ...request.headers,
    },
    ...(bytes && { body: bytes }),
    signal,
  }
}

function encodeBody(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  return typeof body === 'string' ? encodeText(body) : encodeJson(body)
}

/**
 * client-go's rule: an answer of 429 or 5xx with Retry-After is retried, whatever the method, since the
 * server has rejected it before doing anything.
 */
function retryDelay(response: WireResponse): number | undefined {
  if (response.status !== 429 && response.status < 500) return undefined
  const seconds = getHeader(response.headers, 'retry-after')
  return seconds !== undefined && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined
}

/** A connection that broke may have carried the request: only reads are sent again then. */
function isSafeToRepeat(error: unknown, method: string): boolean {
  return method === 'GET' && isTransportError(error, 'ConnectionLost')
}

function timedOut(request: RestRequest, timeout: number): ClientError {
  return new ClientError(
    'CallTimeout',
    `${request.method ?? 'GET'} ${request.path} took longer than ${timeout} ms`,
  )
}
