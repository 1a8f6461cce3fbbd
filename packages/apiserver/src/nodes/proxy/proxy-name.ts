import { newBadRequest } from '@coxswain/apimachinery/status'

/** The target of a proxy request: `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`. */
export interface ProxyName {
  readonly scheme: 'http' | 'https'
  readonly name: string
  /** A number or a name; empty for the default port. */
  readonly port: string
}

/** Throws upstream's 400; `kind` is `pod`, `service` or `node`. */
export function parseProxyName(text: string, kind: string): ProxyName {
  const parts = text.split(':')
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts]
  const isKnown = scheme === '' || scheme === 'http' || scheme === 'https'
  if (parts.length > 3 || !isKnown || name === undefined || name === '')
    throw newBadRequest(`invalid ${kind} request ${JSON.stringify(text)}`)
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port: port ?? '' }
}
