import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { aborted } from '@coxswain/kit'
import { readBody } from '../body.ts'
import { isTransportError } from '../errors.ts'
import type { Handler, Transport, WireRequest, WireResponse } from '../message.ts'
import { createHttpTransport, type HttpTransportOptions } from './client/http-transport.ts'
import { type HttpServer, serve } from './server/serve.ts'
import { createTestCertificates } from './test-support/certificates.ts'

const certificates = createTestCertificates()
const text = (value: string) => Buffer.from(value)
const ok = (body?: WireResponse['body']): WireResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  ...(body && { body }),
})

function requestOf(path: string, init: Partial<WireRequest> = {}): WireRequest {
  return { method: 'GET', path, query: '', headers: {}, signal: new AbortController().signal, ...init }
}

async function bodyText(response: WireResponse): Promise<string> {
  return Buffer.from(await readBody(response.body)).toString()
}

/** A server whose handler the test sets. */
async function startServer(handler: Handler, options: Partial<Parameters<typeof serve>[0]> = {}) {
  const { server, ca } = certificates
  return serve({
    handler,
    tls: { cert: server.certificate, key: server.key, clientCa: ca.certificate },
    ...options,
  })
}

function connectTo(server: HttpServer, options: Partial<HttpTransportOptions> = {}): Transport {
  const { ca, client } = certificates
  return createHttpTransport({
    server: server.url,
    tls: { ca: ca.certificate, cert: client.certificate, key: client.key },
    ...options,
  })
}

for (const http2 of [true, false]) {
  describe(http2 ? 'HTTP/2 over TLS' : 'HTTP/1.1 over TLS', () => {
    let handler: Handler = async () => ok()
    let server: HttpServer
    before(async () => {
      server = await startServer(request => handler(request))
    })
    after(() => server.close({ grace: 0 }))
    const connect = (options: Partial<HttpTransportOptions> = {}) => connectTo(server, { http2, ...options })

    it('carries method, path, query, headers and body unchanged', async () => {
      await using transport = connect()
      let seen: WireRequest | undefined
      handler = async request => {
        seen = request
        return {
          status: 201,
          headers: { 'x-a': 'b', warning: ['299 - "a"', '299 - "b"'] },
          body: text('answer'),
        }
      }
      const response = await transport.send(
        requestOf('/api/v1/namespaces/%2e%2e/pods//x', {
          method: 'POST',
          query: 'a=1&a=2',
          headers: { 'x-test': 'yes', 'impersonate-group': ['g1', 'g2, g3'] },
          body: text('body'),
        }),
      )
      assert.equal(response.status, 201)
      assert.equal(response.headers['x-a'], 'b')
      assert.equal(await bodyText(response), 'answer')
      assert.equal(seen?.method, 'POST')
      assert.equal(seen?.path, '/api/v1/namespaces/%2e%2e/pods//x')
      assert.equal(seen?.query, 'a=1&a=2')
      assert.equal(seen?.headers['x-test'], 'yes')
      assert.deepEqual(seen?.headers['impersonate-group'], ['g1', 'g2, g3'])
      assert.equal(Buffer.from(seen?.body ?? []).toString(), 'body')
      assert.equal(seen?.remoteAddress, '127.0.0.1')
    })

    it('gives the handler the subject of the client certificate', async () => {
      await using transport = connect()
      let seen: WireRequest | undefined
      handler = async request => {
        seen = request
        return ok()
      }
      await transport.send(requestOf('/'))
      assert.equal(seen?.peer?.commonName, 'admin')
      assert.deepEqual(seen?.peer?.organizations, ['system:masters', 'ops'])
      assert.equal(seen?.peer?.uid, 'uid-7')
      assert.equal(seen?.peerError, undefined)
    })

    it('accepts a client without a certificate, and reports one that the CA did not sign', async () => {
      const seen: WireRequest[] = []
      handler = async request => {
        seen.push(request)
        return ok()
      }
      const { ca, untrusted } = certificates
      await using anonymous = connect({ tls: { ca: ca.certificate } })
      await anonymous.send(requestOf('/'))
      await using foreign = connect({
        tls: { ca: ca.certificate, cert: untrusted.certificate, key: untrusted.key },
      })
      await foreign.send(requestOf('/'))
      assert.deepEqual(
        seen.map(request => [request.peer, request.peerError !== undefined]),
        [
          [undefined, false],
          [undefined, true],
        ],
      )
    })

    it('rejects a server whose certificate it cannot verify', async () => {
      await using transport = connect({ tls: { ca: certificates.untrusted.certificate } })
      await assert.rejects(transport.send(requestOf('/')), error => isTransportError(error, 'TlsFailed'))
      await using careless = connect({ tls: { insecure: true } })
      handler = async () => ok()
      assert.equal((await careless.send(requestOf('/'))).status, 200)
    })

    it('trusts a server whose own certificate is the given CA, under its own names', async () => {
      handler = async () => ok()
      const ca = certificates.server.certificate
      await using pinned = connect({ tls: { ca } })
      assert.equal((await pinned.send(requestOf('/'))).status, 200)
      await using wrong = connect({ tls: { ca, serverName: 'example.com' } })
      await assert.rejects(wrong.send(requestOf('/')), error => isTransportError(error, 'TlsFailed'))
    })

    it('verifies the configured server name', async () => {
      handler = async () => ok()
      await using named = connect({ tls: { ca: certificates.ca.certificate, serverName: 'localhost' } })
      assert.equal((await named.send(requestOf('/'))).status, 200)
      await using wrong = connect({ tls: { ca: certificates.ca.certificate, serverName: 'example.com' } })
      await assert.rejects(wrong.send(requestOf('/')), error => isTransportError(error, 'TlsFailed'))
    })

    it('sends many small chunks and large ones in order', async () => {
      await using transport = connect()
      const pieces = Array.from({ length: 3000 }, (_, i) =>
        text(`${i}:${'x'.repeat(i % 100 === 0 ? 50_000 : 100)};`),
      )
      handler = async () => ok(pieces)
      const response = await transport.send(requestOf('/'))
      assert.equal(await bodyText(response), Buffer.concat(pieces).toString())
    })

    it('delivers the head and each chunk of a stream at once', async () => {
      await using transport = connect()
      const next = Promise.withResolvers<void>()
      handler = async () =>
        ok(
          (async function* () {
            yield text('first')
            await next.promise
            yield text('second')
          })(),
        )
      const response = await transport.send(requestOf('/'))
      const chunks = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
      assert.equal(Buffer.from((await chunks.next()).value!).toString(), 'first')
      next.resolve()
      assert.equal(Buffer.from((await chunks.next()).value!).toString(), 'second')
      assert.equal((await chunks.next()).done, true)
    })

    it('aborts the handler when the client leaves a stream', async () => {
      await using transport = connect()
      const gone = Promise.withResolvers<void>()
      handler = async ({ signal }) =>
        ok(
          (async function* () {
            yield text('x')
            await aborted(signal)
            gone.resolve()
          })(),
        )
      const response = await transport.send(requestOf('/'))
      for await (const _ of response.body as AsyncIterable<Uint8Array>) break
      await gone.promise
    })

    it('aborts the handler and rejects with the reason when the signal aborts before the response', async () => {
      await using transport = connect()
      const started = Promise.withResolvers<void>()
      const gone = Promise.withResolvers<void>()
      handler = async ({ signal }) => {
        started.resolve()
        await aborted(signal)
        gone.resolve()
        return ok()
      }
      const controller = new AbortController()
      const answer = transport.send(requestOf('/', { signal: controller.signal }))
      await started.promise
      const reason = new Error('enough')
      controller.abort(reason)
      await assert.rejects(answer, error => error === reason)
      await gone.promise
    })

    it('ends the connection when a stream fails, after what was sent before', async () => {
      await using transport = connect()
      const read = Promise.withResolvers<void>()
      handler = async () =>
        ok(
          (async function* () {
            yield text('part')
            await read.promise
            throw new Error('broken')
          })(),
        )
      const response = await transport.send(requestOf('/'))
      const chunks = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
      assert.equal(Buffer.from((await chunks.next()).value!).toString(), 'part')
      read.resolve()
      await assert.rejects(chunks.next(), error => isTransportError(error, 'ConnectionLost'))
    })

    it('answers 500 when the handler rejects or throws', async () => {
      await using transport = connect()
      handler = async () => {
        throw new Error('x')
      }
      assert.equal((await transport.send(requestOf('/'))).status, 500)
      handler = () => {
        throw new Error('x')
      }
      assert.equal((await transport.send(requestOf('/'))).status, 500)
      handler = async () => ({ status: 200, headers: { 'bad header': 'x' } })
      assert.equal((await transport.send(requestOf('/'))).status, 500)
    })

    it('flags a body over the limit and continues with the next request', async () => {
      await using transport = connect()
      handler = async request => ({
        status: request.bodyTooLarge ? 413 : 200,
        headers: {},
        body: text(String(request.body?.length)),
      })
      const limit = 3 * 1024 ** 2
      const post = (length: number) =>
        transport.send(requestOf('/', { method: 'POST', body: Buffer.alloc(length) }))
      const exact = await post(limit)
      assert.deepEqual([exact.status, await bodyText(exact)], [200, String(limit)])
      const over = await post(limit + 1)
      assert.deepEqual([over.status, await bodyText(over)], [413, 'undefined'])
      assert.equal((await post(10)).status, 200)
      handler = async request => ({ status: request.bodyTooLarge ? 413 : 200, headers: {} })
      assert.equal((await post(limit + 1)).status, 413, 'without a body')
    })

    it('answers HEAD without a body', async () => {
      await using transport = connect()
      handler = async () => ok(text('12345'))
      const response = await transport.send(requestOf('/', { method: 'HEAD' }))
      assert.equal(response.headers['content-length'], '5')
      assert.equal(await bodyText(response), '')
    })

    it('accepts headers of 100 kB', async () => {
      await using transport = connect()
      handler = async request => ok(text(String((request.headers['x-long'] as string).length)))
      const length = http2 ? 60_000 : 100_000
      const response = await transport.send(requestOf('/', { headers: { 'x-long': 'y'.repeat(length) } }))
      assert.equal(await bodyText(response), String(length))
    })

    it('rejects requests in flight when it is disposed', async () => {
      const transport = connect()
      handler = async ({ signal }) => {
        await aborted(signal)
        return ok()
      }
      const answer = transport.send(requestOf('/'))
      const rejected = assert.rejects(answer, error => isTransportError(error))
      await new Promise(resolve => setTimeout(resolve, 50))
      await transport[Symbol.asyncDispose]()
      await rejected
      await assert.rejects(transport.send(requestOf('/')), error => isTransportError(error, 'Closed'))
    })
  })
}

describe('a server that closes', () => {
  it('lets requests in flight finish, rejects new ones, and aborts the rest after the grace period', async () => {
    const finish = Promise.withResolvers<void>()
    let abortedWatches = 0
    const server = await startServer(async request => {
      if (request.path === '/watch') {
        return ok(
          (async function* () {
            yield text('x')
            await aborted(request.signal)
            abortedWatches++
          })(),
        )
      }
      await finish.promise
      return ok(text('done'))
    })
    await using transport = connectTo(server)
    const slow = transport.send(requestOf('/slow'))
    const watch = await transport.send(requestOf('/watch'))
    const chunks = (watch.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    await chunks.next()
    const closed = server.close({ grace: 300 })
    finish.resolve()
    assert.equal(await bodyText(await slow), 'done')
    await assert.rejects(connectTo(server).send(requestOf('/')), error =>
      isTransportError(error, 'ConnectFailed'),
    )
    await closed
    await assert.rejects(chunks.next(), error => isTransportError(error, 'ConnectionLost'))
    assert.equal(abortedWatches, 1)
  })

  it('reports that a port is in use', async () => {
    await using server = await startServer(async () => ok())
    await assert.rejects(
      startServer(async () => ok(), { port: server.port }),
      error => isTransportError(error, 'ListenFailed'),
    )
  })

  it('is reachable again for the same transport after a restart on the same port', async () => {
    const first = await startServer(async () => ok(text('one')))
    await using transport = connectTo(first)
    assert.equal(await bodyText(await transport.send(requestOf('/'))), 'one')
    await first.close()
    await using second = await startServer(async () => ok(text('two')), { port: first.port })
    assert.equal(await bodyText(await transport.send(requestOf('/'))), 'two')
    assert.ok(second)
  })
})

describe('a running server', () => {
  it('uses a new certificate for new connections', async () => {
    const { server: pair, ca, client } = certificates
    await using server = await startServer(async () => ok())
    await using transport = connectTo(server)
    await transport.send(requestOf('/'))
    server.setTls({ cert: client.certificate, key: client.key }) // not a server certificate: clients must reject it
    assert.equal((await transport.send(requestOf('/'))).status, 200)
    await using late = connectTo(server)
    await assert.rejects(late.send(requestOf('/')), error => isTransportError(error, 'TlsFailed'))
    server.setTls({ cert: pair.certificate, key: pair.key, clientCa: ca.certificate })
    await using last = connectTo(server)
    assert.equal((await last.send(requestOf('/'))).status, 200)
  })

  it('closes a connection when the handler asks for it, after the response', async () => {
    for (const http2 of [true, false]) {
      await using server = await startServer(async () => ({
        ...ok(text('bye')),
        headers: { connection: 'close' },
      }))
      await using transport = connectTo(server, { http2 })
      assert.equal(await bodyText(await transport.send(requestOf('/'))), 'bye')
      assert.equal(await bodyText(await transport.send(requestOf('/'))), 'bye', 'on another connection')
    }
  })
})

describe('an upgrade', () => {
  it('goes to the upgrade handler, with the request; other upgrades are answered as requests', async () => {
    const { connect } = await import('node:net')
    const upgraded: string[] = []
    await using server = await serve({
      handler: async request => ok(text(`plain ${request.path}`)),
      upgrade: (request, socket) => {
        if (request.path === '/refused') return false
        upgraded.push(`${request.path}?${request.query} ${request.headers['sec-websocket-protocol']}`)
        socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nraw')
        return true
      },
    })
    await using deaf = await serve({ handler: async request => ok(text(`plain ${request.path}`)) })
    const ask = async (path: string, protocol: string, { port }: HttpServer = server) => {
      const socket = connect(port, '127.0.0.1')
      const headers = `Host: a\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Protocol: p\r\n`
      socket.write(`GET ${path} HTTP/1.1\r\n${headers}\r\n`)
      let answer = ''
      for await (const chunk of socket) {
        answer += chunk
        if (/raw$|plain/.test(answer)) break
      }
      socket.destroy()
      return answer
    }
    assert.match(await ask('/exec?a=1', 'websocket'), /^HTTP\/1\.1 101 [\s\S]*raw$/)
    assert.deepEqual(upgraded, ['/exec?a=1 p'])
    assert.match(await ask('/refused', 'WebSocket'), /^HTTP\/1\.1 400 /)
    assert.match(await ask('/h2c', 'h2c'), /plain \/h2c/)
    assert.match(await ask('/watch', 'websocket', deaf), /plain \/watch/)
  })
})

describe('a resumed TLS session', () => {
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`${maxVersion}: has the same identity as the first one`, async () => {
      const { connect } = await import('node:tls')
      const { ca, client, untrusted } = certificates
      await using server = await startServer(async ({ peer, peerError }) =>
        ok(text(`${peer?.commonName} ${peerError !== undefined}`)),
      )
      const proofs: string[] = []
      for (const { certificate: cert, key } of [client, untrusted]) {
        let session: Buffer | undefined
        for (let i = 0; i < 2; i++) {
          const socket = connect({
            port: server.port,
            host: '127.0.0.1',
            ca: ca.certificate,
            cert,
            key,
            maxVersion,
            ...(session && { session }),
          })
          socket.on('session', ticket => {
            session = ticket
          })
          await once(socket, 'secureConnect')
          const reused = socket.isSessionReused()
          socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
          let answer = ''
          for await (const chunk of socket) answer += chunk
          proofs.push(`${reused} ${answer.split('\r\n\r\n')[1]}`)
        }
      }
      assert.deepEqual(proofs, [
        'false admin false',
        'true admin false',
        'false undefined true',
        'true undefined true',
      ])
    })
  }
})

describe('the transport', () => {
  it('opens a second connection when the first has as many streams as the server allows', async () => {
    const addresses = new Set<string>()
    await using server = await startServer(
      async ({ signal, headers }) => {
        addresses.add(String(headers['x-n']))
        return ok(
          (async function* () {
            yield text('x')
            await aborted(signal)
          })(),
        )
      },
      { limits: { streams: 5 } },
    )
    await using transport = connectTo(server)
    await transport.send(requestOf('/', { headers: { 'x-n': 'warm' } }))
    const watches = await Promise.all(
      Array.from({ length: 12 }, (_, i) => transport.send(requestOf('/', { headers: { 'x-n': String(i) } }))),
    )
    assert.equal(watches.length, 12)
    assert.equal(addresses.size, 13)
  })

  it('does not let a paused watch starve the others on its connection', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    await using server = await startServer(async ({ path, signal }) => {
      if (path === '/small') return ok(text('small'))
      return ok(
        (async function* () {
          while (!signal.aborted) yield chunk
        })(),
      )
    })
    await using transport = connectTo(server)
    const paused = await Promise.all(Array.from({ length: 5 }, () => transport.send(requestOf('/endless'))))
    await new Promise(resolve => setTimeout(resolve, 300))
    for (let i = 0; i < 3; i++)
      assert.equal(await bodyText(await transport.send(requestOf('/small'))), 'small')
    assert.equal(paused.length, 5)
  })

  it('closes a silent connection after an unanswered ping', async () => {
    const { createServer } = await import('node:net')
    await using server = await startServer(async ({ signal }) =>
      ok(
        (async function* () {
          yield text('x')
          await aborted(signal)
        })(),
      ),
    )
    let frozen = false
    const sockets = new Set<import('node:net').Socket>()
    const { connect } = await import('node:net')
    const proxy = createServer(client => {
      const upstream = connect(server.port, '127.0.0.1')
      sockets.add(client).add(upstream)
      client.on('data', data => !frozen && upstream.write(data)).on('error', () => {})
      upstream.on('data', data => !frozen && client.write(data)).on('error', () => {})
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as import('node:net').AddressInfo
    await using transport = createHttpTransport({
      server: `https://127.0.0.1:${port}`,
      tls: { ca: certificates.ca.certificate },
      timeouts: { pingAfter: 100, ping: 2_000 },
    })
    const watch = await transport.send(requestOf('/'))
    const chunks = (watch.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    await chunks.next()
    const next = chunks.next()
    const outcome = await Promise.race([
      next.catch(() => 'failed'),
      new Promise(resolve => setTimeout(resolve, 600, 'quiet')),
    ])
    assert.equal(outcome, 'quiet', 'a quiet but living connection stays')
    frozen = true
    await assert.rejects(next, error => isTransportError(error, 'ConnectionLost'))
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })

  it('falls back to HTTP/1.1 when the server does not offer HTTP/2, and supports plain HTTP', async () => {
    const { createServer } = await import('node:https')
    const { server: pair, ca } = certificates
    const old = createServer({ cert: pair.certificate, key: pair.key }, (message, response) => {
      response.end(`${message.httpVersion} ${message.url}`)
    })
    old.listen(0, '127.0.0.1')
    await once(old, 'listening')
    const { port } = old.address() as import('node:net').AddressInfo
    await using transport = createHttpTransport({
      server: `https://127.0.0.1:${port}/prefix/`,
      tls: { ca: ca.certificate },
    })
    assert.equal(await bodyText(await transport.send(requestOf('/a', { query: 'x=1' }))), '1.1 /prefix/a?x=1')
    assert.equal(await bodyText(await transport.send(requestOf('/b'))), '1.1 /prefix/b')
    await transport[Symbol.asyncDispose]()
    old.close()

    await using plain = await serve({ handler: async request => ok(text(request.path)) })
    await using overPlain = createHttpTransport({ server: plain.url })
    assert.equal(await bodyText(await overPlain.send(requestOf('/c'))), '/c')
  })

  it('keeps a program alive for a response, and not a moment longer', async () => {
    const { execFile } = await import('node:child_process')
    const { promisify } = await import('node:util')
    await using server = await startServer(async () => {
      await new Promise(resolve => setTimeout(resolve, 100))
      return ok(text('answer'))
    })
    for (const http2 of [true, false]) {
      const program = `
        import { createHttpTransport } from ${JSON.stringify(new URL('./client/http-transport.ts', import.meta.url).href)}
        const transport = createHttpTransport({ server: '${server.url}', tls: { insecure: true }, http2: ${http2} })
        const signal = new AbortController().signal
        const { body } = await transport.send({ method: 'GET', path: '/', query: '', headers: {}, signal })
        for await (const chunk of body) process.stdout.write(chunk)
      `
      const args = ['--input-type=module', '--eval', program]
      const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 10_000 })
      assert.equal(stdout, 'answer')
    }
  })

  it('gives up on a server that accepts connections and then sends nothing, or closes them', async () => {
    const { createServer } = await import('node:tls')
    const { server: pair, ca } = certificates
    for (const [act, code] of [
      [() => {}, 'Timeout'],
      [(socket: import('node:tls').TLSSocket) => socket.destroy(), 'ConnectionLost'],
    ] as const) {
      const sockets = new Set<import('node:tls').TLSSocket>()
      const silent = createServer(
        { cert: pair.certificate, key: pair.key, ALPNProtocols: ['h2'] },
        socket => {
          sockets.add(socket)
          socket.on('error', () => {})
          act(socket)
        },
      )
      silent.listen(0, '127.0.0.1')
      await once(silent, 'listening')
      const { port } = silent.address() as import('node:net').AddressInfo
      await using transport = createHttpTransport({
        server: `https://127.0.0.1:${port}`,
        tls: { ca: ca.certificate },
        timeouts: { connect: 300 },
      })
      await assert.rejects(
        transport.send(requestOf('/')),
        error => isTransportError(error, code) && !error.sent,
      )
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  })

  it('reports that the connection was refused', async () => {
    const server = await startServer(async () => ok())
    await server.close()
    for (const http2 of [true, false]) {
      await using transport = connectTo(server, { http2 })
      await assert.rejects(
        transport.send(requestOf('/')),
        error => isTransportError(error, 'ConnectFailed') && !error.sent,
      )
    }
  })
})
