import { connect, type TLSSocket } from 'node:tls'
import type { Access } from './access.ts'

/**
 * As little of HTTP/2 as a load generator needs: requests out, bytes counted in. A client that does more would take the
 * processor from the server it measures. Header blocks are literals without compression, windows are as large as they can be.
 */
export class Http2Connection {
  readonly #socket: TLSSocket
  readonly #streams = new Map<number, Http2Exchange>()
  readonly #prefix: Buffer
  readonly #suffix: Buffer
  #nextId = 1
  /** Bytes of a frame head that has not come whole. */
  readonly #head: Buffer = Buffer.alloc(9)
  #headFilled = 0
  #left = 0
  #type = 0
  #flags = 0
  #id = 0
  #control: Buffer[] = []
  #unacknowledged = 0

  private constructor(socket: TLSSocket, access: Access) {
    this.#socket = socket
    this.#prefix = Buffer.concat([
      literal(':scheme', 'https'),
      literal(':authority', `${access.host}:${access.port}`),
    ])
    this.#suffix = Buffer.concat([
      literal('accept', 'application/json'),
      ...(access.token ? [literal('authorization', `Bearer ${access.token}`)] : []),
    ])
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', error => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server closed the connection')))
    const settings = Buffer.alloc(18)
    settings.writeUInt16BE(1, 0) // no compression of headers
    settings.writeUInt16BE(2, 6) // no push
    settings.writeUInt16BE(4, 12)
    settings.writeUInt32BE(largestWindow, 14)
    socket.write(
      Buffer.concat([
        Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
        frame(4, 0, 0, settings),
        windowUpdate(0, largestWindow - 65_535),
      ]),
    )
  }

  static async open(access: Access): Promise<Http2Connection> {
    return new Http2Connection(await openSocket(access, 'h2'), access)
  }

  send(
    method: string,
    path: string,
    exchange: Http2Exchange,
    body?: Buffer,
    type: string = 'application/json',
  ): void {
    const id = this.#nextId
    this.#nextId += 2
    this.#streams.set(id, exchange)
    const block = Buffer.concat([
      literal(':method', method),
      this.#prefix,
      literal(':path', path),
      this.#suffix,
      ...(body ? [literal('content-type', type)] : []),
    ])
    const head = frame(1, body ? 4 : 5, id, block)
    this.#socket.write(body ? Buffer.concat([head, frame(0, 1, id, body)]) : head)
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length || (this.#headFilled === 9 && this.#left === 0)) {
      if (this.#headFilled < 9) {
        const take = Math.min(9 - this.#headFilled, chunk.length - at)
        chunk.copy(this.#head, this.#headFilled, at, at + take)
        this.#headFilled += take
        at += take
        if (this.#headFilled < 9) return
        this.#left = this.#head.readUIntBE(0, 3)
        this.#type = this.#head[3]!
        this.#flags = this.#head[4]!
        this.#id = this.#head.readUInt32BE(5) & 0x7fffffff
        this.#control = []
      }
      const take = Math.min(this.#left, chunk.length - at)
      if (take > 0) {
        const piece = chunk.subarray(at, at + take)
        if (this.#type === 0) this.#data(piece)
        else this.#control.push(piece)
        at += take
        this.#left -= take
      }
      if (this.#left > 0) return
      this.#headFilled = 0
      this.#endFrame()
    }
  }

  #data(piece: Buffer): void {
    this.#unacknowledged += piece.length
    if (this.#unacknowledged > largestWindow / 4) {
      this.#socket.write(windowUpdate(0, this.#unacknowledged))
      this.#unacknowledged = 0
    }
    const exchange = this.#streams.get(this.#id)
    if (!exchange) return
    exchange.received = (exchange.received ?? 0) + piece.length
    if (exchange.received > largestWindow / 4) {
      this.#socket.write(windowUpdate(this.#id, exchange.received))
      exchange.received = 0
    }
    exchange.onData?.(piece)
  }

  #endFrame(): void {
    const type = this.#type
    if (type === 1) {
      const status = readStatus(Buffer.concat(this.#control))
      const exchange = this.#streams.get(this.#id)
      if (exchange && status !== undefined) exchange.onStatus?.(status)
    } else if (type === 3) this.#end(this.#id, new Error('the server reset the stream'))
    else if (type === 4 && (this.#flags & 1) === 0) this.#socket.write(frame(4, 1, 0, empty))
    else if (type === 6 && (this.#flags & 1) === 0)
      this.#socket.write(frame(6, 1, 0, Buffer.concat(this.#control)))
    else if (type === 7) this.#fail(new Error('the server sent GOAWAY'))
    if ((type === 0 || type === 1) && this.#flags & 1) this.#end(this.#id)
  }

  #end(id: number, error?: Error): void {
    const exchange = this.#streams.get(id)
    this.#streams.delete(id)
    exchange?.onEnd(error)
  }

  #fail(error: Error): void {
    for (const id of [...this.#streams.keys()]) this.#end(id, error)
  }
}

export interface Http2Exchange {
  onStatus?(status: number): void
  onData?(piece: Buffer): void
  onEnd(error?: Error): void
  /** Bytes since the last window update. */
  received?: number
}

export function openSocket(access: Access, protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> {
  const { host, port, ca, cert, key } = access
  return new Promise((resolve, reject) => {
    const socket = connect(
      {
        host,
        port,
        ca,
        cert,
        key,
        ALPNProtocols: [protocol],
        ...(ca === undefined && { rejectUnauthorized: false }),
      },
      () => resolve(socket),
    )
    socket.setNoDelay(true)
    socket.once('error', reject)
  })
}

const largestWindow = 2 ** 31 - 1
const empty = Buffer.alloc(0)

function frame(type: number, flags: number, id: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9 + payload.length)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(id, 5)
  payload.copy(head, 9)
  return head
}

function windowUpdate(id: number, amount: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(amount)
  return frame(8, 0, id, payload)
}

/** RFC 7541 section 6.2.2: a literal that is not indexed. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

const indexed: Readonly<Record<number, number>> = {
  136: 200,
  137: 204,
  138: 206,
  139: 304,
  140: 400,
  141: 404,
  142: 500,
}

/** The status, which comes first in every answer: from the static table, or a literal (201 as Huffman code or text). */
function readStatus(block: Buffer): number | undefined {
  let at = 0
  while (at < block.length && (block[at]! & 0xe0) === 0x20) at++ // table size updates
  const first = block[at]
  if (first === undefined) return undefined
  if (first & 0x80) return indexed[first]
  const length = block[at + 1]! & 0x7f
  const value = block.subarray(at + 2, at + 2 + length)
  if ((block[at + 1]! & 0x80) === 0) return Number(value.toString('latin1'))
  return value.equals(created) ? 201 : 999
}

const created = Buffer.from([0x10, 0x03])
