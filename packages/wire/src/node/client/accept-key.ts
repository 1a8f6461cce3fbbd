import { builtin } from '../builtin-modules.ts'

/** The response to the key of a WebSocket handshake (RFC 6455, 4.2.2). */
export function acceptKey(key: string): string {
  const hash = builtin.crypto.createHash('sha1')
  return hash.update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}
