import { createRealEnv, decodeText, type Env, encodeText } from '@coxswain/kit'
import { createInProcessTransport, type Handler, type WireRequest, type WireResponse } from '@coxswain/wire'
import type { Client } from '../client.ts'
import { type ClientOptions, createClient } from '../create-client.ts'

/** A request as a test looks at it. */
export interface Seen {
  readonly method: string
  /** With the query, decoded. */
  readonly target: string
  readonly headers: WireRequest['headers']
  readonly body: unknown
}

export interface ScriptedServer extends AsyncDisposable {
  readonly client: Client
  readonly seen: readonly Seen[]
  /** `METHOD target` of every request so far. */
  readonly calls: () => string[]
}

export type Answer = WireResponse | ((request: WireRequest) => WireResponse | Promise<WireResponse>)

/** A client whose requests are answered one after the other by `answers`; the last one answers all that follow. */
export function startScripted(
  answers: readonly Answer[],
  options: Partial<ClientOptions> = {},
  env: Env = createRealEnv(),
): ScriptedServer {
  const seen: Seen[] = []
  const handler: Handler = async request => {
    const { method, path, query, headers, body } = request
    seen.push({
      method,
      target: query === '' ? path : `${path}?${decodeURIComponent(query)}`,
      headers,
      body: body && JSON.parse(decodeText(body)),
    })
    const answer = answers[Math.min(seen.length, answers.length) - 1]!
    return typeof answer === 'function' ? answer(request) : answer
  }
  const transport = createInProcessTransport(handler, env)
  return {
    client: createClient({ transport, env, ...options }),
    seen,
    calls: () => seen.map(({ method, target }) => `${method} ${target}`),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

export function json(value: unknown, status = 200, headers: WireResponse['headers'] = {}): WireResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: encodeText(JSON.stringify(value)),
  }
}

export function text(value: string, status = 200, headers: WireResponse['headers'] = {}): WireResponse {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, body: encodeText(value) }
}

export function failure(code: number, reason: string, message = reason): WireResponse {
  return json(
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
    code,
  )
}

/** A stream of these texts. */
export function stream(...chunks: readonly string[]): WireResponse {
  async function* body() {
    for (const chunk of chunks) yield encodeText(chunk)
  }
  return { status: 200, headers: { 'content-type': 'application/json' }, body: body() }
}
