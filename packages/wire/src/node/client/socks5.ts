import type { Socket } from 'node:net'
import { TransportError } from '../../errors.ts'

export interface Socks5Target {
  readonly host: string
  readonly port: number
  /** As in a URL, still encoded. Empty for none. */
  readonly username: string
  readonly password: string
}

const noCredentials = 0
const userAndPassword = 2

/** Requests a connection from a SOCKS5 proxy (RFC 1928, RFC 1929); the proxy resolves names. */
export async function connectSocks5(
  socket: Socket,
  target: Socks5Target,
  deadline: AbortSignal,
): Promise<Socket> {
  const reader = new ByteReader(socket, deadline)
  try {
    const method = target.username === '' ? noCredentials : userAndPassword
    socket.write(Uint8Array.of(5, 1, method))
    const [version, chosen] = await reader.read(2)
    if (version !== 5 || chosen !== method) throw refused('it accepts none of our ways to log in')
    if (method === userAndPassword) await logIn(socket, reader, target)
    const host = Buffer.from(target.host)
    socket.write(
      Buffer.concat([
        Uint8Array.of(5, 1, 0, 3, host.length),
        host,
        Uint8Array.of(target.port >> 8, target.port & 255),
      ]),
    )
    const [, status, , addressType] = await reader.read(4)
    if (status !== 0) throw refused(`it answered with status ${status}`)
    const addressLength = addressType === 1 ? 4 : addressType === 4 ? 16 : (await reader.read(1))[0]!
    await reader.read(addressLength + 2)
    reader.release()
    return socket
  } catch (error) {
    socket.on('error', () => {})
    socket.destroy()
    throw error
  }
}

async function logIn(socket: Socket, reader: ByteReader, target: Socks5Target): Promise<void> {
  const username = Buffer.from(decodeURIComponent(target.username))
  const password = Buffer.from(decodeURIComponent(target.password))
  socket.write(
    Buffer.concat([Uint8Array.of(1, username.length), username, Uint8Array.of(password.length), password]),
  )
  const [, status] = await reader.read(2)
  if (status !== 0) throw refused('it does not know our user name and password')
}

function refused(message: string): TransportError {
  return new TransportError('ConnectFailed', `SOCKS proxy: ${message}`, { sent: false })
}

/** Reads exact numbers of bytes from a socket and unshifts the rest. */
class ByteReader {
  readonly #socket: Socket
  readonly #deadline: AbortSignal
  #held: Buffer = Buffer.alloc(0)
  #wake: (() => void) | undefined
  readonly #onData = (chunk: Buffer) => {
    this.#held = Buffer.concat([this.#held, chunk])
    this.#wake?.()
  }
  readonly #onStop = () => this.#wake?.()

  constructor(socket: Socket, deadline: AbortSignal) {
    this.#socket = socket
    this.#deadline = deadline
    socket.on('data', this.#onData).on('close', this.#onStop).on('error', this.#onStop)
    deadline.addEventListener('abort', this.#onStop)
  }

  async read(length: number): Promise<Buffer> {
    while (this.#held.length < length) {
      if (this.#deadline.aborted) {
        throw new TransportError('Timeout', 'SOCKS proxy: connect timeout', { sent: false })
      }
      if (this.#socket.destroyed) throw refused('it closed the connection')
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    const bytes = this.#held.subarray(0, length)
    this.#held = this.#held.subarray(length)
    return bytes
  }

  release(): void {
    this.#socket.off('data', this.#onData).off('close', this.#onStop).off('error', this.#onStop)
    this.#deadline.removeEventListener('abort', this.#onStop)
    this.#socket.pause()
    if (this.#held.length > 0) this.#socket.unshift(this.#held)
  }
}
