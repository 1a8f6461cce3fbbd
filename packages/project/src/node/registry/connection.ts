import { isObject } from '@coxswain/apimachinery/json'
import { decodeText } from '@coxswain/kit'
import { ProjectError } from '../../errors.ts'
import { type Challenge, parseChallenge } from './challenge.ts'
import type { RegistryCredentials } from './docker-credentials.ts'
import {
  createHttpClient,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
  readBody,
  TransientFailure,
} from './http.ts'

/** How a registry is reached. */
export interface ConnectionOptions {
  /** As in the names of images: `docker.io`, `127.0.0.1:5000`. */
  readonly registry: string
  /** Accept certificates that are not trusted, and plain HTTP where there is no TLS. Registries on loopback addresses are accepted anyway. */
  readonly insecure: boolean
  /** Called at the first 401. */
  readonly credentials: () => Promise<RegistryCredentials | undefined>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly sleep: (milliseconds: number) => Promise<void>
  /** @default 60_000 */
  readonly idleTimeout?: number
}

export interface RegistryRequest extends Omit<HttpRequest, 'url'> {
  /** A path of the registry, or where it sent us. */
  readonly url: string | URL
  /** What a token is asked for, such as `repository:team/greeter:pull,push`. */
  readonly scopes: readonly string[]
}

const limits = { redirects: 5, token: 1024 * 1024, error: 64 * 1024, attempts: 4, retryAfter: 30_000 }

/** Speaks to one registry: scheme, authorization, redirects and retries. Credentials are sent to it and to its authorization service only. */
export class RegistryConnection implements Disposable {
  readonly registry: string
  readonly #options: ConnectionOptions
  readonly #http: HttpClient
  readonly #tokens = new Map<string, string>()
  readonly #acceptsPlain: boolean
  #origin: Promise<string> | undefined
  #challenge: Challenge | undefined
  #credentials: Promise<RegistryCredentials | undefined> | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.registry = options.registry
    this.#acceptsPlain = options.insecure || isLoopback(options.registry)
    this.#http = createHttpClient({
      idleTimeout: options.idleTimeout ?? 60_000,
      verify: !this.#acceptsPlain,
      environment: options.environment,
    })
  }

  [Symbol.dispose](): void {
    this.#http[Symbol.dispose]()
  }

  /** Tries again what failed for a reason that may pass. The request has to be idempotent. */
  async retry<T>(action: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await action()
      } catch (error) {
        if (!(error instanceof TransientFailure)) throw error
        if (attempt === limits.attempts)
          throw new ProjectError('RegistryFailed', `${error.message} (tried ${attempt} times)`, {
            cause: error,
          })
        await this.#options.sleep(Math.min(error.retryAfter ?? 500 * 2 ** (attempt - 1), limits.retryAfter))
      }
    }
  }

  /** Sends a request once, and again with a token when the registry asks for one. Statuses of 400 and more are thrown, except those of `allowed`. */
  async send(request: RegistryRequest, allowed: readonly number[] = []): Promise<HttpResponse> {
    let response = await this.#follow(request)
    if (response.status === 401) {
      const challenge = parseChallenge(response.header('www-authenticate'))
      response.discard()
      this.#challenge = challenge
      this.#tokens.delete(request.scopes.join(' '))
      response = await this.#follow(request)
    }
    if (response.status < 400 || allowed.includes(response.status)) return response
    throw await this.#refusal(request, response)
  }

  /** The URL of a path, or of a `Location`; throws when it would leave TLS. */
  async resolve(url: string | URL): Promise<URL> {
    this.#origin ??= this.#findOrigin()
    const origin = await this.#origin
    let resolved: URL
    try {
      resolved = new URL(url, origin)
    } catch {
      throw new ProjectError('RegistryFailed', `${this.registry}: sent a Location that is not a URL`)
    }
    this.#checkScheme(resolved)
    return resolved
  }

  #checkScheme(url: URL): void {
    if (url.protocol === 'https:' || (url.protocol === 'http:' && this.#acceptsPlain)) return
    throw new ProjectError(
      'RegistryFailed',
      `${this.registry}: refers to ${url.protocol}//${url.host}, which is not HTTPS`,
    )
  }

  async #follow(request: RegistryRequest): Promise<HttpResponse> {
    let url = await this.resolve(request.url)
    for (let hop = 0; ; hop++) {
      const response = await this.#http.send({ ...request, url, headers: await this.#headers(request, url) })
      const location = response.header('location')
      const isRedirect = [301, 302, 303, 307, 308].includes(response.status) && location !== undefined
      if (!isRedirect || request.body !== undefined) return response
      response.discard()
      if (hop === limits.redirects)
        throw new ProjectError('RegistryFailed', `${this.registry}: more than ${limits.redirects} redirects`)
      url = await this.resolve(new URL(location, url))
    }
  }

  /** Authorization is for the registry's own origin: wherever it refers to gets none. */
  async #headers(request: RegistryRequest, url: URL): Promise<Record<string, string>> {
    const headers = { ...request.headers }
    if (url.origin !== new URL(await this.#origin!).origin || this.#challenge === undefined) return headers
    const authorization = await this.#authorization(this.#challenge, request.scopes)
    return authorization === undefined ? headers : { ...headers, authorization }
  }

  async #authorization(challenge: Challenge, scopes: readonly string[]): Promise<string | undefined> {
    this.#credentials ??= this.#options.credentials()
    const credentials = await this.#credentials
    if (challenge.scheme === 'basic') return credentials?.type === 'password' ? basic(credentials) : undefined
    const key = scopes.join(' ')
    const token = this.#tokens.get(key) ?? (await this.#fetchToken(challenge, scopes, credentials))
    this.#tokens.set(key, token)
    return `Bearer ${token}`
  }

  async #fetchToken(
    { realm, service, scope }: Challenge,
    scopes: readonly string[],
    credentials: RegistryCredentials | undefined,
  ): Promise<string> {
    if (realm === undefined || !URL.canParse(realm))
      throw new ProjectError('RegistryFailed', `${this.registry}: asks for a token without saying where`)
    const url = new URL(realm)
    this.#checkScheme(url)
    const all = [...new Set([...scopes, ...(scope === undefined ? [] : [scope])])]
    const form = new URLSearchParams(service === undefined ? [] : [['service', service]])
    const isExchange = credentials?.type === 'identityToken'
    if (isExchange) {
      for (const [name, value] of [
        ['grant_type', 'refresh_token'],
        ['refresh_token', credentials.token],
        ['client_id', 'coxswain'],
        ['scope', all.join(' ')],
      ] as const)
        form.set(name, value)
    } else for (const each of all) form.append('scope', each)
    const body = Buffer.from(form.toString())
    if (!isExchange) for (const [name, value] of form) url.searchParams.append(name, value)
    const response = await this.#http.send({
      method: isExchange ? 'POST' : 'GET',
      url,
      headers: {
        accept: 'application/json',
        ...(isExchange && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(credentials?.type === 'password' && { authorization: basic(credentials) }),
      },
      ...(isExchange && { body: { length: body.length, open: () => once(body) } }),
    })
    if (response.status >= 400) throw await this.#refusal({ method: 'GET', url, scopes: all }, response)
    const read = parseJson(await readBody(response, limits.token, `${url.host}: the token`))
    const token = isObject(read) ? (read.token ?? read.access_token) : undefined
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
      throw new ProjectError('RegistryFailed', `${url.host}: the answer has no token`)
    return token
  }

  /** With the registry's own words, which name what is wrong. */
  async #refusal({ method, url }: RegistryRequest, response: HttpResponse): Promise<Error> {
    const { status } = response
    const text =
      method === 'HEAD'
        ? ''
        : explainErrors(await readBody(response, limits.error, 'the error').catch(() => new Uint8Array()))
    const path = url instanceof URL ? `${url.host}${url.pathname}` : `${this.registry}${url.split('?', 1)[0]}`
    const message = `${method} ${path}: ${status}${text === '' ? '' : `: ${text}`}`
    if (status === 429 || status >= 500) {
      const seconds = Number(response.header('retry-after') ?? Number.NaN)
      return new TransientFailure(
        message,
        Number.isFinite(seconds) ? { retryAfter: Math.max(0, seconds) * 1000 } : {},
      )
    }
    if (status !== 401 && status !== 403) return new ProjectError('RegistryFailed', message)
    const has = (await this.#credentials?.catch(() => undefined)) !== undefined
    const remedy = has
      ? `the credentials for ${this.registry} are not accepted, or do not allow it`
      : `there are no credentials for ${this.registry}: run docker login ${this.registry}, or set DOCKER_CONFIG`
    return new ProjectError('RegistryDenied', `${message}; ${remedy}`)
  }

  /** HTTPS; where plain HTTP is acceptable, whichever is spoken there. */
  async #findOrigin(): Promise<string> {
    const host = this.registry === 'docker.io' ? 'registry-1.docker.io' : this.registry
    if (!this.#acceptsPlain) return `https://${host}`
    return await this.retry(async () => {
      for (const scheme of ['https', 'http']) {
        try {
          ;(await this.#http.send({ method: 'GET', url: new URL(`${scheme}://${host}/v2/`) })).discard()
          return `${scheme}://${host}`
        } catch (error) {
          const isRefused = error instanceof TransientFailure && /connection refused/.test(error.message)
          if (scheme === 'http' || isRefused) throw error
        }
      }
      return `http://${host}`
    })
  }
}

const basic = ({ username, password }: { readonly username: string; readonly password: string }) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

async function* once(bytes: Uint8Array) {
  yield bytes
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decodeText(bytes))
  } catch {
    return undefined // what is not JSON says nothing to us
  }
}

/** The codes and messages of an error of the distribution specification, on one line. */
function explainErrors(bytes: Uint8Array): string {
  const read = parseJson(bytes)
  const errors = isObject(read) && Array.isArray(read.errors) ? read.errors.filter(isObject) : []
  return errors
    .map(({ code, message }) =>
      [code, message].filter(part => typeof part === 'string' && part !== '').join(' '),
    )
    .join('; ')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, 500)
}

export function isLoopback(registry: string): boolean {
  const host = registry.replace(/:\d+$/, '')
  return host === 'localhost' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}
