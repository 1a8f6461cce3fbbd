import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import type { Handler } from '../../message.ts'
import { createTestCertificates } from '../test-support/certificates.ts'
import { BodyBudget } from './body-budget.ts'
import { BodyBuffer } from './body-buffer.ts'
import { type ServeOptions, serve } from './serve.ts'

const { server: pair, ca } = createTestCertificates()
const encoder = new TextEncoder()

/** Receives bodies of `/read`, and rejects all other requests by their headers. */
const reading: Handler = async request => {
  if (request.path !== '/read') return { status: 401, headers: {}, body: encoder.encode('who are you?') }
  const body = await request.receiveBody?.('me')
  const text = typeof body === 'string' ? body : `${body?.length ?? 'none'}`
  return { status: typeof body === 'string' ? 413 : 200, headers: {}, body: encoder.encode(text) }
}

const open = (options: Partial<ServeOptions> = {}) =>
  serve({ handler: reading, defersBodies: true, ...options })

function dial(port: number): Socket & { heard: string } {
  const socket = Object.assign(connectTcp(port, '127.0.0.1'), { heard: '' })
  socket.on('error', () => {})
  socket.on('data', chunk => {
    socket.heard += chunk
  })
  return socket
}

async function hear(socket: Socket & { heard: string }, pattern: RegExp): Promise<void> {
  while (!pattern.test(socket.heard)) {
    assert.ok(!socket.destroyed, `closed after ${JSON.stringify(socket.heard)}`)
    await Promise.race([once(socket, 'data'), closed(socket)])
  }
}

/** Unlike `once`, resolves however it closes. */
const closed = (socket: Socket) => new Promise<void>(resolve => socket.on('close', () => resolve()))

const post = (path: string, rest: string) => `POST ${path} HTTP/1.1\r\nHost: a\r\n${rest}`

describe('bodies that the handler receives', () => {
  it('arrive complete, chunked or not, and the connection continues', async () => {
    await using server = await open()
    const socket = dial(server.port)
    socket.write(post('/read', `Content-Length: 5\r\n\r\nhello`))
    await hear(socket, /\r\n\r\n5$/)
    socket.heard = ''
    socket.write(post('/read', 'Transfer-Encoding: chunked\r\n\r\n'))
    for (let i = 0; i < 100; i++) socket.write('1\r\nx\r\n')
    socket.write('0\r\n\r\n')
    await hear(socket, /\r\n\r\n100$/)
    socket.heard = ''
    socket.write(post('/read', 'Content-Length: 0\r\n\r\n'))
    await hear(socket, /\r\n\r\nnone$/)
    socket.destroy()
  })

  it('are not read where the headers are enough to reject', async () => {
    await using server = await open()
    const socket = dial(server.port)
    const long = 3 * 1024 ** 2
    socket.write(post('/other', `Content-Length: ${long}\r\n\r\n`))
    // The response arrives before the body does.
    await hear(socket, /^HTTP\/1\.1 401 .*who are you\?$/s)
    // The body may exceed what the client announced a little: the connection continues.
    const next = dial(server.port)
    next.write(post('/other', `Content-Length: 1000\r\n\r\n${'x'.repeat(1000)}`))
    await hear(next, /who are you\?$/)
    next.heard = ''
    next.write(post('/read', 'Content-Length: 1\r\n\r\nx'))
    await hear(next, /\r\n\r\n1$/)
    next.destroy()
    // An endless body is not read to its end.
    const closing = closed(socket)
    socket.write(Buffer.alloc(long - 1))
    await closing
  })

  it('are requested only then, when the client waits for 100 Continue', async () => {
    await using server = await open()
    const socket = dial(server.port)
    socket.write(post('/read', 'Content-Length: 5\r\nExpect: 100-continue\r\n\r\n'))
    await hear(socket, /^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    socket.write('hello')
    await hear(socket, /\r\n\r\n5$/)
    socket.destroy()
    for (const [path, length, status] of [
      ['/other', 5, 401],
      ['/read', 4 * 1024 ** 2, 413],
    ] as const) {
      const refused = dial(server.port)
      refused.write(post(path, `Content-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`))
      await closed(refused)
      assert.match(refused.heard, new RegExp(`^HTTP/1\\.1 ${status} .*connection: close`, 'is'))
    }
  })

  it('are too large at the limit, chunked or not', async () => {
    await using server = await open({ limits: { bodyBytes: 1000 } })
    const socket = dial(server.port)
    socket.write(post('/read', `Content-Length: 1001\r\n\r\n${'x'.repeat(1001)}`))
    await hear(socket, /413 .*too large$/s)
    socket.heard = ''
    socket.write(post('/read', `Transfer-Encoding: chunked\r\n\r\n3e9\r\n${'x'.repeat(1001)}\r\n0\r\n\r\n`))
    await hear(socket, /413 .*too large$/s)
    socket.destroy()
  })

  it('that never end hold up no other request, and time out', async () => {
    const failure = Promise.withResolvers<{ error: unknown; aborted: boolean }>()
    await using server = await open({
      limits: { bodyTimeout: 500 },
      handler: async request => {
        try {
          return await reading(request)
        } catch (error) {
          failure.resolve({ error, aborted: request.signal.aborted })
          throw error
        }
      },
    })
    const slow = dial(server.port)
    slow.write(post('/read', 'Content-Length: 1000\r\n\r\nx'))
    const timer = setInterval(() => slow.write('x'), 50)
    const other = dial(server.port)
    other.write(post('/read', 'Content-Length: 1\r\n\r\nx'))
    await hear(other, /\r\n\r\n1$/)
    await closed(slow)
    clearInterval(timer)
    const { error, aborted } = await failure.promise
    assert.match(String(error), /the client has disconnected/)
    assert.ok(aborted, 'the handler sees that the client has disconnected')
    other.destroy()
  })

  it('arrive over HTTP/2, and rejected ones are not waited for', async () => {
    await using server = await open({ tls: { cert: pair.certificate, key: pair.key } })
    const session = connectHttp2(server.url, { ca: ca.certificate })
    session.on('error', () => {})
    const read = session.request({ ':path': '/read', ':method': 'POST' })
    read.end('hello')
    let text = ''
    for await (const chunk of read) text += chunk
    assert.equal(text, '5')
    // None of these ever ends.
    const streams = Array.from({ length: 50 }, () =>
      session.request({ ':path': '/other', ':method': 'POST' }, { endStream: false }),
    )
    const statuses = await Promise.all(
      streams.map(async stream => {
        stream.on('error', () => {})
        stream.write(Buffer.alloc(100_000))
        const [headers] = await once(stream, 'response')
        stream.resume()
        await once(stream, 'close')
        return headers[':status']
      }),
    )
    assert.deepEqual(new Set(statuses), new Set([401]))
    session.destroy()
  })

  it('share one budget', async () => {
    const owners = ['a', 'b']
    const held = Promise.withResolvers<void>()
    const handler: Handler = async request => {
      const body = await request.receiveBody!(owners[Number(request.query)]!)
      if (typeof body !== 'string' && request.path === '/hold') await held.promise
      return { status: 200, headers: {}, body: encoder.encode(typeof body === 'string' ? body : 'taken') }
    }
    await using server = await open({ handler, limits: { bufferedBytes: 200_000 } })
    const body = `Content-Length: 60000\r\n\r\n${'x'.repeat(60_000)}`
    const first = dial(server.port)
    first.write(post('/hold?0', body))
    const second = dial(server.port)
    const ask = async (path: string, answer: string) => {
      second.heard = ''
      second.write(post(path, body))
      await hear(second, new RegExp(`\r\n\r\n${answer}$`))
    }
    // An owner that holds as much as is left gets no more; others do.
    do await ask('/try?0', '(?:taken|no room)')
    while (!second.heard.endsWith('no room'))
    await ask('/try?1', 'taken')
    held.resolve()
    await hear(first, /taken$/)
    await ask('/try?0', 'taken')
    first.destroy()
    second.destroy()
  })

  it('of handlers that do not receive them share it too', async () => {
    const handler: Handler = async ({ body }) => ({
      status: 200,
      headers: {},
      body: encoder.encode(`${body?.length}`),
    })
    await using server = await serve({ handler, limits: { bufferedBytes: 1000 } })
    const socket = dial(server.port)
    socket.write(post('/', `Content-Length: 600\r\n\r\n${'x'.repeat(600)}`))
    await hear(socket, /^HTTP\/1\.1 429 .*retry-after: 1.*later\.\n$/is)
    socket.heard = ''
    socket.write(post('/', 'Content-Length: 5\r\n\r\nhello'))
    await hear(socket, /\r\n\r\n5$/)
    socket.destroy()
  })
})

describe('a budget of bytes', () => {
  it('leaves an owner as much as is left free', () => {
    const budget = new BodyBudget(100)
    const takeAll = (owner: string) => {
      let taken = 0
      while (budget.take(owner, 1)) taken++
      return taken
    }
    assert.equal(takeAll('a'), 50)
    assert.equal(takeAll('b'), 25)
    assert.ok(budget.take('c', 10))
    budget.give('a', 50)
    budget.give('b', 25)
    budget.give('c', 10)
    assert.equal(budget.used, 0)
    assert.equal(takeAll('b'), 50)
  })
})

describe('a body buffer', () => {
  const options = { owner: 'a', limit: 3 * 1024 ** 2, declared: undefined }

  it('holds a body of single bytes in little more than its length', () => {
    const budget = new BodyBudget(100 * 1024 ** 2)
    const buffer = new BodyBuffer({ ...options, budget })
    const read = Buffer.alloc(64 * 1024, 'x')
    for (let i = 0; i < 200_000; i++) assert.equal(buffer.add(read.subarray(0, 1)), undefined)
    assert.equal(buffer.bytes.length, 200_000)
    assert.ok(buffer.bytes.every(byte => byte === 0x78))
    assert.ok(budget.used <= 2 * 200_000)
    buffer.release()
    assert.equal(budget.used, 0)
  })

  it('accepts no more than was announced, and no more than the limit', () => {
    const budget = new BodyBudget(100 * 1024 ** 2)
    const buffer = new BodyBuffer({ ...options, limit: 100, declared: 50, budget })
    for (let i = 0; i < 50; i++) buffer.add(new Uint8Array(1).fill(i))
    assert.equal(budget.used, 50)
    assert.deepEqual(
      [...buffer.bytes],
      Array.from({ length: 50 }, (_, i) => i),
    )
    assert.equal(buffer.add(new Uint8Array(51)), 'too large')
  })
})
