import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { discardBody, readBody } from '../body.ts'
import { isTransportError, type TransportErrorCode } from '../errors.ts'
import { type Http1Request, sendHttp1 } from './exchange.ts'
import { scriptStream } from './test-support/scripted-stream.ts'

function request(more: Partial<Http1Request> = {}): Http1Request {
  const { signal } = new AbortController()
  return { method: 'GET', target: '/x?y=1', headers: { host: 'a' }, signal, ...more }
}

async function answerTo(chunks: readonly string[], more: Partial<Http1Request> = {}) {
  const stream = scriptStream(chunks)
  const { status, headers, body } = await sendHttp1(stream, request(more))
  const text = new TextDecoder().decode(await readBody(body))
  return { status, headers, text, stream }
}

const code = (expected: TransportErrorCode) => (error: unknown) => isTransportError(error, expected)

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of texts) yield new TextEncoder().encode(text)
}

describe('an HTTP/1.1 exchange', () => {
  it('reads a body by its length, by its chunks, and up to the end of the connection', async () => {
    const length = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nx-a: 2\r\n\r\nhello'
    const chunked =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nT: x\r\n\r\n'
    const close = 'HTTP/1.0 200 OK\r\n\r\nhello'
    for (const answer of [length, chunked, close]) {
      assert.equal((await answerTo([answer])).text, 'hello')
      const { text, stream } = await answerTo([...answer]) // one byte per chunk
      assert.equal(text, 'hello')
      assert.ok(stream.isDestroyed())
    }
    assert.deepEqual((await answerTo([length])).headers['x-a'], ['1', '2'])
  })

  it('skips interim responses, and has no body where there is none', async () => {
    const { status, text } = await answerTo(['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\nX'])
    assert.deepEqual([status, text], [204, ''])
    const head = await answerTo(['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'], { method: 'HEAD' })
    assert.equal(head.text, '')
    await assert.rejects(answerTo(['HTTP/1.1 100 C\r\n\r\n'.repeat(7)]), code('BadMessage'))
  })

  it('sends the request with its own connection and framing headers', async () => {
    const headers = { host: 'a', 'content-length': '99', 'transfer-encoding': 'x', connection: 'upgrade' }
    const { stream } = await answerTo(['HTTP/1.1 204 A\r\n\r\n'], { headers, upgrade: false })
    assert.equal(stream.heard(), 'GET /x?y=1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    const post = await answerTo(['HTTP/1.1 204 A\r\n\r\n'], { method: 'POST' })
    assert.match(post.stream.heard(), /content-length: 0\r\n/)
  })

  it('streams a body in chunks, or by its length where that is known', async () => {
    const put = async (more: Partial<Http1Request>) => {
      const sent = Promise.withResolvers<void>()
      const body = (async function* () {
        yield* pieces('ab', 'cde')
        sent.resolve()
      })()
      const stream = scriptStream([
        sent.promise,
        Promise.resolve(),
        'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
      ])
      const { body: answer } = await sendHttp1(stream, request({ method: 'PUT', body, ...more }))
      await readBody(answer)
      return stream.heard()
    }
    assert.match(await put({}), /transfer-encoding: chunked\r\n.*\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n$/)
    assert.match(await put({ bodyLength: 5 }), /content-length: 5\r\n.*\r\n\r\nabcde$/)
  })

  it('prevents request smuggling', async () => {
    const bad: Partial<Http1Request>[] = [
      { method: 'GET / HTTP/1.1\r\nX: y\r\n\r\nGET' },
      { target: '/x HTTP/1.1\r\nX: y' },
      { target: '/\u00e9' },
      { headers: { host: 'a', 'x-a': 'b\r\nEvil: 1' } },
      { headers: { host: 'a', 'x-a\r\nEvil': 'b' } },
      { headers: { host: 'a', 'x-a': 'b\0' } },
    ]
    for (const more of bad) {
      const stream = scriptStream([])
      await assert.rejects(sendHttp1(stream, request(more)), code('BadMessage'))
      assert.equal(stream.heard(), '')
      assert.ok(stream.isDestroyed())
    }
  })

  it('does not let a body be longer or shorter than its length', async () => {
    for (const bodyLength of [2, 9]) {
      const stream = scriptStream([], { stays: true })
      const body = pieces('abc', 'def')
      await assert.rejects(
        sendHttp1(stream, request({ method: 'PUT', body, bodyLength })),
        code('ConnectionLost'),
      )
      assert.ok(stream.isDestroyed())
      assert.equal(stream.heard().endsWith('\r\n\r\n'), bodyLength === 2, 'nothing beyond what was declared')
    }
  })

  it('rejects ambiguous responses', async () => {
    const heads = [
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: +5\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n',
      'HTTP/1.1 200 OK\r\nbad header: 5\r\n\r\n',
      'HTTP/1.1 200 OK\r\n folded\r\n\r\n',
      'HTTP/2 200 OK\r\n\r\n',
      'SSH-2.0-x\r\n',
      'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    ]
    for (const head of heads) await assert.rejects(answerTo([head]), code('BadMessage'), head)
    const chunks = ['zz\r\n', '5\r\nhelloX\r\n', '-1\r\n', 'fffffffffffffff\r\n']
    for (const chunk of chunks) {
      const answer = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`
      await assert.rejects(answerTo([answer]), code('BadMessage'), chunk)
    }
  })

  it('reports a connection that ends too early', async () => {
    const cut = [
      '',
      'HTTP/1.1 20',
      'HTTP/1.1 200 OK\r\ncontent-len',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n',
    ]
    for (const answer of cut) await assert.rejects(answerTo([answer]), code('ConnectionLost'), answer)
  })

  it('closes the connection when the response is not read, and when the client aborts', async () => {
    const left = scriptStream(['HTTP/1.1 200 OK\r\n\r\nx'], { stays: true })
    const { body } = await sendHttp1(left, request())
    await discardBody(body)
    assert.ok(left.isDestroyed())

    const aborter = new AbortController()
    const silent = scriptStream([], { stays: true })
    const waiting = sendHttp1(silent, request({ signal: aborter.signal }))
    aborter.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    assert.ok(silent.isDestroyed())
  })

  it('stops sending a body when the response is complete', async () => {
    const stream = scriptStream(['HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n'])
    let pulled = 0
    const endless = (async function* () {
      for (;;) {
        pulled++
        yield* pieces('x')
        await new Promise(resolve => setImmediate(resolve))
      }
    })()
    const { status, body } = await sendHttp1(stream, request({ method: 'PUT', body: endless }))
    assert.equal(status, 413)
    await readBody(body)
    const before = pulled
    await new Promise(resolve => setTimeout(resolve, 20))
    assert.ok(pulled <= before + 1)
  })

  it('hands the connection over after an upgrade, with the bytes after the head', async () => {
    const stream = scriptStream(['HTTP/1.1 101 Switching Protocols\r\nUpgrade: toy\r\n\r\nfirst', ' second'])
    const headers = { host: 'a', upgrade: 'toy', connection: 'x-secret' }
    const { status, upgraded, body } = await sendHttp1(stream, request({ upgrade: true, headers }))
    assert.equal(status, 101)
    assert.equal(body, undefined)
    assert.match(stream.heard(), /upgrade: toy\r\nconnection: Upgrade\r\n\r\n$/)
    assert.equal(new TextDecoder().decode(await readBody(upgraded!.data)), 'first second')
    assert.ok(!stream.isDestroyed())
    upgraded!.destroy()
    assert.ok(stream.isDestroyed())
  })
})
