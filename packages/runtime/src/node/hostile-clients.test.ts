import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { request as requestHttps } from 'node:https'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'
import { createHttpTransport } from '@coxswain/wire/node'
import { createHealthHandler } from '../index.ts'
import { CertificateRotation } from '../webhook/certificates.ts'
import { maxReviewBytes } from '../webhook/review.ts'
import { createCertificateMaker, createWebhookListener, type Endpoints, serveEndpoint } from './index.ts'

const env = createRealEnv()
const ok = async () => ({ ok: true, checks: [] })
const health = createHealthHandler({ checkHealth: ok, checkReady: ok })
const get = 'GET /healthz HTTP/1.1\r\nHost: a\r\n'

const dial = (port: number): Socket => connect(port, '127.0.0.1').on('error', () => {})

/** All that the server sends until the connection is closed or reset. */
const rest = (socket: Socket): Promise<string> =>
  new Promise(resolve => {
    let text = ''
    socket.setEncoding('latin1').on('data', chunk => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
  })

/** Whether it still answers. */
async function answers(port: number): Promise<boolean> {
  const socket = dial(port)
  socket.write(`${get}Connection: close\r\n\r\n`)
  return (await rest(socket)).startsWith('HTTP/1.1 200')
}

describe('an endpoint of an operator', () => {
  let plain: Endpoints
  let secure: Endpoints
  before(async () => {
    const limits = { headerTimeout: 300, bodyTimeout: 300, idleTimeout: 300 }
    plain = await serveEndpoint(health, { env, port: 0, limits })
    secure = await serveEndpoint(health, { env, port: 0, limits, tls: {} })
  })
  after(async () => {
    await plain[Symbol.asyncDispose]()
    await secure[Symbol.asyncDispose]()
  })

  it('cuts off slow headers, silent clients and unfinished handshakes', async () => {
    const slow = dial(plain.port)
    slow.write(get)
    const drip = setInterval(() => slow.write('X: y\r\n'), 50)
    const silent = dial(plain.port)
    const handshake = dial(secure.port)
    handshake.write('\x16\x03\x01')
    await Promise.all([rest(slow), rest(silent), rest(handshake)])
    clearInterval(drip)
    assert.equal(await answers(plain.port), true)
  })

  it('answers 431 to headers of more than 64 KiB', async () => {
    const socket = dial(plain.port)
    socket.write(`${get}X: ${'y'.repeat(65 * 1024)}\r\n\r\n`)
    assert.match(await rest(socket), /^HTTP\/1\.1 431 /)
    assert.equal(await answers(plain.port), true)
  })

  it('closes a thousand idle connections, and serves others meanwhile', async () => {
    const idle = Array.from({ length: 1_000 }, () => dial(plain.port))
    const closed = Promise.all(idle.map(rest))
    for (const socket of idle.slice(0, 500)) socket.write(`${get}\r\n`)
    assert.equal(await answers(plain.port), true)
    await closed
  })

  it('does not wait for a body that never ends, and keeps none of one that is too large', async () => {
    const endless = dial(plain.port)
    endless.write(`POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx`)
    assert.doesNotMatch(await rest(endless), /^HTTP\/1\.1 2/)
    const large = dial(plain.port)
    large.write('POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const pour = setInterval(() => large.write(chunk), 1)
    await rest(large)
    clearInterval(pour)
    assert.equal(await answers(plain.port), true)
  })

  it('answers pipelined requests in order', async () => {
    const socket = dial(plain.port)
    socket.write(`${get}\r\n`.repeat(200))
    socket.write('GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const codes = [...(await rest(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code)
    assert.deepEqual(codes, [...Array.from({ length: 200 }, () => '200'), '404'])
  })

  it('closes idle HTTP/2 sessions, and limits their streams', async () => {
    const session = connectHttp2(secure.url, { rejectUnauthorized: false })
    session.on('error', () => {})
    const closed = new Promise<void>(resolve => session.on('close', resolve))
    await new Promise<void>(resolve => session.on('remoteSettings', () => resolve()))
    assert.ok((session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY) <= 100)
    await closed
  })
})

/** The status of a POST of so many bytes over HTTP/1.1. */
async function postHttp1(url: string, bytes: number, length: 'announced' | 'chunked'): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const sent = requestHttps(
    `${url}/validate`,
    {
      method: 'POST',
      agent: false,
      rejectUnauthorized: false,
      headers: length === 'announced' ? { 'content-length': bytes } : { 'transfer-encoding': 'chunked' },
    },
    answer => resolve(answer.resume().statusCode ?? 0),
  )
  sent.on('error', reject)
  for (let left = bytes; left > 0; left -= 65_536) sent.write(new Uint8Array(Math.min(left, 65_536)))
  sent.end()
  return await promise
}

describe('the webhook server of an operator', () => {
  const ca = async (hosts: readonly string[]) =>
    await new CertificateRotation({
      maker: createCertificateMaker(env.random),
      ...env,
      hosts,
      name: 'hooks',
    }).ensure()

  it('takes reviews up to their limit, and answers larger ones 413', async () => {
    const sizes: (number | 'too large')[] = []
    const handler: Handler = async ({ body, bodyTooLarge }) => {
      sizes.push(bodyTooLarge ? 'too large' : (body?.length ?? 0))
      return { status: bodyTooLarge ? 413 : 200, headers: {}, body: new Uint8Array() }
    }
    const stop = new AbortController()
    using _stop = { [Symbol.dispose]: () => stop.abort() }
    const listener = createWebhookListener({ ...env, port: 0 })
    const address = await listener.listen(handler, stop.signal, (await ca(listener.hosts)).server)
    assert.ok('url' in address)
    await using transport = createHttpTransport({ server: address.url, tls: { insecure: true } })
    const post = async (bytes: number): Promise<number> => {
      const request = {
        method: 'POST',
        path: '/validate',
        query: '',
        headers: {},
        body: new Uint8Array(bytes),
      }
      return (await transport.send({ ...request, signal: stop.signal })).status
    }
    assert.equal(await post(maxReviewBytes), 200)
    assert.equal(await post(maxReviewBytes + 1), 413)
    assert.deepEqual(sizes.splice(0), [maxReviewBytes, 'too large'])
    // Over HTTP/1.1, with the length announced and in chunks.
    for (const length of ['announced', 'chunked'] as const) {
      assert.equal(await postHttp1(address.url, maxReviewBytes, length), 200)
      assert.equal(await postHttp1(address.url, maxReviewBytes + 1, length), 413)
      assert.deepEqual(sizes.splice(0), [maxReviewBytes, 'too large'])
    }
  })
})
