import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { type ServerLimits, serve } from '@coxswain/wire/node'
import { createTokenAuthenticator } from '../authentication/authenticator.ts'
import type { ApiServerOptions } from '../options.ts'
import { createApiServer } from '../server.ts'

const users = new Map([
  ['admin', { name: 'admin', groups: ['system:masters'] }],
  ['unprivileged', { name: 'unprivileged', groups: [] }],
  ['greedy', { name: 'greedy', groups: [] }],
  ['polite', { name: 'polite', groups: [] }],
])

async function start(options: Partial<ApiServerOptions> = {}, limits: ServerLimits = {}) {
  const env = createRealEnv()
  const store = createMemoryStore({ env })
  const tokens = [createTokenAuthenticator(users)]
  const server = createApiServer({ env, store, authentication: { tokens }, ...options })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await server.ready
  const http = await serve({ handler: server.handler, defersBodies: true, limits })
  return {
    port: http.port,
    async [Symbol.asyncDispose]() {
      await http.close({ grace: 0 })
      group.abort()
      await group.join()
      await store.close()
    },
  }
}

const path = '/api/v1/namespaces/default/configmaps'
const object = (name: string, size = 0) =>
  JSON.stringify({ metadata: { name }, data: { a: 'x'.repeat(size) } })

function dial(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

const head = (token: string | undefined, headers: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}${headers}\r\n\r\n`

/** The status of the next response. */
async function statusOf(socket: Socket): Promise<number> {
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  return Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1])
}

async function post(port: number, token: string | undefined, body: string): Promise<number> {
  const socket = dial(port)
  socket.write(head(token, `Content-Length: ${Buffer.byteLength(body)}`) + body)
  const status = await statusOf(socket)
  socket.destroy()
  return status
}

describe('request bodies', () => {
  it('of unauthorized clients are rejected, and take little memory', async () => {
    await using server = await start()
    const size = 3 * 1024 ** 2
    const body = Buffer.alloc(size / 3, 'x')
    const memory = () => process.memoryUsage().arrayBuffers
    const before = memory()
    let most = 0
    const timer = setInterval(() => {
      most = Math.max(most, memory() - before)
    }, 5)
    const kinds = [
      { token: undefined, expected: 403 },
      { token: 'wrong', expected: 401 },
      { token: 'unprivileged', expected: 403 },
    ]
    await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const { token, expected } = kinds[index % kinds.length]!
        const socket = dial(server.port)
        socket.write(head(token, `Content-Length: ${size}`))
        socket.write(body)
        assert.equal(await statusOf(socket), expected)
        socket.destroy()
      }),
    )
    clearInterval(timer)
    assert.ok(most < 100 * 1024 ** 2, `${Math.round(most / 1024 ** 2)} MiB`)
    assert.equal(await post(server.port, 'admin', object('a')), 201)
  })

  it('of one authorized user are limited to a share of the budget, which leaves space for others', async () => {
    await using server = await start({}, { bufferedBytes: 8 * 1024 ** 2 })
    // Three megabytes each, and never the last byte.
    const size = 3 * 1024 ** 2
    const held = Array.from({ length: 4 }, () => {
      const socket = dial(server.port)
      socket.write(head('admin', `Content-Length: ${size}`))
      socket.write(Buffer.alloc(size - 1, ' '))
      return socket
    })
    const statuses = await Promise.any(held.map(statusOf))
    assert.equal(statuses, 429)
    assert.equal(await post(server.port, 'admin', object('a')), 201)
    for (const socket of held) socket.destroy()
  })

  it('that arrive slowly release their seats', async () => {
    const authorizer = Object.assign(() => ({ verdict: 'allow' as const }), {
      rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
    })
    await using server = await start({
      authorizer: () => authorizer,
      limits: { inFlight: { readOnly: 10, mutating: 10 } },
    })
    const slow = Array.from({ length: 20 }, () => {
      const socket = dial(server.port)
      socket.write(head('greedy', 'Content-Length: 100'))
      return socket
    })
    assert.equal(await post(server.port, 'polite', object('a')), 201)
    slow[0]!.write(object('b').padEnd(100))
    assert.equal(await statusOf(slow[0]!), 201)
    for (const socket of slow) socket.destroy()
  })

  it('over the limit are a 413, also without a Content-Length', async () => {
    await using server = await start()
    const long = dial(server.port)
    long.write(head('admin', `Content-Length: ${3 * 1024 ** 2 + 1}`))
    assert.equal(await statusOf(long), 413)
    long.destroy()
    const chunked = dial(server.port)
    chunked.write(head('admin', 'Transfer-Encoding: chunked'))
    for (let i = 0; i < 4; i++) chunked.write(`100000\r\n${'x'.repeat(1024 ** 2)}\r\n`)
    assert.equal(await statusOf(chunked), 413)
    chunked.destroy()
  })
})
