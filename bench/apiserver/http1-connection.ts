import type { TLSSocket } from 'node:tls'
import type { Access } from './access.ts'
import { openSocket } from './http2-connection.ts'

/** One HTTP/1.1 connection with one request at a time. */
export class Http1Connection {
  readonly #socket: TLSSocket
  readonly #tail: string
  #onEnd: ((error?: Error) => void) | undefined
  #waiting: Buffer | undefined
  /** Bytes of the body still to come; -1 for a chunked one. */
  #left = 0

  private constructor(socket: TLSSocket, { host, port, token }: Access) {
    this.#socket = socket
    const authorization = token ? `Authorization: Bearer ${token}\r\n` : ''
    this.#tail = ` HTTP/1.1\r\nHost: ${host}:${port}\r\nAccept: application/json\r\n${authorization}\r\n`
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', error => this.#end(error))
    socket.on('close', () => this.#end(new Error('the server closed the connection')))
  }

  static async open(access: Access): Promise<Http1Connection> {
    return new Http1Connection(await openSocket(access, 'http/1.1'), access)
  }

  get(path: string, onEnd: (error?: Error) => void): void {
    this.#onEnd = onEnd
    this.#waiting = undefined
    this.#left = 0
    this.#socket.write(`GET ${path}${this.#tail}`)
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    if (this.#left > 0) {
      this.#left -= chunk.length
      if (this.#left === 0) this.#end()
      return
    }
    const bytes = this.#waiting ? Buffer.concat([this.#waiting, chunk]) : chunk
    if (this.#left < 0) {
      // Only the very end of a chunked body looks like this, with one request at a time.
      if (bytes.subarray(-7).toString('latin1') === '\r\n0\r\n\r\n') this.#end()
      else this.#waiting = Buffer.from(bytes.subarray(-7))
      return
    }
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#waiting = bytes
      return
    }
    const head = bytes.toString('latin1', 0, end)
    if (!head.startsWith('HTTP/1.1 200')) {
      this.#end(new Error(head.slice(0, 40)))
      return
    }
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    const rest = bytes.subarray(end + 4)
    if (length === undefined) {
      this.#left = -1
      this.#waiting = undefined
      this.#read(rest)
      return
    }
    this.#left = Number(length) - rest.length
    if (this.#left === 0) this.#end()
  }

  #end(error?: Error): void {
    const onEnd = this.#onEnd
    this.#onEnd = undefined
    onEnd?.(error)
  }
}
