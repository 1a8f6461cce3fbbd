import assert from 'node:assert/strict'
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import type { ProxyEndpoint, ProxyProtocol } from '../kube-proxy/proxy-rules.ts'
import type { EndpointPicker } from '../kube-proxy/service-sockets.ts'
import { createServiceSockets } from './service-sockets.ts'

const closers: (() => void)[] = []
after(() => {
  for (const close of closers) close()
})

/** Echoes its name and its input. */
async function startEcho(name: string): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, socket => {
    closers.push(() => socket.destroy())
    socket.on('error', () => {})
    socket.write(`${name}:`)
    socket.pipe(socket, { end: false })
    socket.on('end', () => socket.end('.'))
  })
  return await listen(server)
}

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host)
  await once(server, 'listening')
  closers.push(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A free port of this host. */
async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer()
  const port = await listen(server, host)
  server.close()
  await once(server, 'close')
  return port
}

const endpoint = (port: number): ProxyEndpoint => ({
  id: `127.0.0.1:${port}`,
  hosts: ['127.0.0.1'],
  port,
  isLocal: true,
})

/** The endpoints in order, for every client. */
function pickerOf(
  ports: readonly number[],
): EndpointPicker & { ports: readonly number[]; connections: string[] } {
  const connections: string[] = []
  return {
    ports,
    connections,
    candidates() {
      return this.ports.map(endpoint)
    },
    connected: (client, { id }) => void connections.push(`${client} ${id}`),
    isCurrent({ port }) {
      return this.ports.includes(port)
    },
  }
}

async function openAt(protocol: ProxyProtocol, picker: EndpointPicker, maxConnections = 100) {
  const sockets = createServiceSockets({ maxConnections })
  const host = '127.77.3.4'
  const port = await freePort(host)
  const result = await sockets.open({ protocol, host, port }, picker)
  assert.ok(result.opened)
  closers.push(() => void sockets[Symbol.asyncDispose]())
  return { sockets, host, port, socket: result.socket }
}

/** Sends, ends, and reads to the end. */
async function ask(host: string, port: number, text: string): Promise<string> {
  const socket = connect({ host, port, allowHalfOpen: true })
  socket.end(text)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  return answer
}

async function nextChunk(socket: Socket): Promise<string> {
  const [chunk] = await once(socket, 'data')
  return String(chunk)
}

describe('service sockets', () => {
  it('forward both directions to their end, on an address of the loopback network', async () => {
    const picker = pickerOf([await startEcho('a')])
    const { host, port } = await openAt('TCP', picker)
    assert.equal(await ask(host, port, 'hello'), 'a:hello.')
    const big = 'x'.repeat(3_000_000)
    assert.equal(await ask(host, port, big), `a:${big}.`)
    assert.deepEqual(picker.connections, Array(2).fill(`127.0.0.1 127.0.0.1:${picker.ports[0]}`))
  })

  it('try the next endpoint when one refuses the connection, and reset the connection when all do', async () => {
    const dead = await freePort()
    const picker = pickerOf([dead, await startEcho('b')])
    const { host, port } = await openAt('TCP', picker)
    assert.equal(await ask(host, port, '1'), 'b:1.')
    picker.ports = [dead]
    await assert.rejects(ask(host, port, '2'), { code: 'ECONNRESET' })
  })

  it('stop listening without closing open connections', async () => {
    const { host, port, socket } = await openAt('TCP', pickerOf([await startEcho('c')]))
    const client = connect({ host, port })
    closers.push(() => client.destroy())
    assert.equal(await nextChunk(client), 'c:')
    await socket.close()
    await assert.rejects(ask(host, port, ''), { code: 'ECONNREFUSED' })
    client.write('still')
    assert.equal(await nextChunk(client), 'still')
  })

  it('close all connections when they are disposed', async () => {
    const { host, port, sockets } = await openAt('TCP', pickerOf([await startEcho('d')]))
    const client = connect({ host, port })
    await nextChunk(client)
    const closed = once(client, 'close')
    await sockets[Symbol.asyncDispose]()
    await closed
    await assert.rejects(ask(host, port, ''), { code: 'ECONNREFUSED' })
  })

  it('reject connections over their limit, until one is closed', async () => {
    const { host, port } = await openAt('TCP', pickerOf([await startEcho('e')]), 1)
    const client = connect({ host, port })
    await nextChunk(client)
    await assert.rejects(ask(host, port, ''), { code: 'ECONNRESET' })
    client.destroy()
    for (;;) {
      const answer = await ask(host, port, 'now').catch(() => undefined)
      if (answer === 'e:now.') break
    }
  })

  it('report a port that is in use, and an address that does not exist', async () => {
    const { sockets, host, port } = await openAt('TCP', pickerOf([]))
    const again = await sockets.open({ protocol: 'TCP', host, port }, pickerOf([]))
    assert.deepEqual(again, { opened: false, problem: 'taken', message: 'the address is already in use' })
    const nowhere = await sockets.open({ protocol: 'TCP', host: '192.0.2.200', port }, pickerOf([]))
    assert.equal(!nowhere.opened && nowhere.problem, 'no address')
    const echo = await startEcho('f')
    assert.equal(await sockets.isTaken('TCP', echo), true)
    assert.equal(await sockets.isTaken('TCP', await freePort()), false)
  })
})

describe('service sockets for packets', () => {
  async function startUdp(name: string): Promise<UdpSocket> {
    const server = createSocket('udp4')
    server.on('message', (data, { port, address }) => server.send(`${name}:${data}`, port, address))
    server.bind(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => server.close())
    return server
  }

  async function askUdp(client: UdpSocket, host: string, port: number, text: string): Promise<string> {
    client.send(text, port, host)
    const [data] = await once(client, 'message')
    return String(data)
  }

  it('forward them to an endpoint, and to another when it is removed', async () => {
    const [a, b] = [await startUdp('a'), await startUdp('b')]
    const dead = createSocket('udp4')
    dead.bind(0, '127.0.0.1')
    await once(dead, 'listening')
    const deadPort = dead.address().port
    dead.close()
    const picker = pickerOf([deadPort, a.address().port])
    const { sockets, host, port, socket } = await openAt('UDP', picker)
    const client = createSocket('udp4')
    closers.push(() => client.close())
    assert.equal(await askUdp(client, host, port, '1'), 'a:1')
    picker.ports = [b.address().port, a.address().port]
    assert.equal(await askUdp(client, host, port, '2'), 'a:2')
    picker.ports = [b.address().port]
    assert.equal(await askUdp(client, host, port, '3'), 'b:3')
    assert.equal(await sockets.isTaken('UDP', b.address().port), true)
    assert.equal(await sockets.isTaken('UDP', deadPort), false)
    await socket.close()
    const result = await sockets.open({ protocol: 'UDP', host, port }, picker)
    assert.ok(result.opened)
    await result.socket.close()
  })
})
