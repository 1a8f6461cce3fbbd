import { readFile } from 'node:fs/promises'
import type { Clock } from '@coxswain/kit'
import { formatQuery, readBody } from '@coxswain/wire'
import { createHttpTransport } from '@coxswain/wire/node/client'
import { ClientError } from '../errors.ts'
import { decodeJson } from '../json.ts'
import type { Credentials } from './credentials.ts'

export interface OidcOptions {
  /** The `auth-provider` entry's `config`. */
  readonly config: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Called with the members that have changed, so that they can be saved. */
  readonly onRefresh: (changed: Readonly<Record<string, string>>) => Promise<void>
}

/** A token that expires within this time is not used any more. */
const leeway = 10_000
const answerLimit = 1024 * 1024

/** An OpenID Connect id token that is renewed with its refresh token when it expires (auth-provider `oidc`). */
export function oidcCredentials({ config, clock, onRefresh }: OidcOptions): Credentials {
  let idToken = config['id-token']
  let refreshToken = config['refresh-token']
  let running: Promise<string> | undefined

  const renew = (): Promise<string> => {
    running ??= requestToken(config, refreshToken)
      .then(async answer => {
        idToken = answer.idToken
        refreshToken = answer.refreshToken ?? refreshToken
        await onRefresh({
          'id-token': answer.idToken,
          ...(answer.refreshToken !== undefined && { 'refresh-token': answer.refreshToken }),
        })
        return answer.idToken
      })
      .finally(() => {
        running = undefined
      })
    return running
  }
  return {
    async authorization() {
      const valid = idToken !== undefined && expiryOf(idToken) - leeway > clock.now()
      return `Bearer ${valid ? idToken : await renew()}`
    },
    async refresh() {
      if (!refreshToken) return false
      await renew()
      return true
    },
  }
}

/** When a JWT expires, in milliseconds since the epoch; 0 when it has no expiry. */
function expiryOf(token: string): number {
  try {
    const claims = decodeJson(Buffer.from(token.split('.')[1] ?? '', 'base64url')) as { exp?: unknown }
    return typeof claims.exp === 'number' ? claims.exp * 1000 : 0
  } catch {
    return 0
  }
}

async function requestToken(
  config: Readonly<Record<string, string>>,
  refreshToken: string | undefined,
): Promise<{ idToken: string; refreshToken?: string }> {
  const issuer = config['idp-issuer-url']
  const clientId = config['client-id']
  if (!issuer || !clientId) throw noToken('idp-issuer-url and client-id are required')
  if (!refreshToken) throw noToken('the id token has expired and there is no refresh token')
  const caData = config['idp-certificate-authority-data']
  const caPath = config['idp-certificate-authority']
  const ca = caData
    ? Buffer.from(caData, 'base64').toString('utf8')
    : caPath && (await readFile(caPath, 'utf8'))
  const discovery = await call(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, ca)
  const endpoint = discovery.token_endpoint
  if (typeof endpoint !== 'string') throw noToken('the issuer names no token_endpoint')
  const secret = config['client-secret'] ?? ''
  const answer = await call(endpoint, ca, {
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`,
    form: formatQuery({ grant_type: 'refresh_token', refresh_token: refreshToken }),
  })
  const { id_token: idToken, refresh_token: nextRefreshToken } = answer
  if (typeof idToken !== 'string') throw noToken('the answer has no id_token')
  return { idToken, ...(typeof nextRefreshToken === 'string' && { refreshToken: nextRefreshToken }) }
}

async function call(
  url: string,
  ca: string | undefined,
  post?: { readonly authorization: string; readonly form: string },
): Promise<Record<string, unknown>> {
  const target = new URL(url)
  await using transport = createHttpTransport({
    server: target.origin,
    ...(ca && { tls: { ca } }),
  })
  const response = await transport.send({
    method: post ? 'POST' : 'GET',
    path: target.pathname,
    query: target.search.slice(1),
    headers: {
      accept: 'application/json',
      ...(post && { authorization: post.authorization, 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(post && { body: Buffer.from(post.form) }),
    signal: AbortSignal.timeout(30_000),
  })
  const body = await readBody(response.body, answerLimit)
  if (response.status !== 200) throw noToken(`${target.host} answered ${response.status}`)
  return decodeJson(body) as Record<string, unknown>
}

function noToken(message: string): ClientError {
  return new ClientError('NoCredentials', `oidc: ${message}`)
}
