import { isObject, type JsonObject, readJson, writeJsonBytes } from '@coxswain/apimachinery/json'
import type { Clock } from '@coxswain/kit'
import type { WireHeaders } from '@coxswain/wire'
import type { Target } from '../../outbound/outbound.ts'
import { OutboundPool, type OutboundResult } from '../../outbound/outbound-pool.ts'
import { type Access, type AccessRules, type Decision, noOpinion } from '../authorizer.ts'
import type { AuthorizerFactory } from '../authorizer-factory.ts'
import type { MatchConditions } from './match-conditions.ts'
import { ResponseCache } from './response-cache.ts'
import { reviewSpecOf } from './review.ts'

/** The authorization webhook, its caching and its failure policy. */
export interface WebhookAuthorizerOptions {
  readonly target: Target
  /** The path on the target; reviews are sent to exactly this path. */
  readonly path: string
  /** The server's credentials, besides a client certificate. */
  readonly headers?: WireHeaders
  readonly version: 'v1' | 'v1beta1'
  /** Milliseconds. */
  readonly timeout: number
  /** How long responses are cached, in milliseconds; 0 disables the cache. */
  readonly authorizedTtl: number
  readonly unauthorizedTtl: number
  /** The decision when the webhook fails. */
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  /** @default it is called for every request */
  readonly matchConditions?: MatchConditions
}

/** Number of attempts, and the delay before the second one; each delay is one and a half times the last. */
const attempts = 5
const firstPause = 500
/** Larger requests are not cached. */
const longestRemembered = 10_000
const longestKey = 32_768

interface ReviewStatus {
  readonly allowed?: boolean
  readonly denied?: boolean
  readonly reason?: string
  readonly evaluationError?: string
}

/** Authorizes with SubjectAccessReviews of another server. */
export const createWebhookAuthorizer =
  (options: WebhookAuthorizerOptions): AuthorizerFactory =>
  ({ env, outbound }) => {
    const pool = new OutboundPool({ env, outbound, userAgent: 'kube-apiserver' })
    const cache = new ResponseCache<ReviewStatus>(env.clock)
    const failed = (error: string): Decision => ({
      verdict: options.failurePolicy === 'Deny' ? 'deny' : 'no opinion',
      error,
    })
    const authorize = (access: Access): Decision | Promise<Decision> => {
      const spec = reviewSpecOf(access)
      const matches = options.matchConditions?.(spec) ?? true
      if (typeof matches === 'string') return failed(matches)
      if (!matches) return noOpinion
      const key = JSON.stringify(spec)
      const known = cache.get(key)
      if (known) return decisionOf(known)
      return ask(options, pool, env.clock, spec).then(answer => {
        if (!answer.ok) {
          env.log.error('the authorization webhook failed', { reason: answer.reason })
          return failed(answer.reason)
        }
        const { status } = answer
        if (isWorthRemembering(access) && key.length < longestKey)
          cache.set(key, status, status.allowed ? options.authorizedTtl : options.unauthorizedTtl)
        return decisionOf(status)
      })
    }
    return Object.assign(authorize, {
      rulesFor: () => unknownRules,
      dispose: async () => pool[Symbol.asyncDispose](),
    })
  }

const unknownRules: AccessRules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
}

function decisionOf({ allowed = false, denied = false, reason }: ReviewStatus): Decision {
  const why = reason ? { reason } : {}
  if (denied && allowed)
    return {
      verdict: 'deny',
      ...why,
      error: 'webhook subject access review returned both allow and deny response',
    }
  return { verdict: denied ? 'deny' : allowed ? 'allow' : 'no opinion', ...why }
}

function isWorthRemembering({ info }: Access): boolean {
  const texts = info.isResource
    ? [info.namespace, info.verb, info.group, info.version, info.resource, info.subresource, info.name]
    : [info.path, info.verb]
  return texts.reduce((sum, text) => sum + text.length, 0) < longestRemembered
}

type Answer =
  | { readonly ok: true; readonly status: ReviewStatus }
  | { readonly ok: false; readonly reason: string }

async function ask(
  { target, path, headers, version, timeout }: WebhookAuthorizerOptions,
  pool: OutboundPool,
  clock: Clock,
  spec: JsonObject,
): Promise<Answer> {
  const body = writeJsonBytes({
    kind: 'SubjectAccessReview',
    apiVersion: `authorization.k8s.io/${version}`,
    metadata: {},
    spec: version === 'v1' ? spec : withOldNames(spec),
    status: { allowed: false },
  })
  const request = { target, path, body, timeout, ...(headers && { headers }) }
  let pause = firstPause
  for (let attempt = 1; ; attempt++) {
    const result = await pool.post(request)
    if (result.ok) return readAnswer(result.body)
    if (attempt === attempts || !isWorthRepeating(result)) return { ok: false, reason: result.reason }
    await clock.sleep(pause)
    pause *= 1.5
  }
}

/** v1beta1 calls groups `group`. */
function withOldNames({ groups, ...spec }: JsonObject): JsonObject {
  return groups === undefined ? spec : { ...spec, group: groups }
}

function isWorthRepeating({ error, reason }: OutboundResult & { readonly ok: false }): boolean {
  if (!error) return reason.includes('connection reset')
  const { code = 0, details } = error.status
  return [429, 500, 504].includes(code) || (details?.retryAfterSeconds ?? 0) > 0
}

function readAnswer(body: Uint8Array): Answer {
  try {
    const { value } = readJson(body)
    const status = isObject(value) && isObject(value.status) ? value.status : undefined
    if (status) return { ok: true, status: status as ReviewStatus }
  } catch {
    // Reported below.
  }
  return { ok: false, reason: 'the answer of the webhook is no SubjectAccessReview' }
}
