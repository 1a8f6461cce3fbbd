import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { describe, it } from 'node:test'
import { readBody } from '../body.ts'
import type { Handler, WireResponse } from '../message.ts'
import { socketDialer, toByteStream } from './client/dialer.ts'
import { createHttpTransport } from './client/http-transport.ts'
import { serve } from './server/serve.ts'
import { createTestCertificates } from './test-support/certificates.ts'
import { createWebSocketUpgrade } from './websocket/upgrade.ts'

const passesThrough = (path: string) => path.startsWith('/through')
const encoder = new TextEncoder()
const decoder = new TextDecoder('latin1')

function open(handler: Handler, more: Partial<Parameters<typeof serve>[0]> = {}) {
  const limits = { bodyBytes: 1000, bodyTimeout: 1000 }
  return serve({ handler, upgrade: createWebSocketUpgrade({ handler }), passesThrough, limits, ...more })
}

/** Sends `lines` to a port and collects everything until the server closes. */
async function talk(port: number, ...lines: readonly (string | Promise<unknown>)[]): Promise<string> {
  const socket = connectTcp(port, '127.0.0.1')
  const heard: Uint8Array[] = []
  socket.on('data', (chunk: Buffer) => heard.push(chunk))
  const closed = new Promise<void>(resolve => socket.on('close', () => resolve()))
  for (const line of lines) {
    if (typeof line === 'string') socket.write(line)
    else await line
  }
  await closed
  return heard.map(chunk => decoder.decode(chunk)).join('')
}

describe('requests that pass through', () => {
  it('stream their bodies, of any length, over HTTP/1.1 and HTTP/2', async () => {
    const { ca, server: tls, client } = createTestCertificates()
    const handler: Handler = async ({ bodyStream, body }) => {
      let length = 0
      for await (const chunk of bodyStream ?? []) length += chunk.length
      return { status: 200, headers: {}, body: encoder.encode(`${length} ${body === undefined}`) }
    }
    await using server = await open(handler, { tls: { cert: tls.certificate, key: tls.key } })
    for (const http2 of [true, false]) {
      const credentials = { ca: ca.certificate, cert: client.certificate, key: client.key }
      await using transport = createHttpTransport({ server: server.url, http2, tls: credentials })
      const body = new Uint8Array(5_000_000)
      const { signal } = new AbortController()
      const answer = await transport.send({
        method: 'PUT',
        path: '/through',
        query: '',
        headers: {},
        body,
        signal,
      })
      assert.equal(new TextDecoder().decode(await readBody(answer.body)), '5000000 true')
    }
  })

  it('are answered while their bodies still arrive', async () => {
    const first = Promise.withResolvers<void>()
    const handler: Handler = async ({ bodyStream }) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        for await (const chunk of bodyStream!) {
          yield encoder.encode(`<${decoder.decode(chunk)}>`)
          first.resolve()
        }
      })(),
    })
    await using server = await open(handler)
    const head =
      'POST /through HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
    const heard = await talk(server.port, `${head}3\r\none\r\n`, first.promise, '3\r\ntwo\r\n0\r\n\r\n')
    assert.match(heard, /<one>/)
    assert.match(heard, /<two>/)
  })

  it('notify the handler when the client aborts', async () => {
    const failure = Promise.withResolvers<unknown>()
    const begun = Promise.withResolvers<void>()
    const handler: Handler = async ({ bodyStream }) => {
      try {
        for await (const _ of bodyStream!) begun.resolve()
      } catch (error) {
        failure.resolve(error)
      }
      return { status: 200, headers: {} }
    }
    await using server = await open(handler)
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.write('POST /through HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf')
    await begun.promise
    socket.destroy()
    assert.match(String(await failure.promise), /the client has disconnected/)
  })

  it('get a response that does not wait for the rest of their body', async () => {
    await using server = await open(async () => ({ status: 403, headers: {}, body: encoder.encode('no') }))
    const heard = await talk(
      server.port,
      `POST /through HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n${'x'.repeat(50_000)}`,
    )
    assert.match(heard, /^HTTP\/1\.1 403 .*no$/s)
    // A client that keeps sending can continue with its next request.
    const length = 5_000_000
    const upload = `POST /through HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`
    const last = 'GET /through HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    assert.equal((await talk(server.port, upload, last)).match(/HTTP\/1\.1 403/g)?.length, 2)
  })

  it('get responses that they may leave unread for as long as they want', async () => {
    const outcomes = new Map<string, string>()
    const handler: Handler = async ({ path, signal }) => {
      signal.addEventListener('abort', () => outcomes.set(path, 'cut off'))
      const body = (async function* () {
        for (let i = 0; i < 400; i++) yield new Uint8Array(100_000)
        outcomes.set(path, 'read')
      })()
      return { status: 200, headers: {}, body, unhurried: path === '/through' }
    }
    await using server = await open(handler, { limits: { stallTimeout: 100 } })
    const read = (path: string) =>
      new Promise<void>(resolve => {
        const socket = connectTcp(server.port, '127.0.0.1')
        socket.on('close', () => resolve()).on('error', () => {})
        socket.pause().write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
        // Deadlines are checked once a second, and may be two late.
        setTimeout(() => socket.resume(), 3500)
      })
    await Promise.all([read('/through'), read('/else')])
    assert.deepEqual([...outcomes].sort(), [
      ['/else', 'cut off'],
      ['/through', 'read'],
    ])
  })

  it('may ask for any upgrade; others only for supported ones', async () => {
    const handler: Handler = async ({ path, headers }) => {
      if (path !== '/through')
        return { status: 200, headers: {}, body: encoder.encode(`plain ${headers.upgrade}`) }
      const answer: WireResponse = {
        status: 101,
        headers: { upgrade: 'toy', connection: 'Upgrade' },
        conversation: {
          protocols: [],
          raw: true,
          async talk({ messages, send }) {
            for await (const message of messages) {
              const text = decoder.decode(message)
              await send(encoder.encode(text.toUpperCase()))
              if (text.endsWith('.')) return
            }
          },
        },
      }
      return answer
    }
    await using server = await open(handler)
    const ask = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: toy\r\n\r\n`
    const heard = await talk(server.port, `${ask('/through')}early `, 'late.')
    assert.match(heard, /^HTTP\/1\.1 101 .*\r\nupgrade: toy\r\nconnection: Upgrade\r\n\r\nEARLY LATE\.$/s)
    const plain = await talk(
      server.port,
      ask('/else').replace('Upgrade\r\nUpgrade', 'Upgrade, close\r\nUpgrade'),
    )
    assert.match(plain, /^HTTP\/1\.1 200 .*plain toy$/s)
  })

  it('stream the rejection of an upgrade and close the connection', async () => {
    const handler: Handler = async () => ({
      status: 418,
      headers: { 'content-type': 'text/plain' },
      body: (async function* () {
        yield encoder.encode('short ')
        yield encoder.encode('and stout')
      })(),
    })
    await using server = await open(handler)
    const ask = 'GET /through HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    const smuggled = 'GET /second HTTP/1.1\r\nHost: a\r\n\r\n'
    const heard = await talk(server.port, ask + smuggled)
    assert.match(heard, /^HTTP\/1\.1 418 .*short and stout$/s)
    assert.equal(heard.match(/HTTP\/1\.1 /g)!.length, 1)
  })
})

describe('a socket dialer', () => {
  it('starts TLS on an existing connection', async () => {
    const { ca, server: tls } = createTestCertificates()
    const handler: Handler = async ({ path }) => ({ status: 200, headers: {}, body: encoder.encode(path) })
    await using server = await serve({ handler, tls: { cert: tls.certificate, key: tls.key } })
    const get = 'GET /secret HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const plain = () => toByteStream(connectTcp(server.port, '127.0.0.1'))
    const serverName = '127.0.0.1'
    for (const trust of [
      { insecure: true },
      { ca: ca.certificate, serverName },
      { ca: tls.certificate, serverName },
    ]) {
      const stream = await socketDialer.secure(plain(), trust)
      await stream.write(encoder.encode(get))
      assert.match(decoder.decode(await readBody(stream.data)), /\/secret$/)
    }
    await assert.rejects(socketDialer.secure(plain(), { serverName: '127.0.0.1' }), { code: 'TlsFailed' })
    await assert.rejects(socketDialer.connect('127.0.0.1', server.port, {}), { code: 'TlsFailed' })
    await assert.rejects(socketDialer.lookup('no-such-host.invalid'), { code: 'ConnectFailed' })
    assert.deepEqual(await socketDialer.lookup('::1'), ['::1'])
  })
})
