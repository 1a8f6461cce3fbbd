import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { readBody } from '../../body.ts'
import { isTransportError } from '../../errors.ts'
import type { WireRequest } from '../../message.ts'
import { type HttpServer, serve } from '../server/serve.ts'
import { createTestCertificates } from '../test-support/certificates.ts'
import { createHttpTransport } from './http-transport.ts'

const certificates = createTestCertificates()
const request: WireRequest = {
  method: 'GET',
  path: '/',
  query: '',
  headers: {},
  signal: new AbortController().signal,
}

let server: HttpServer
const sockets = new Set<Socket>()
before(async () => {
  const { server: pair } = certificates
  server = await serve({
    handler: async () => ({ status: 200, headers: {}, body: Buffer.from('through') }),
    tls: { cert: pair.certificate, key: pair.key },
  })
})
after(() => {
  for (const socket of sockets) socket.destroy()
  return server.close({ grace: 0 })
})

function pipe(client: Socket, port: number): void {
  const upstream = connect(port, '127.0.0.1')
  sockets.add(client).add(upstream)
  client.on('error', () => upstream.destroy())
  upstream.on('error', () => client.destroy())
  client.pipe(upstream).pipe(client)
}

async function send(proxy: string): Promise<string> {
  await using transport = createHttpTransport({
    server: server.url,
    tls: { ca: certificates.ca.certificate },
    proxy,
    timeouts: { connect: 1000 },
  })
  return Buffer.from(await readBody((await transport.send(request)).body)).toString()
}

describe('an HTTP proxy', () => {
  it('opens a tunnel, with credentials, and its rejection is reported', async () => {
    const asked: string[] = []
    const proxy = createHttpServer()
    proxy.on('connect', (message, socket: Socket) => {
      asked.push(`${message.url} ${message.headers['proxy-authorization']}`)
      if (message.headers['proxy-authorization'] === undefined) {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
        return
      }
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      pipe(socket, server.port)
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    assert.equal(await send(`http://us%40er:pass@127.0.0.1:${port}`), 'through')
    assert.deepEqual(asked, [
      `127.0.0.1:${server.port} Basic ${Buffer.from('us@er:pass').toString('base64')}`,
    ])
    await assert.rejects(send(`http://127.0.0.1:${port}`), error => isTransportError(error, 'ConnectFailed'))
    proxy.close()
    await assert.rejects(send('http://127.0.0.1:1'), error => isTransportError(error, 'ConnectFailed'))
    await assert.rejects(send('ftp://127.0.0.1:1'), error => isTransportError(error, 'ConnectFailed'))
  })
})

describe('a SOCKS5 proxy', () => {
  /** Speaks SOCKS5 byte by byte, so that the client has to reassemble messages. */
  const startSocks = async (withPassword: boolean) => {
    const targets: string[] = []
    const proxy = createServer(async socket => {
      sockets.add(socket)
      socket.on('error', () => {})
      const read = async () => (await once(socket, 'data'))[0] as Buffer
      const dribble = async (...bytes: number[]) => {
        for (const byte of bytes) {
          socket.write(Uint8Array.of(byte))
          await new Promise(resolve => setTimeout(resolve, 1))
        }
      }
      const hello = await read()
      const method = withPassword ? 2 : 0
      if (hello[2] !== method) {
        await dribble(5, 0xff)
        socket.end()
        return
      }
      socket.write(Uint8Array.of(5, method))
      if (withPassword) {
        const login = await read()
        const user = login.subarray(2, 2 + login[1]!).toString()
        socket.write(Uint8Array.of(1, user === 'user' ? 0 : 1))
      }
      const ask = await read()
      const host = ask.subarray(5, 5 + ask[4]!).toString()
      targets.push(`${host}:${ask.readUInt16BE(5 + ask[4]!)}`)
      await dribble(5, 0, 0, 1, 127, 0, 0, 1, 0, 80)
      pipe(socket, server.port)
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    return { proxy, targets, port: (proxy.address() as AddressInfo).port }
  }

  it('connects with and without a password', async () => {
    for (const withPassword of [false, true]) {
      const { proxy, targets, port } = await startSocks(withPassword)
      const login = withPassword ? 'user:secret@' : ''
      assert.equal(await send(`socks5://${login}127.0.0.1:${port}`), 'through')
      assert.deepEqual(targets, [`127.0.0.1:${server.port}`])
      const other = withPassword ? '' : 'user:secret@'
      await assert.rejects(send(`socks5://${other}127.0.0.1:${port}`), error =>
        isTransportError(error, 'ConnectFailed'),
      )
      proxy.close()
    }
  })

  it('that does not respond times out', async () => {
    const silent = createServer(socket => {
      sockets.add(socket)
    })
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    await assert.rejects(send(`socks5://127.0.0.1:${port}`), error => isTransportError(error, 'Timeout'))
    silent.close()
  })
})
