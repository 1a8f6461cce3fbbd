import type { ServiceReference, WebhookClientConfig } from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import { isDNS1123Subdomain, isValidPortNum } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { type Findings, numberOf } from '../shared/reading.ts'

/** Fills in a `WebhookClientConfig`. */
export function defaultClientConfig(config: Decoded<WebhookClientConfig> | null | undefined): void {
  if (config?.service) config.service.port ??= 443
}

/** Validates the `clientConfig` of a webhook. */
export function* validateClientConfig(config: Decoded<WebhookClientConfig>, path: field.Path): Findings {
  const { url, service } = config
  if ((url === undefined) === (service === undefined)) {
    yield field.required(path, 'exactly one of url or service is required')
  } else if (url !== undefined) {
    yield* validateWebhookURL(url, path.child('url'))
  } else if (service) {
    yield* validateWebhookService(service, path.child('service'))
  }
}

const form = '; desired format: https://host[/path]'

export function* validateWebhookURL(url: string, path: field.Path): Findings {
  const problem = describeBadURL(url)
  if (problem !== undefined) {
    yield field.required(path, `url must be a valid URL: parse ${JSON.stringify(url)}: ${problem}${form}`)
    return
  }
  const { scheme, user, host, query, fragment } = splitURL(url)
  if (scheme !== 'https') yield field.invalid(path, scheme, `'https' is the only allowed URL scheme${form}`)
  if (host === '') yield field.invalid(path, host, `host must be specified${form}`)
  if (user !== undefined) yield field.invalid(path, user, 'user information is not permitted in the URL')
  if (fragment !== '') yield field.invalid(path, fragment, 'fragments are not permitted in the URL')
  if (query !== '') yield field.invalid(path, query, 'query parameters are not permitted in the URL')
}

interface URLParts {
  readonly scheme: string
  readonly user: string | undefined
  readonly host: string
  readonly query: string
  readonly fragment: string
}

/** As Go takes a URL apart: nothing is normalised but the scheme. */
function splitURL(url: string): URLParts {
  const [, scheme = '', authority, , query = '', fragment = ''] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(url) ?? []
  const at = authority?.lastIndexOf('@') ?? -1
  return {
    scheme: scheme.toLowerCase(),
    user: at < 0 ? undefined : authority?.slice(0, at),
    host: authority?.slice(at + 1) ?? '',
    query,
    fragment,
  }
}

/** What Go's parser refuses; undefined for what it takes. */
function describeBadURL(url: string): string | undefined {
  for (let i = 0; i < url.length; i++) {
    const code = url.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return 'net/url: invalid control character in URL'
  }
  if (url.startsWith(':')) return 'missing protocol scheme'
  const badEscape = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(url)
  if (badEscape) return `invalid URL escape ${JSON.stringify(badEscape[0])}`
  const { scheme, host } = splitURL(url)
  const beforeSlash = url.split(/[/?#]/, 1)[0] ?? ''
  if (scheme === '' && beforeSlash.includes(':')) return 'first path segment in URL cannot contain colon'
  const wrong = /[\s<>"\\^`{|}]/.exec(host)
  if (wrong) return `invalid character ${JSON.stringify(wrong[0])} in host name`
  const port = /:([^\]:]*)$/.exec(host)
  if (port && !/^\d*$/.test(port[1] ?? '')) return `invalid port ${JSON.stringify(port[0])} after host`
  return undefined
}

/**
 * Upstream passes name and namespace in the wrong order, so that the error about one stands at the other; clients see it
 * that way.
 */
function* validateWebhookService(service: Decoded<ServiceReference>, path: field.Path): Findings {
  if ((service.namespace ?? '') === '') yield field.required(path.child('name'))
  if ((service.name ?? '') === '') yield field.required(path.child('namespace'))
  const port = numberOf(service.port)
  const wrong = isValidPortNum(port)
  if (wrong.length > 0)
    yield field.invalid(path.child('port'), port, `port is not valid: ${wrong.join(', ')}`)
  if (typeof service.path === 'string') yield* validateServicePath(service.path, path.child('path'))
}

function* validateServicePath(text: string, path: field.Path): Findings {
  if (text === '/' || text === '') return
  if (text === '//') {
    yield field.invalid(path, text, 'segment[0] may not be empty')
    return
  }
  if (!text.startsWith('/')) yield field.invalid(path, text, "must start with a '/'")
  const segments = text.slice(1).replace(/\/$/, '').split('/')
  for (const [index, segment] of segments.entries()) {
    if (segment === '') {
      yield field.invalid(path, text, `segment[${index}] may not be empty`)
      continue
    }
    for (const message of isDNS1123Subdomain(segment))
      yield field.invalid(path, text, `segment[${index}]: ${message}`)
  }
}
