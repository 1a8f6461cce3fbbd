import { getHeader } from '../../headers.ts'
import type { WireHeaders } from '../../message.ts'
import { acceptKey } from '../client/accept-key.ts'

/** The response to a WebSocket handshake. */
export type Handshake =
  | { readonly status: 101; readonly headers: Readonly<Record<string, string>> }
  | { readonly status: 400 | 403; readonly headers: Readonly<Record<string, string>> }

/** Subprotocols that carry a bearer token. */
const bearerPrefix = 'base64url.bearer.authorization.k8s.io.'

/** Whether an offered subprotocol is a real protocol. */
export function isProtocol(name: string): boolean {
  return !name.startsWith(bearerPrefix)
}

/**
 * Checks the headers of an upgrade (RFC 6455, 4.2). A request without an Origin is rejected, as upstream does: a page of
 * another site may not hide its origin. The first subprotocol offered is accepted, whatever its name.
 */
export function acceptHandshake(headers: WireHeaders): Handshake {
  const key = getHeader(headers, 'sec-websocket-key')?.trim() ?? ''
  if (getHeader(headers, 'sec-websocket-version')?.trim() !== '13') {
    return { status: 400, headers: { 'sec-websocket-version': '13' } }
  }
  if (!/^[A-Za-z0-9+/]{22}==$/.test(key)) return { status: 400, headers: {} }
  if (!getHeader(headers, 'origin')) return { status: 403, headers: {} }
  const [protocol] = (getHeader(headers, 'sec-websocket-protocol') ?? '')
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && isProtocol(name))
  return {
    status: 101,
    headers: {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': acceptKey(key),
      ...(protocol !== undefined && { 'sec-websocket-protocol': protocol }),
    },
  }
}
