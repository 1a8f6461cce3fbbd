import { isObject, readJson } from '@coxswain/apimachinery/json'
import { newGenericServerResponse, type Status, StatusError } from '@coxswain/apimachinery/status'
import { decodeText, type Env, untilAborted } from '@coxswain/kit'
import { discardBody, readBody, type WireHeaders, type WireResponse } from '@coxswain/wire'
import { describeFailure } from './go-errors.ts'
import type { Outbound, Target } from './outbound.ts'
import { TransportPool } from './transport-pool.ts'
import { cleanUrlPath } from './url-path.ts'

/** One POST to another server. */
export interface OutboundRequest {
  readonly target: Target
  /** With its query, if any: `/mutate?timeout=10s`. It is cleaned as Go's REST client does. */
  readonly path: string
  /** JSON. */
  readonly body: Uint8Array
  /** In addition to the default headers; never headers of the request that the API server is serving. */
  readonly headers?: WireHeaders
  /** The URL in error messages, without the path. @default the target's origin */
  readonly shownAs?: string
  /** Milliseconds until the response must be complete. */
  readonly timeout: number
  /** Ends the call early; it then fails with `context canceled`. */
  readonly signal?: AbortSignal
}

/** The outcome of a call. Failures have the words of Go's client (`Post "https://...": ...`). */
export type OutboundResult =
  | { readonly ok: true; readonly status: number; readonly body: Uint8Array }
  | { readonly ok: false; readonly reason: string; readonly error?: StatusError }

export interface OutboundPoolOptions {
  readonly env: Env
  readonly outbound: Outbound
  /** The User-Agent. @default kube-apiserver-admission */
  readonly userAgent?: string
}

/** The longest response that is read. */
const answerLimit = 16 * 1024 * 1024

/**
 * POSTs JSON to other servers over a bounded number of connections. Redirects are not followed: a user who may set a URL
 * could make the server reach places that only it can reach.
 */
export class OutboundPool implements AsyncDisposable {
  readonly #env: Env
  readonly #headers: WireHeaders
  readonly #transports: TransportPool

  constructor({ env, outbound, userAgent = 'kube-apiserver-admission' }: OutboundPoolOptions) {
    this.#env = env
    this.#transports = new TransportPool(env, outbound)
    this.#headers = {
      accept: 'application/json, */*',
      'content-type': 'application/json',
      'user-agent': userAgent,
    }
  }

  /** Never rejects. `ok` means a 2xx response. */
  async post(request: OutboundRequest): Promise<OutboundResult> {
    const { target, timeout, signal } = request
    const path = cleanUrlPath(request.path)
    const url = `${request.shownAs ?? target.origin}${path}`
    const fail = (reason: string): OutboundResult => ({ ok: false, reason: `Post "${url}": ${reason}` })
    if (signal?.aborted) return fail('context canceled')
    const lease = this.#transports.take(target)
    const controller = new AbortController()
    const onAbort = () => controller.abort()
    signal?.addEventListener('abort', onAbort, { once: true })
    let expired = false
    const timer = this.#env.clock.after(timeout, () => {
      expired = true
      controller.abort()
    })
    let answer: WireResponse | undefined
    try {
      answer = await untilAborted(
        lease.transport.send(this.#message({ ...request, path }, controller.signal)),
        controller.signal,
      )
      if (answer.status >= 300 && answer.status < 400) {
        await discardBody(answer.body)
        return fail(`the server answered with a redirect (${answer.status}), which is not followed`)
      }
      const body = await untilAborted(readBody(answer.body, answerLimit), controller.signal)
      if (answer.status >= 200 && answer.status < 300) return { ok: true, status: answer.status, body }
      const error = readError(answer.status, body)
      return { ok: false, reason: error.message, error }
    } catch (error) {
      if (answer) discardBody(answer.body).catch(() => {}) // it may have been aborted before
      if (expired) return fail('context deadline exceeded')
      if (signal?.aborted) return fail('context canceled')
      const address = addressOf(target.origin)
      return fail(describeFailure(error, address, target.serverName ?? address.replace(/:\d+$/, '')))
    } finally {
      timer.cancel()
      signal?.removeEventListener('abort', onAbort)
      lease.release()
    }
  }

  /** Aborts the calls in flight. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transports[Symbol.asyncDispose]()
  }

  #message({ path, body, headers }: OutboundRequest, signal: AbortSignal) {
    const at = path.indexOf('?')
    return {
      method: 'POST',
      path: at < 0 ? path : path.slice(0, at),
      query: at < 0 ? '' : path.slice(at + 1),
      headers: headers ? { ...this.#headers, ...headers } : this.#headers,
      body,
      signal,
    }
  }
}

function addressOf(origin: string): string {
  const { hostname, port, protocol } = new URL(origin)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/** The error of a response that is not a success: its Status, else a text about its code. */
function readError(status: number, body: Uint8Array): StatusError {
  try {
    const { value } = readJson(body)
    if (isObject(value) && value.kind === 'Status' && value.status !== 'Success')
      return new StatusError(value as unknown as Status)
  } catch {
    // Not every server answers errors in JSON.
  }
  return newGenericServerResponse({
    code: status,
    verb: 'POST',
    serverMessage: decodeText(body).slice(0, 2048),
    unexpected: true,
  })
}
