import { isObject, type JsonObject, readJson } from '@coxswain/apimachinery/json'
import type { Env } from '@coxswain/kit'
import { encodeText } from '@coxswain/kit'
import type { Outbound, Target } from '../outbound/outbound.ts'
import { OutboundPool } from '../outbound/outbound-pool.ts'
import type { UserInfo } from '../request/context.ts'
import { intersect, type TokenAnswer, type TokenAuthenticator } from './authenticator.ts'
import { cacheTokens } from './token-cache.ts'

/** The token webhook and its caching. */
export interface WebhookTokenOptions {
  readonly env: Env
  readonly outbound: Outbound
  readonly target: Target
  /** Where reviews are sent. */
  readonly path: string
  /** Sent with every review: the API server's own credentials. */
  readonly headers?: Readonly<Record<string, string>>
  readonly version: 'v1' | 'v1beta1'
  /** Milliseconds for which answers are cached. */
  readonly cacheTtl: number
}

const timeout = 30_000
/** Back-off between attempts, as upstream: half a second, then one and a half times as long each time. */
const attempts = 5
const firstPause = 500
const growth = 1.5

/** Authenticates tokens with a TokenReview webhook. */
export function createWebhookTokenAuthenticator(options: WebhookTokenOptions): TokenAuthenticator {
  const { env, outbound, cacheTtl } = options
  const pool = new OutboundPool({ env, outbound, userAgent: 'kube-apiserver' })
  return cacheTokens(
    async (token, { audiences, server }) => {
      const status = await review(options, pool, { token, audiences })
      if (typeof status === 'string') return { error: status }
      const named = Array.isArray(status.audiences) && status.audiences.length > 0
      const known = named ? (status.audiences as string[]) : server.audiences
      const meant = intersect(audiences, known)
      if (audiences.length > 0 && meant.length === 0) return undefined
      return readAnswer(status, meant)
    },
    { clock: env.clock, ttl: cacheTtl },
  )
}

/** The status of the response, or the error. */
async function review(
  { env, target, path, headers, version }: WebhookTokenOptions,
  pool: OutboundPool,
  { token, audiences }: { readonly token: string; readonly audiences: readonly string[] },
): Promise<JsonObject | string> {
  const question = {
    kind: 'TokenReview',
    apiVersion: `authentication.k8s.io/${version}`,
    metadata: {},
    spec: { token, ...(audiences.length > 0 && { audiences }) },
    status: { user: {} },
  }
  const body = encodeText(JSON.stringify(question))
  for (let attempt = 1, pause = firstPause; ; attempt++, pause *= growth) {
    const result = await pool.post({ target, path, body, timeout, ...(headers && { headers }) })
    if (result.ok) return readStatus(result.body)
    const { code } = result.error?.status ?? {}
    const isPassing = code === undefined || code === 429 || code >= 500
    if (!isPassing || attempt === attempts) {
      env.log.error('Failed to make webhook authenticator request', { reason: result.reason })
      return result.reason
    }
    await env.clock.sleep(pause)
  }
}

function readStatus(body: Uint8Array): JsonObject | string {
  try {
    const { value } = readJson(body)
    if (isObject(value) && isObject(value.status)) return value.status
  } catch {
    // Reported below without the response, which may contain the token.
  }
  return 'the webhook did not answer with a TokenReview'
}

function readAnswer(status: JsonObject, audiences: readonly string[]): TokenAnswer {
  if (status.authenticated !== true) {
    return typeof status.error === 'string' && status.error !== '' ? { error: status.error } : undefined
  }
  return { user: readUser(isObject(status.user) ? status.user : {}), audiences }
}

function readUser({ username, uid, groups, extra }: JsonObject): UserInfo {
  const texts = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
  return {
    name: typeof username === 'string' ? username : '',
    groups: texts(groups),
    ...(typeof uid === 'string' && uid !== '' && { uid }),
    ...(isObject(extra) && {
      extra: Object.fromEntries(Object.entries(extra).map(([key, value]) => [key, texts(value)])),
    }),
  }
}
