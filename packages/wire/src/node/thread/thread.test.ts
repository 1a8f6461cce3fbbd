import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel, Worker } from 'node:worker_threads'
import { aborted, createRealEnv } from '@coxswain/kit'
import { readBody } from '../../body.ts'
import { isTransportError } from '../../errors.ts'
import { createInProcessTransport } from '../../in-process.ts'
import type { Handler, Transport, WireRequest, WireResponse } from '../../message.ts'
import { serveThread } from './serve-thread.ts'
import { createThreadTransport } from './thread-transport.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const textOf = async (response: WireResponse) => new TextDecoder().decode(await readBody(response.body))

const requestOf = (init: Partial<WireRequest> = {}): WireRequest => ({
  method: 'GET',
  path: '/x',
  query: '',
  headers: {},
  signal: new AbortController().signal,
  ...init,
})

/** Both ends on this thread: messages are copied and asynchronous all the same. */
function connectTo(handler: Handler): Transport {
  const { port1, port2 } = new MessageChannel()
  serveThread(port1, createInProcessTransport(handler, createRealEnv()))
  return createThreadTransport(port2)
}

const streamOf = (response: WireResponse) =>
  (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()

describe('a transport between threads', () => {
  it('passes requests and responses', async () => {
    let seen: WireRequest | undefined
    await using transport = connectTo(async request => {
      seen = request
      return { status: 201, headers: { a: 'b' }, body: [bytes('one '), bytes('two')] }
    })
    const body = bytes('..in..').subarray(2, 4)
    const response = await transport.send(
      requestOf({ method: 'POST', query: 'q=1', headers: { c: 'd' }, body }),
    )
    assert.deepEqual([response.status, response.headers], [201, { a: 'b' }])
    assert.equal(await textOf(response), 'one two')
    assert.deepEqual([seen?.method, seen?.path, seen?.query, seen?.headers.c], ['POST', '/x', 'q=1', 'd'])
    assert.equal(new TextDecoder().decode(seen?.body), 'in')
    assert.equal(seen?.body?.buffer.byteLength, 2)
  })

  it('matches many concurrent responses to their requests', async () => {
    await using transport = connectTo(async ({ path }) => {
      await sleep(Number(path.slice(1)) % 7)
      return { status: 200, headers: {}, body: bytes(path) }
    })
    const paths = Array.from({ length: 200 }, (_, index) => `/${index}`)
    const answers = await Promise.all(
      paths.map(async path => await textOf(await transport.send(requestOf({ path })))),
    )
    assert.deepEqual(answers, paths)
  })

  it('streams, and holds back a sender whose reader pauses', async () => {
    let made = 0
    await using transport = connectTo(async () => {
      async function* body() {
        for (; made < 500; made++) yield bytes(`${made},`)
      }
      return { status: 200, headers: {}, body: body() }
    })
    const chunks = streamOf(await transport.send(requestOf()))
    assert.equal(String(Buffer.from((await chunks.next()).value!)), '0,')
    await sleep(30)
    assert.ok(made < 100, `${made} chunks were made for a reader that took one`)
    let read = 1
    while (!(await chunks.next()).done) read++
    assert.equal(read, 500)
  })

  it('notifies each side when the other has left', async () => {
    const seen: string[] = []
    await using transport = connectTo(async ({ path, signal }) => {
      async function* body() {
        yield bytes('x')
        await aborted(signal)
        seen.push(path)
      }
      return { status: 200, headers: {}, body: body() }
    })
    const abort = new AbortController()
    const given = streamOf(await transport.send(requestOf({ path: '/aborted', signal: abort.signal })))
    await given.next()
    const reason = new Error('enough')
    abort.abort(reason)
    await assert.rejects(given.next(), error => error === reason)
    const left = await transport.send(requestOf({ path: '/left' }))
    for await (const _ of left.body as AsyncIterable<Uint8Array>) break
    for (let turn = 0; seen.length < 2 && turn < 4_000; turn++) await sleep(5)
    assert.deepEqual(seen, ['/aborted', '/left'])
  })

  it('gives up at once on a request that its client has aborted', async () => {
    await using transport = connectTo(async ({ signal }) => {
      await aborted(signal)
      return { status: 200, headers: {} }
    })
    const abort = new AbortController()
    const reason = new Error('enough')
    const answer = assert.rejects(
      transport.send(requestOf({ signal: abort.signal })),
      error => error === reason,
    )
    abort.abort(reason)
    await answer
    await assert.rejects(transport.send(requestOf({ signal: abort.signal })), error => error === reason)
  })

  it('is a lost connection when the handler or one of its streams fails', async () => {
    await using transport = connectTo(async ({ path }) => {
      if (path === '/broken') throw new Error('bug')
      async function* body() {
        yield bytes('half')
        throw new Error('bug')
      }
      return { status: 200, headers: {}, body: body() }
    })
    const isLost = (error: unknown) => isTransportError(error, 'ConnectionLost')
    await assert.rejects(transport.send(requestOf({ path: '/broken' })), isLost)
    const chunks = streamOf(await transport.send(requestOf()))
    await chunks.next()
    await assert.rejects(chunks.next(), isLost)
  })

  it('fails requests in flight when it is closed, and aborts them at the server', async () => {
    const arrived = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    const transport = connectTo(async ({ signal }) => {
      arrived.resolve()
      await aborted(signal)
      stopped.resolve()
      return { status: 200, headers: {} }
    })
    const isClosed = (error: unknown) => isTransportError(error, 'Closed')
    const answer = assert.rejects(transport.send(requestOf()), isClosed)
    await arrived.promise
    await transport[Symbol.asyncDispose]()
    await answer
    await stopped.promise
    await assert.rejects(transport.send(requestOf()), isClosed)
  })

  it('aborts the requests of a thread that has ended', async () => {
    const { port1, port2 } = new MessageChannel()
    const arrived = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    const handler: Handler = async ({ signal }) => {
      arrived.resolve()
      await aborted(signal)
      stopped.resolve()
      return { status: 200, headers: {} }
    }
    serveThread(port1, createInProcessTransport(handler, createRealEnv()))
    const script = `
      const { port } = require('node:worker_threads').workerData
      const request = { method: 'GET', path: '/', query: '', headers: {} }
      port.postMessage({ messages: [{ id: 1, request }], lengths: [-1], bytes: new Uint8Array() })
      port.ref()`
    const worker = new Worker(script, { eval: true, workerData: { port: port2 }, transferList: [port2] })
    await once(worker, 'online')
    await arrived.promise
    await worker.terminate()
    await stopped.promise
  })
})
