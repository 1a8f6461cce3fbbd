import { createHash } from 'node:crypto'

/** What a WebSocket server answers to the key of a handshake (RFC 6455, 4.2.2): proof that it speaks WebSocket. */
export function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}
