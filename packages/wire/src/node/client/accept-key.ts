import { createHash } from 'node:crypto'

/** The response to the key of a WebSocket handshake (RFC 6455, 4.2.2). */
export function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}
