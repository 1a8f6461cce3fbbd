import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv4 } from 'node:net'
import type { EndpointPicker, OpenSocket } from '../kube-proxy/service-sockets.ts'
import type { Relay } from './relay.ts'
import { replyDatagram } from './reply-datagram.ts'

/** Milliseconds after the last packet of a client, in either direction, until it may be given another endpoint. */
const idleTimeout = 30_000

/** Rejects when the port cannot be opened. */
export async function openUdp({ host, port, picker, active, maxConnections }: Relay): Promise<OpenSocket> {
  const socket = await bind(host, port)
  socket.on('error', () => {}) // a client that has disconnected
  const flows = new Map<string, Flow>()
  socket.on('message', (data, client) => {
    const id = `${client.address}:${client.port}`
    let flow = flows.get(id)
    if (flow && !flow.isCurrent) {
      flow.destroy()
      flow = undefined
    }
    if (!flow) {
      if (active.size >= maxConnections) return
      const begun = new Flow(socket, client, picker, () => {
        active.delete(begun)
        if (flows.get(id) === begun) flows.delete(id)
      })
      active.add(begun)
      flows.set(id, begun)
      flow = begun
    }
    flow.send(data)
  })
  return {
    close: () => {
      for (const flow of flows.values()) flow.destroy()
      return new Promise(resolve => socket.close(() => resolve()))
    },
  }
}

function bind(address: string, port: number): Promise<Socket> {
  const socket = createSocket('udp4')
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.bind({ address, port, exclusive: true }, () => {
      socket.removeListener('error', reject)
      resolve(socket)
    })
  })
}

/** The packets of one client, to one endpoint and back. */
class Flow {
  readonly #targets: Iterator<Target>
  readonly #picker: EndpointPicker
  readonly #client: RemoteInfo
  readonly #reply: (data: Buffer) => void
  readonly #onEnd: () => void
  readonly #timer: NodeJS.Timeout
  /** The last packet: it is sent to the next endpoint when this one refuses it. */
  #last: Buffer = Buffer.alloc(0)
  #target: Target | undefined
  #upstream: Socket | undefined
  #isConnected = false
  #hasEnded = false

  constructor(listener: Socket, client: RemoteInfo, picker: EndpointPicker, onEnd: () => void) {
    this.#client = client
    this.#picker = picker
    this.#onEnd = onEnd
    this.#targets = targetsOf(picker, client.address)
    this.#reply = data => replyDatagram(listener, client, data)
    this.#timer = setTimeout(() => this.destroy(), idleTimeout).unref()
  }

  /** Whether its endpoint still belongs to the Service. */
  get isCurrent(): boolean {
    return !this.#target || this.#picker.isCurrent(this.#target.endpoint)
  }

  send(data: Buffer): void {
    this.#last = data
    this.#timer.refresh()
    if (!this.#upstream) this.#connectNext()
    else if (this.#isConnected) this.#upstream.send(data)
  }

  destroy(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#timer)
    this.#upstream?.close()
    this.#onEnd()
  }

  #connectNext(): void {
    this.#isConnected = false
    this.#upstream?.close()
    const { value: target, done } = this.#targets.next()
    if (done) {
      this.#upstream = undefined
      this.destroy()
      return
    }
    this.#target = target
    const upstream = createSocket('udp4')
    this.#upstream = upstream
    upstream.on('error', () => {
      if (this.#upstream === upstream && !this.#hasEnded) this.#connectNext()
    })
    upstream.on('message', data => {
      this.#timer.refresh()
      this.#reply(data)
    })
    upstream.connect(target.endpoint.port, target.host, () => {
      this.#isConnected = true
      this.#picker.connected(this.#client.address, target.endpoint)
      if (this.#upstream === upstream && this.#last.length > 0) upstream.send(this.#last)
    })
  }
}

interface Target {
  readonly endpoint: ReturnType<EndpointPicker['candidates']>[number]
  readonly host: string
}

function* targetsOf(picker: EndpointPicker, client: string): Generator<Target, undefined> {
  for (const endpoint of picker.candidates(client))
    for (const host of endpoint.hosts) if (isIPv4(host)) yield { endpoint, host }
  return undefined
}

export async function isUdpTaken(port: number): Promise<boolean> {
  try {
    const socket = await bind('127.0.0.1', port)
    await new Promise<void>(resolve => socket.close(() => resolve()))
    return false
  } catch {
    return true
  }
}
