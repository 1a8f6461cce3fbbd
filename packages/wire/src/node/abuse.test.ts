import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { connect as connectTls, type SecureVersion } from 'node:tls'
import { aborted, createSeededRandom, type Random } from '@coxswain/kit'
import type { Handler, WireRequest } from '../message.ts'
import { type HttpServer, serve } from './server/serve.ts'
import { createTestCertificates } from './test-support/certificates.ts'

const certificates = createTestCertificates()
const { server: pair, ca } = certificates

let seen: WireRequest[] = []
let handler: Handler = async () => ({ status: 200, headers: {}, body: Buffer.from('ok') })

/** Sends raw bytes and resolves with the response until the server closes, or `until` matches. */
async function exchange(port: number, raw: string, until?: RegExp): Promise<string> {
  const socket = connectTcp(port, '127.0.0.1')
  socket.on('error', () => {})
  let answer = ''
  socket.write(raw)
  for await (const chunk of socket) {
    answer += chunk
    if (until?.test(answer)) break
  }
  socket.destroy()
  return answer
}

/** Unlike `once`, resolves however it closes. */
const closed = (target: { on(event: 'close', listener: () => void): unknown }) =>
  new Promise<void>(resolve => target.on('close', resolve))

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

describe('malformed HTTP/1.1', () => {
  let server: HttpServer
  before(async () => {
    server = await serve({
      handler: request => {
        seen.push(request)
        return handler(request)
      },
      limits: { headerTimeout: 500, bodyTimeout: 500, stallTimeout: 500 },
    })
  })
  after(() => server.close({ grace: 0 }))

  const cases: [string, string][] = [
    ['two Host headers', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
    ['no Host header', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a malformed escape', 'GET /api/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    [
      'Content-Length and Transfer-Encoding',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'two different Content-Lengths',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
    ],
    [
      'an obfuscated Transfer-Encoding',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
    ],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n'],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n'],
    ['a target that is no path', 'GET nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['garbage', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ]
  for (const [what, raw] of cases) {
    it(`${what} is answered 400 and does not reach the handler`, async () => {
      seen = []
      assert.equal(statusOf(await exchange(server.port, raw)), 400)
      assert.equal(seen.length, 0)
    })
  }

  it('an absolute target is reduced to its path', async () => {
    seen = []
    const raw = 'GET http://other/api/../v1?x=%41 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    assert.equal(statusOf(await exchange(server.port, raw)), 200)
    assert.deepEqual([seen[0]?.path, seen[0]?.query], ['/api/../v1', 'x=%41'])
  })

  it('headers over the limit are answered 431', async () => {
    const long = `GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(1024 * 1024 + 100)}\r\n\r\n`
    assert.equal(statusOf(await exchange(server.port, long)), 431)
  })

  it('pipelined requests are answered in order', async () => {
    handler = async request => {
      if (request.path === '/slow') await new Promise(resolve => setTimeout(resolve, 50))
      async function* body() {
        yield Buffer.from(request.path)
      }
      return { status: 200, headers: {}, body: body() }
    }
    const raw = ['/slow', '/fast', '/last'].map(path => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')
    const answer = await exchange(server.port, raw, /last[\s\S]*0\r\n\r\n$/)
    assert.deepEqual(
      answer.match(/\/\w+/g)?.filter(path => path !== '/1'),
      ['/slow', '/fast', '/last'],
    )
    handler = async () => ({ status: 200, headers: {}, body: Buffer.from('ok') })
  })

  it('a client that sends its headers slowly is cut off', async () => {
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n')
    const timer = setInterval(() => socket.write('X: y\r\n'), 100)
    const start = performance.now()
    socket.resume()
    await closed(socket)
    clearInterval(timer)
    assert.ok(performance.now() - start < 20_000)
  })

  it('a silent client is cut off', async () => {
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.resume()
    await closed(socket)
  })

  it('a client that sends its body slowly is cut off, and the handler never runs', async () => {
    seen = []
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx')
    const timer = setInterval(() => socket.write('x'), 100)
    socket.resume()
    await closed(socket)
    clearInterval(timer)
    assert.equal(seen.length, 0)
  })

  it('an incomplete body is rejected', async () => {
    seen = []
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n')
    await new Promise(resolve => setTimeout(resolve, 50))
    socket.destroy()
    await new Promise(resolve => setTimeout(resolve, 50))
    assert.equal(seen.length, 0)
  })

  it('a client that does not read its stream takes little memory and is cut off', async () => {
    let produced = 0
    const ended = Promise.withResolvers<void>()
    handler = async ({ signal }) => {
      const chunk = Buffer.alloc(64 * 1024)
      async function* body() {
        try {
          while (!signal.aborted) {
            produced += chunk.length
            yield chunk
          }
        } finally {
          ended.resolve()
        }
      }
      return { status: 200, headers: {}, body: body() }
    }
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await ended.promise
    socket.destroy()
    assert.ok(produced < 32 * 1024 * 1024, `${produced} bytes were produced without a reader`)
  })
})

describe('noise', () => {
  /** Copies of `valid` with a few bytes changed, dropped or repeated. */
  function mutate(valid: Buffer, random: Random): Buffer {
    let bytes = Buffer.from(valid)
    for (let n = random.below(6) + 1; n > 0; n--) {
      const at = random.below(bytes.length)
      const end = at + random.below(8)
      const kind = random.below(3)
      if (kind === 0) bytes[at] = random.below(256)
      else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
      else bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
      if (bytes.length === 0) return Buffer.from('x')
    }
    return bytes
  }

  const post = 'POST /api/v1/pods?x=%41&y HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello'
  const chunked = 'PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
  /** Preface, empty SETTINGS, HEADERS of a GET with end of stream (static table: GET, https, /, :authority a). */
  const http2 = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    Buffer.from('000000040000000000', 'hex'),
    Buffer.from('0000060105000000018287844101613b'.slice(0, 30), 'hex'),
  ])

  it('of every kind does not crash the server', async () => {
    const random = createSeededRandom(5)
    const answering: Handler = async request => ({
      status: 200,
      headers: {},
      body: Buffer.from(request.path, 'latin1'),
    })
    await using plain = await serve({ handler: answering, limits: { headerTimeout: 300, bodyTimeout: 300 } })
    await using secure = await serve({
      handler: answering,
      tls: { cert: pair.certificate, key: pair.key },
      limits: { headerTimeout: 300, bodyTimeout: 300 },
    })
    const attack = async (bytes: Buffer, protocol?: string) => {
      const socket = protocol
        ? connectTls({ port: secure.port, host: '127.0.0.1', ca: ca.certificate, ALPNProtocols: [protocol] })
        : connectTcp(plain.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.resume()
      socket.write(bytes)
      await new Promise(resolve => setTimeout(resolve, 20))
      socket.destroy()
    }
    for (let round = 0; round < 40; round++) {
      const attacks = [post, chunked].flatMap(valid => [
        attack(mutate(Buffer.from(valid), random)),
        attack(mutate(Buffer.from(valid), random), 'http/1.1'),
      ])
      await Promise.all([...attacks, ...Array.from({ length: 4 }, () => attack(mutate(http2, random), 'h2'))])
    }
    assert.equal(
      statusOf(await exchange(plain.port, 'GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')),
      200,
    )
    const session = connectHttp2(secure.url, { ca: ca.certificate })
    const [headers] = await once(session.request({ ':path': '/' }), 'response')
    assert.equal(headers[':status'], 200)
    session.destroy()
  })
})

describe('malformed TLS and HTTP/2', () => {
  let server: HttpServer
  before(async () => {
    handler = async () => ({ status: 200, headers: {}, body: Buffer.from('ok') })
    server = await serve({
      handler: request => {
        seen.push(request)
        return handler(request)
      },
      tls: { cert: pair.certificate, key: pair.key, clientCa: ca.certificate },
      limits: { bodyTimeout: 500, idleTimeout: 500 },
    })
  })
  after(() => server.close({ grace: 0 }))
  const connect = () => {
    const session = connectHttp2(server.url, { ca: ca.certificate })
    session.on('error', () => {})
    return session
  }

  it('rejects TLS 1.1', async () => {
    const socket = connectTls({
      port: server.port,
      host: '127.0.0.1',
      ca: ca.certificate,
      minVersion: 'TLSv1.1' as SecureVersion,
      maxVersion: 'TLSv1.1' as SecureVersion,
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    const [error] = await once(socket, 'error')
    assert.match(String(error), /alert protocol version|no protocols available/i)
  })

  it('answers a malformed escape with 400', async () => {
    const session = connect()
    const stream = session.request({ ':path': '/%zz' })
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 400)
    session.destroy()
  })

  it('survives a client that resets a thousand streams, and serves the next one', async () => {
    const session = connect()
    for (let i = 0; i < 1000; i++) {
      const stream = session.request({ ':path': '/' })
      stream.on('error', () => {})
      stream.close(8)
    }
    await new Promise(resolve => setTimeout(resolve, 100))
    session.destroy()
    const next = connect()
    const [headers] = await once(next.request({ ':path': '/' }), 'response')
    assert.equal(headers[':status'], 200)
    next.destroy()
  })

  it('a body that never arrives times out, and an incomplete one is rejected', async () => {
    seen = []
    const session = connect()
    const slow = session.request({ ':path': '/half', ':method': 'POST' }, { endStream: false })
    slow.on('error', () => {})
    slow.write('half')
    await closed(slow)
    const cut = session.request({ ':path': '/half', ':method': 'POST' }, { endStream: false })
    cut.on('error', () => {})
    cut.write('half')
    await new Promise(resolve => setTimeout(resolve, 50))
    cut.destroy(new Error('gone'))
    await new Promise(resolve => setTimeout(resolve, 50))
    // Those of the test before may still be on their way.
    assert.equal(seen.filter(({ path }) => path === '/half').length, 0)
    session.destroy()
  })

  it('closes a connection without requests, but not one with a quiet watch', async () => {
    handler = async ({ signal }) => {
      async function* body() {
        yield Buffer.from('x')
        await aborted(signal)
      }
      return { status: 200, headers: {}, body: body() }
    }
    const busy = connect()
    const watch = busy.request({ ':path': '/' })
    watch.resume()
    await once(watch, 'response')
    const idle = connect()
    await once(idle, 'connect')
    await closed(idle)
    assert.equal(busy.closed, false)
    busy.destroy()
  })

  it('survives plain text on the TLS port', async () => {
    const socket: Socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    socket.resume()
    await closed(socket)
    const session = connect()
    handler = async () => ({ status: 200, headers: {} })
    const [headers] = await once(session.request({ ':path': '/' }), 'response')
    assert.equal(headers[':status'], 200)
    session.destroy()
  })
})
