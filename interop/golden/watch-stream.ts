import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import type { Duplex } from 'node:stream'
import { writeJson } from '@coxswain/apimachinery/json'
import { fill, type Names } from './case.ts'
import { decode, encodePath, encodeQuery, type GoldenClient } from './client.ts'
import { lengths, lines, protobufEvent, webSocketMessages } from './frames.ts'
import type { Transfer, WatchedEvent, WatchStep } from './scenario.ts'

/** One streaming request over a connection of its own, and its events as they come in. */
export class WatchStream {
  readonly step: WatchStep
  /** What was saved when it was opened. */
  readonly names: Names
  readonly events: WatchedEvent[] = []
  status: number | undefined
  contentType = ''
  transfer: Transfer = 'other'
  /** Instead of events, when the answer is no stream. */
  body: unknown
  isEnded = false
  isBroken = false
  /** How long it lasted, in milliseconds, once it has ended. */
  lasted = 0
  readonly #started = performance.now()
  readonly #waiting = new Set<() => void>()
  #isStopped = false
  #destroy = () => {}

  constructor(client: GoldenClient, step: WatchStep, names: Names) {
    this.step = step
    this.names = { ...names }
    if (step.websocket) this.#openWebSocket(client)
    else this.#openHttp(client)
  }

  /** Resolves to whether it is so, or the stream has ended, within that time. */
  wait(isReady: () => boolean, seconds: number): Promise<boolean> {
    return new Promise(resolve => {
      const look = () => {
        if (!isReady() && !this.isEnded) return
        finish(true)
      }
      const finish = (found: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve(found)
      }
      const timer = setTimeout(finish, seconds * 1000, false)
      this.#waiting.add(look)
      look()
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#destroy()
  }

  #options(client: GoldenClient): RequestOptions {
    const { ca, cert, key, url } = client.access
    const { path, query, headers } = fill(this.step, this.names)
    const { hostname, port } = new URL(url)
    const parameters = encodeQuery(query)
    return {
      agent: false,
      ca,
      cert,
      key,
      hostname,
      port,
      method: this.step.method ?? 'GET',
      path: encodePath(path) + (parameters === '' ? '' : `?${parameters}`),
      headers: { 'User-Agent': 'golden/1', Accept: 'application/json', ...headers },
    }
  }

  #openHttp(client: GoldenClient): void {
    const options = this.#options(client)
    const hasBody = this.step.body !== undefined
    if (hasBody) options.headers = { 'Content-Type': 'application/json', ...options.headers }
    const sent = request(options, response => this.#onResponse(response))
    this.#destroy = () => sent.destroy()
    sent.on('error', () => this.#end(true))
    sent.end(hasBody ? writeJson(fill(this.step.body, this.names)) : undefined)
  }

  #onResponse(response: IncomingMessage): void {
    const type = response.headers['content-type'] ?? ''
    if (response.headers['transfer-encoding'] === 'chunked') this.transfer = 'chunked'
    else if (response.statusCode === 204 || response.headers['content-length'] !== undefined)
      this.transfer = 'length'
    if (this.step.websocket) this.transfer = 'other'
    response.on('error', () => this.#end(true))
    response.on('close', () => this.#end(!response.complete))
    if (response.statusCode !== 200 || this.transfer === 'length') {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        if (!this.step.websocket || bytes.length > 0) this.body = decode(bytes)
        this.#open(response.statusCode!, type)
        this.#end(false)
      })
      return
    }
    this.#open(200, type)
    const isProtobuf = type.includes('protobuf')
    const framing = isProtobuf ? lengths() : lines()
    const read = isProtobuf ? protobufEvent : (frame: Buffer) => decode(frame) as WatchedEvent
    response.on('data', chunk => {
      for (const frame of framing.push(chunk)) this.#onEvent(read(frame))
    })
    response.on('end', () => {
      if (framing.rest().length > 0) this.#onEvent(read(framing.rest()))
      this.#end(false)
    })
  }

  #openWebSocket(client: GoldenClient): void {
    const options = this.#options(client)
    const headers = {
      Upgrade: 'websocket',
      Connection: 'Upgrade',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
      Origin: `http://${options.hostname}`,
      ...(options.headers as Record<string, string | null>),
    }
    // A recorded null leaves the header out.
    options.headers = Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
    )
    const sent = request(options, response => this.#onResponse(response))
    this.#destroy = () => sent.destroy()
    sent.on('error', () => this.#end(true))
    sent.on('upgrade', (response, socket, head) => {
      this.#destroy = () => socket.destroy()
      this.transfer = 'websocket'
      this.#open(101, response.headers['sec-websocket-protocol'] ?? '')
      this.#readMessages(socket, head)
    })
    sent.end()
  }

  #readMessages(socket: Duplex, head: Buffer): void {
    const messages = webSocketMessages()
    const onData = (chunk: Buffer) => {
      for (const { kind, data } of messages(chunk)) {
        if (kind === 'close') this.#end(false)
        else if (kind === 'ping')
          socket.write(Buffer.concat([Buffer.from([0x8a, 0x80 | data.length, 0, 0, 0, 0]), data]))
        else this.#onEvent({ ...(decode(data) as WatchedEvent), frame: kind })
      }
    }
    socket.on('error', () => this.#end(true))
    socket.on('close', () => this.#end(false))
    socket.on('data', onData)
    if (head.length > 0) onData(head)
  }

  #open(status: number, contentType: string): void {
    this.status = status
    this.contentType = contentType
    this.#wake()
  }

  #onEvent(event: WatchedEvent): void {
    const isOthers =
      this.step.mine &&
      event.type !== 'BOOKMARK' &&
      event.type !== 'ERROR' &&
      !writeJson(event).includes(this.names.ns!)
    if (isOthers || this.#isStopped) return
    this.events.push(event)
    this.#wake()
  }

  #end(isBroken: boolean): void {
    if (this.#isStopped || this.isEnded) return
    this.isEnded = true
    this.isBroken = isBroken
    this.lasted = performance.now() - this.#started
    this.#wake()
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look()
  }
}
