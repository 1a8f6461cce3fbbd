import { decodeBase64Text, type Env, encodeBase64Text, type Span, type TraceContext } from '@coxswain/kit'
import type { WireHeaders } from '@coxswain/wire'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Outbound, Target } from './outbound.ts'
import { OutboundPool, type OutboundResult } from './outbound-pool.ts'
import { findServiceAddress } from './service-address.ts'
import { cleanUrlPath, encodePath } from './url-path.ts'

/** `clientConfig` of webhook configurations and of conversions. */
export interface WebhookClientConfig {
  readonly url?: string
  readonly service?: {
    readonly namespace: string
    readonly name: string
    readonly path?: string
    /** @default 443 */
    readonly port?: number
  }
  /** PEM in base64. @default the CAs that the platform trusts */
  readonly caBundle?: string
}

/** The API server's credentials for a webhook. */
export interface WebhookCredentials {
  readonly token?: string
  readonly username?: string
  readonly password?: string
  /** PEM. */
  readonly cert?: string
  readonly key?: string
}

/**
 * The credentials for `host:port` (`name.namespace.svc:443` for services) when a plug-in calls it; undefined when none are
 * configured.
 */
export type WebhookAuthentication = (hostPort: string, plugin: string) => WebhookCredentials | undefined

export interface WebhookClientOptions {
  readonly env: Env
  readonly cache: WatchCache
  readonly outbound: Outbound
  /** @default no credentials */
  readonly authentication?: WebhookAuthentication
}

/** One call of a webhook. */
export interface WebhookCall {
  readonly config: WebhookClientConfig
  /** JSON. */
  readonly body: Uint8Array
  /** Without the `?`. */
  readonly query?: string
  /** Milliseconds. */
  readonly timeout: number
  readonly signal?: AbortSignal
  /** The calling admission plug-in, which selects the credentials. @default no credentials */
  readonly plugin?: string
  /** The trace that the call belongs to. */
  readonly trace?: TraceContext | undefined
}

/** Calls webhooks: by URL, or as a Service that is resolved for each call. */
export class WebhookClient implements AsyncDisposable {
  readonly #options: WebhookClientOptions
  readonly #pool: OutboundPool

  constructor(options: WebhookClientOptions) {
    this.#options = options
    this.#pool = new OutboundPool({ env: options.env, outbound: options.outbound })
  }

  /** Never rejects. */
  async post(call: WebhookCall): Promise<OutboundResult> {
    const { config, body, query = '', timeout, signal, plugin, trace } = call
    const { service } = config
    if (!service && !config.url)
      return { ok: false, reason: 'webhook configuration must have either service or URL' }
    const place = service ? placeOfService(service) : placeOfUrl(config.url!)

    const path = query === '' ? place.path : `${place.path}?${query}`
    let { origin } = place
    if (service) {
      const { cache, env } = this.#options
      const where = { namespace: service.namespace, name: service.name, port: service.port ?? 443 }
      const address = findServiceAddress(cache, env.random, where)
      if (!address.found)
        return { ok: false, reason: `Post "${origin}${cleanUrlPath(path)}": ${address.reason}` }
      origin = `https://${address.address}`
    }
    const { authentication } = this.#options
    const credentials = (plugin !== undefined && authentication?.(place.hostPort, plugin)) || {}
    const ca = decodeBundle(config.caBundle)
    const { cert, key } = credentials
    const target: Target = {
      origin,
      ...(ca !== undefined && { ca }),
      ...(place.serverName !== undefined && { serverName: place.serverName }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
    }
    const headers = headersOf(credentials)
    return await this.#pool.post({
      target,
      path,
      body,
      timeout,
      shownAs: place.origin,
      ...((headers || trace) && { headers: { ...headers, ...trace } }),
      ...(signal && { signal }),
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]()
  }
}

interface Place {
  /** The URL in error messages. */
  readonly origin: string
  readonly path: string
  readonly hostPort: string
  readonly serverName?: string
}

function placeOfService({
  namespace,
  name,
  path,
  port = 443,
}: NonNullable<WebhookClientConfig['service']>): Place {
  const serverName = `${name}.${namespace}.svc`
  const hostPort = `${serverName}:${port}`
  return { origin: `https://${hostPort}`, path: encodePath(path ?? ''), hostPort, serverName }
}

function placeOfUrl(url: string): Place {
  const [, scheme = '', host = '', path = ''] = /^([^:/?#]+):\/\/([^/?#]*)([^?#]*)/.exec(url) ?? []
  const hostPort = /:\d+$/.test(host) ? host : `${host}:443`
  return { origin: `${scheme.toLowerCase()}://${host}`, path, hostPort }
}

function decodeBundle(bundle: string | undefined): string | undefined {
  return bundle === undefined || bundle === '' ? undefined : decodeBase64Text(bundle)
}

function headersOf({ token, username, password }: WebhookCredentials): WireHeaders | undefined {
  if (token !== undefined && token !== '') return { authorization: `Bearer ${token}` }
  if (username === undefined && password === undefined) return undefined
  return { authorization: `Basic ${encodeBase64Text(`${username ?? ''}:${password ?? ''}`)}` }
}

/** Ends the span of a call. */
export function endCall(span: Span, result: OutboundResult): void {
  if (result.ok) span.setAttributes({ 'http.response.status_code': result.status })
  else span.fail(result.reason)
  span.end()
}
