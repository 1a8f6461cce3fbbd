import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aborted, createRealEnv, VirtualWorld } from '@coxswain/kit'
import { readBody } from './body.ts'
import { isTransportError } from './errors.ts'
import { createInProcessTransport } from './in-process.ts'
import type { Handler, WireRequest, WireResponse } from './message.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const string = (chunk: Uint8Array | undefined) => new TextDecoder().decode(chunk)

function requestOf(init: Partial<WireRequest> = {}): WireRequest {
  return {
    method: 'GET',
    path: '/x',
    query: '',
    headers: {},
    signal: new AbortController().signal,
    ...init,
  }
}

function streamOf(response: WireResponse): AsyncIterator<Uint8Array> {
  return (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
}

const env = createRealEnv()

describe('the transport without sockets', () => {
  it('passes the request and the response, with the given peer', async () => {
    const peer = { commonName: 'admin', organizations: ['system:masters'], notAfter: 0 }
    let seen: WireRequest | undefined
    await using transport = createInProcessTransport(
      async request => {
        seen = request
        return { status: 201, headers: { a: 'b' }, body: [bytes('one '), bytes('two')] }
      },
      env,
      { peer, remoteAddress: '10.0.0.1' },
    )
    const response = await transport.send(requestOf({ method: 'POST', body: bytes('in'), query: 'q=1' }))
    assert.deepEqual([response.status, response.headers], [201, { a: 'b' }])
    assert.equal(string(await readBody(response.body)), 'one two')
    assert.deepEqual(
      [seen?.method, seen?.query, seen?.peer, seen?.remoteAddress],
      ['POST', 'q=1', peer, '10.0.0.1'],
    )
  })

  it('shares no bytes: neither side sees changes of the other', async () => {
    const cached = bytes('cached')
    let received: Uint8Array | undefined
    await using transport = createInProcessTransport(async request => {
      received = request.body
      return { status: 200, headers: {}, body: cached }
    }, env)
    const sent = bytes('sent')
    const response = await transport.send(requestOf({ body: sent }))
    sent.fill(0)
    ;(response.body as Uint8Array).fill(0)
    assert.equal(string(received), 'sent')
    assert.equal(string(cached), 'cached')
  })

  it('ignores a peer that the client sets', async () => {
    await using transport = createInProcessTransport(
      async request => ({ status: request.peer ? 500 : 200, headers: {} }),
      env,
    )
    const peer = { commonName: 'root', organizations: [], notAfter: 0 }
    assert.equal((await transport.send(requestOf({ peer }))).status, 200)
  })

  it('turns a failing handler and a failing stream into a lost connection', async () => {
    await using broken = createInProcessTransport(async () => {
      throw new Error('bug')
    }, env)
    await assert.rejects(broken.send(requestOf()), error => isTransportError(error, 'ConnectionLost'))
    await using half = createInProcessTransport(async () => {
      async function* body() {
        yield bytes('half')
        throw new Error('bug')
      }
      return { status: 200, headers: {}, body: body() }
    }, env)
    const chunks = streamOf(await half.send(requestOf()))
    assert.equal(string((await chunks.next()).value), 'half')
    await assert.rejects(chunks.next(), error => isTransportError(error, 'ConnectionLost'))
    assert.equal((await chunks.next()).done, true)
  })

  it("aborts the server's signal when the client aborts, and rejects with the client's own reason", async () => {
    const seen: string[] = []
    const handler: Handler = async ({ signal }) => {
      async function* body() {
        yield bytes('x')
        await aborted(signal)
        seen.push('aborted')
      }
      return { status: 200, headers: {}, body: body() }
    }
    await using transport = createInProcessTransport(handler, env)
    const controller = new AbortController()
    const chunks = streamOf(await transport.send(requestOf({ signal: controller.signal })))
    await chunks.next()
    const reason = new Error('enough')
    controller.abort(reason)
    await assert.rejects(chunks.next(), error => error === reason)
    await transport[Symbol.asyncDispose]()
    assert.deepEqual(seen, ['aborted'])
  })

  it('notifies the server when the client leaves a stream', async () => {
    const left = Promise.withResolvers<void>()
    await using transport = createInProcessTransport(async ({ signal }) => {
      async function* body() {
        try {
          for (;;) {
            yield bytes('x')
            if (signal.aborted) return
          }
        } finally {
          left.resolve()
        }
      }
      return { status: 200, headers: {}, body: body() }
    }, env)
    const response = await transport.send(requestOf())
    for await (const _ of response.body as AsyncIterable<Uint8Array>) break
    await left.promise
  })

  it('holds back a sender that is faster than its reader', async () => {
    let produced = 0
    await using transport = createInProcessTransport(async () => {
      async function* body() {
        for (; produced < 1000; produced++) yield bytes('x')
      }
      return { status: 200, headers: {}, body: body() }
    }, env)
    const chunks = streamOf(await transport.send(requestOf()))
    await chunks.next()
    await env.clock.sleep(5)
    assert.ok(produced < 50, `${produced} chunks were made for a reader that took one`)
    let read = 1
    while (!(await chunks.next()).done) read++
    assert.equal(read, 1000)
  })

  it('fails requests in flight when it is disposed, and resolves once the server has stopped', async () => {
    let stopped = false
    const transport = createInProcessTransport(async ({ signal }) => {
      await aborted(signal)
      stopped = true
      return { status: 200, headers: {} }
    }, env)
    const answer = assert.rejects(transport.send(requestOf()), error => isTransportError(error, 'Closed'))
    await transport[Symbol.asyncDispose]()
    await answer
    assert.equal(stopped, true)
    await assert.rejects(transport.send(requestOf()), error => isTransportError(error, 'Closed'))
  })
})

describe('in a virtual world', () => {
  const run = async (seed: number): Promise<string[]> => {
    const log: string[] = []
    const world = new VirtualWorld({ seed, onStep: record => log.push(record.label) })
    const handler: Handler = async request => {
      async function* body() {
        for (let i = 0; i < 3; i++) yield bytes(`${request.path}${i}`)
      }
      log.push(`handled ${request.path}`)
      return { status: 200, headers: {}, body: body() }
    }
    await using transport = createInProcessTransport(handler, world)
    const read = async (path: string) => {
      const response = await transport.send(requestOf({ path }))
      const seen: string[] = []
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) seen.push(string(chunk))
      assert.deepEqual(seen, [`${path}0`, `${path}1`, `${path}2`])
    }
    await world.run(Promise.all(['/a', '/b', '/c', '/d'].map(read)))
    return log
  }

  it('every hand-off is a step: one seed gives one order, another seed another', async () => {
    const first = await run(1)
    assert.deepEqual(await run(1), first)
    assert.notDeepEqual(await run(2), first)
    assert.equal(first.filter(label => label === 'request GET /a').length, 1)
    assert.equal(first.filter(label => label === 'answer GET /a').length, 5)
  })

  it('a request that was aborted before its turn still arrives, then its abort', async () => {
    const world = new VirtualWorld()
    const events: string[] = []
    const transport = createInProcessTransport(async ({ signal }) => {
      events.push('arrived')
      await aborted(signal)
      events.push('aborted')
      return { status: 200, headers: {} }
    }, world)
    const controller = new AbortController()
    const answer = assert.rejects(transport.send(requestOf({ signal: controller.signal })))
    controller.abort()
    await answer
    assert.deepEqual(events, [])
    await world.settle()
    assert.deepEqual(events, ['arrived', 'aborted'])
  })
})

describe('an upgrade without sockets', () => {
  const echo: Handler = async ({ headers }) =>
    headers.upgrade === 'websocket'
      ? {
          status: 101,
          headers: {},
          conversation: {
            protocols: ['v5', 'v4'],
            async talk({ protocol, messages, send }) {
              await send(bytes(protocol))
              for await (const message of messages) {
                if (string(message) === 'end') return
                await send(message)
              }
            },
          },
        }
      : { status: 400, headers: {}, body: bytes('no') }

  const open = async (transport: ReturnType<typeof createInProcessTransport>, signal?: AbortSignal) => {
    const answer = await transport.upgrade(requestOf(signal ? { signal } : {}), ['v9', 'v4'])
    assert.ok('messages' in answer)
    return answer
  }

  it('carries messages both ways in order, in a protocol that both speak, until the server ends it', async () => {
    const world = new VirtualWorld({ seed: 3 })
    const transport = createInProcessTransport(echo, world)
    const talk = async () => {
      const channel = await open(transport)
      for (const word of ['one', 'two', 'end']) await channel.send(bytes(word))
      const heard = (await Array.fromAsync(channel.messages)).map(string)
      await assert.rejects(channel.send(bytes('late')), error => isTransportError(error, 'ConnectionLost'))
      return heard
    }
    assert.deepEqual(await world.run(talk()), ['v4', 'one', 'two'])
  })

  it('ends for the server when the client leaves, and fails for the client when the transport is closed', async () => {
    const transport = createInProcessTransport(echo, env)
    await (await open(transport))[Symbol.asyncDispose]()
    const controller = new AbortController()
    const given = await open(transport, controller.signal)
    controller.abort(new Error('enough'))
    await assert.rejects(Array.fromAsync(given.messages), /enough/)
    const channel = await open(transport)
    await transport[Symbol.asyncDispose]()
    await assert.rejects(Array.fromAsync(channel.messages), error => isTransportError(error, 'Closed'))
  })

  it('is refused with the answer of the server where there is no common protocol', async () => {
    await using transport = createInProcessTransport(async () => ({ status: 403, headers: {} }), env)
    assert.deepEqual(await transport.upgrade(requestOf(), ['v4']), { status: 403, headers: {} })
  })
})
