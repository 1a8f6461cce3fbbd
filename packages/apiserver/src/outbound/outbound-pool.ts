import { isObject, readJson } from '@coxswain/apimachinery/json'
import { newGenericServerResponse, type Status, StatusError } from '@coxswain/apimachinery/status'
import { decodeText, type Env, untilAborted } from '@coxswain/kit'
import { discardBody, readBody, type Transport, type WireHeaders, type WireResponse } from '@coxswain/wire'
import { describeFailure } from './go-errors.ts'
import type { Outbound, Target } from './outbound.ts'
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

/** The maximum number of open connections. */
const poolSize = 64
/** How long an idle connection is kept, in milliseconds. */
const idleTime = 5 * 60_000
/** The longest response that is read. */
const answerLimit = 16 * 1024 * 1024

interface Entry {
  readonly transport: Transport
  /** Calls in flight. */
  calls: number
  lastUsed: number
  /** To be disposed of after its last call. */
  dropped: boolean
}

/**
 * POSTs JSON to other servers over a bounded number of connections. A target whose certificate or credentials change
 * is a new target: its old connection is closed when it has been idle or when the pool is full. Redirects are not
 * followed: a user who may set a URL could make the server reach places that only it can reach.
 */
export class OutboundPool implements AsyncDisposable {
  readonly #env: Env
  readonly #outbound: Outbound
  readonly #headers: WireHeaders
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #closing = new Set<Promise<void>>()

  constructor({ env, outbound, userAgent = 'kube-apiserver-admission' }: OutboundPoolOptions) {
    this.#env = env
    this.#outbound = outbound
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
    const entry = this.#take(target)
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
        entry.transport.send(this.#message({ ...request, path }, controller.signal)),
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
      this.#release(entry)
    }
  }

  /** Aborts the calls in flight. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key)
      this.#close(entry)
    }
    await Promise.all(this.#closing)
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

  #take(target: Target): Entry {
    const { origin, ca, serverName, cert, key, insecure } = target
    const name = JSON.stringify([origin, serverName, ca, cert, key, insecure])
    let entry = this.#entries.get(name)
    if (entry) this.#entries.delete(name)
    else {
      this.#evictIdle()
      entry = { transport: this.#outbound.connect(target), calls: 0, lastUsed: 0, dropped: false }
    }
    this.#entries.set(name, entry)
    entry.calls++
    return entry
  }

  #release(entry: Entry): void {
    entry.calls--
    entry.lastUsed = this.#env.clock.monotonic()
    if (entry.dropped && entry.calls === 0) this.#close(entry)
  }

  #evictIdle(): void {
    const oldest = this.#env.clock.monotonic() - idleTime
    for (const [name, entry] of this.#entries) {
      const isIdle = entry.calls === 0 && entry.lastUsed < oldest
      if (!isIdle && this.#entries.size < poolSize) continue
      this.#entries.delete(name)
      entry.dropped = true
      if (entry.calls === 0) this.#close(entry)
    }
  }

  #close({ transport }: Entry): void {
    const closing = dispose(transport).then(() => void this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}

async function dispose(transport: Transport): Promise<void> {
  try {
    await transport[Symbol.asyncDispose]()
  } catch {
    // It is closed either way.
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
