import type { Env } from '@coxswain/kit'
import type { Transport } from '@coxswain/wire'
import type { Client } from './client.ts'
import type { Warning } from './options.ts'
import { createRateLimiter, type RateLimitOptions } from './rate-limit.ts'
import { type CallRecord, createRestClient } from './rest-client.ts'
import type { RestRequest } from './rest-request.ts'
import { createTypedClient } from './typed-client.ts'

/** The user that requests are made as. */
export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Options of {@link createClient}. */
export interface ClientOptions {
  readonly transport: Transport
  readonly env: Env
  /** The part before the `/` is the default field manager of writes. @default 'coxswain/0.1' */
  readonly userAgent?: string
  /** The field manager of writes and applies that have none. */
  readonly fieldManager?: string
  readonly impersonate?: Impersonation
  /** Milliseconds for a call that is not a stream, retries included; 0 for no limit. @default 90000 */
  readonly timeout?: number
  /** How often a call is repeated after 429 or 5xx with Retry-After, and a read after a lost connection. @default 10 */
  readonly maxRetries?: number
  /** @default no limit */
  readonly rateLimit?: RateLimitOptions
  /** The longest answer, and the longest line of a watch, in bytes. */
  readonly limits?: {
    /** @default 1 GiB */
    readonly answerBytes?: number
    /** @default 16 MiB */
    readonly eventBytes?: number
  }
  /** @default logged as a warning */
  readonly onWarning?: (warning: Warning, request: RestRequest) => void
  /** Called for every call when the head of its answer has arrived, or when it failed. */
  readonly onCall?: (record: CallRecord) => void
}

/** Creates a client over a transport. */
export function createClient(options: ClientOptions): Client {
  const { env, transport, limits = {}, rateLimit } = options
  const rest = createRestClient({
    transport,
    env,
    headers: {
      'user-agent': options.userAgent ?? 'coxswain/0.1',
      ...(options.impersonate && impersonationHeaders(options.impersonate)),
    },
    timeout: options.timeout ?? 90_000,
    maxRetries: options.maxRetries ?? 10,
    maxAnswerBytes: limits.answerBytes ?? 1024 ** 3,
    onWarning:
      options.onWarning ??
      ((warning, request) => env.log.warn('server warning', { text: warning.text, path: request.path })),
    ...(rateLimit && { rateLimiter: createRateLimiter(rateLimit, env.clock) }),
    ...(options.onCall && { onCall: options.onCall }),
  })
  return createTypedClient(rest, {
    fieldManager: options.fieldManager,
    maxEventBytes: limits.eventBytes ?? 16 * 1024 ** 2,
  })
}

function impersonationHeaders({
  user,
  uid,
  groups,
  extra = {},
}: Impersonation): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'impersonate-user': user }
  if (uid !== undefined) headers['impersonate-uid'] = uid
  if (groups?.length) headers['impersonate-group'] = [...groups]
  for (const [key, values] of Object.entries(extra)) {
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = [...values]
  }
  return headers
}
