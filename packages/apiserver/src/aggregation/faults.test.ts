import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { createServer, type TLSSocket } from 'node:tls'
import { createRealEnv, encodeText, TaskGroup } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { type Handler, readBody, type WireRequest } from '@coxswain/wire'
import { createCertificate, createHttpTransport, socketDialer } from '@coxswain/wire/node'
import { createApiServer } from '../server.ts'
import { apiServices } from './test-support/extension-house.ts'
import { collection, json, openWardle } from './test-support/wardle.ts'

/** Answers nothing, until the request is aborted. */
const forever: Handler = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

describe('an extension API server that hangs', () => {
  it('keeps no seat of priority and fairness: other requests are served', async () => {
    await using house = await openWardle(forever)
    await house.write('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'jane' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    })
    const peer = { commonName: 'jane', organizations: [], notAfter: Number.MAX_SAFE_INTEGER }
    const controller = new AbortController()
    const hanging = Array.from({ length: 1_000 }, () =>
      house.start('GET', collection, { peer, signal: controller.signal }).catch(() => {}),
    )
    await house.world.settle()
    assert.equal(house.requests.length, 1_000)
    const { status } = await house.send('GET', '/api/v1/namespaces/default/configmaps', { peer })
    assert.equal(status, 200)
    controller.abort()
    await house.world.run(Promise.all(hanging))
  })

  it('is given a minute, then the client has a 504 and the request is aborted', async () => {
    await using house = await openWardle(forever)
    const answer = house.start('GET', collection)
    await house.world.settle()
    await house.world.advance(62_000)
    const { status } = await house.world.run(answer)
    assert.equal(status, 504)
    assert.equal(house.requests[0]?.signal.aborted, true)
  })

  it('is given five seconds for discovery', async () => {
    await using house = await openWardle(forever)
    const answer = house.start('GET', '/apis/wardle.example.com/v1')
    await house.world.settle()
    await house.world.advance(6_000)
    const { status, body } = await house.world.run(answer)
    const text = new TextDecoder().decode(await readBody(body))
    assert.deepEqual([status, text], [503, 'error trying to reach service: context deadline exceeded\n'])
  })

  it('may keep a watch silent for as long as it wants', async () => {
    await using house = await openWardle(async ({ signal }) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: (async function* () {
        yield encodeText('{"type":"ADDED"}\n')
        await new Promise(resolve => signal.addEventListener('abort', resolve))
      })(),
    }))
    const { status, body } = await house.raw('GET', `${collection}?watch=true`)
    assert.equal(status, 200)
    const events = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    const { value } = await house.world.run(events.next())
    assert.equal(new TextDecoder().decode(value), '{"type":"ADDED"}\n')
    await house.world.advance(600_000)
    assert.equal(house.requests[0]?.signal.aborted, false)
    await house.world.run(Promise.resolve(events.return?.()))
  })

  it('is not sent a write twice', async () => {
    let calls = 0
    await using house = await openWardle(async () => {
      calls++
      throw new Error('lost')
    })
    const { status } = await house.send('POST', collection, { body: encodeText('{}') })
    assert.deepEqual([status, calls], [503, 1])
  })

  it('whose Service is deleted is found missing at once, and available again when it is back', async () => {
    await using house = await openWardle(async () => json(200, {}))
    const service = '/api/v1/namespaces/default/services/wardle-example-com'
    const { json: before } = await house.send('GET', service)
    await house.send('DELETE', service)
    const name = 'v1.wardle.example.com'
    const missing = 'False ServiceNotFound: service/wardle-example-com in "default" is not present'
    assert.equal(await house.availability(name), missing)
    assert.equal((await house.send('GET', collection)).status, 503)
    const { metadata, spec } = before
    const { ports } = spec
    await house.write('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: metadata.name },
      spec: { ports },
    })
    await house.world.settle()
    assert.equal(await house.availability(name), 'True Passed: all checks passed')
  })
})

const env = createRealEnv()
const line = encodeText(`x-${'a'.repeat(1_000)}: ${'b'.repeat(1_000)}\r\n`)
const chunk = encodeText(`10000\r\n${'c'.repeat(0x10000)}\r\n`)

/** Writes as long as the other side reads; counts. */
function flood(socket: TLSSocket, piece: Uint8Array, sent: { bytes: number }): void {
  const write = () => {
    while (!socket.destroyed) {
      sent.bytes += piece.length
      if (!socket.write(piece)) return
    }
  }
  socket.on('drain', write).on('error', () => {})
  write()
}

/** A TLS server of its own; `answer` gets the head of each request. */
async function startRaw(answer: (socket: TLSSocket, head: string) => void) {
  const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
  const hosts = ['flood.default.svc']
  const pair = createCertificate(
    { subject: { commonName: 'flood' }, usages: ['server'], hosts, ...times },
    env.random,
  )
  const sockets = new Set<TLSSocket>()
  const server = createServer(
    { cert: pair.certificate, key: pair.key, ALPNProtocols: ['http/1.1'] },
    socket => {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
      socket.once('data', data => answer(socket, String(data)))
    },
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    ca: pair.certificate,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

describe('an extension API server that sends without end', () => {
  const path = '/apis/flood.example/v1/namespaces/default/things'
  const ok = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'

  it('is cut off: documents and headers have limits, and built-in groups are served', async () => {
    const documents = { bytes: 0 }
    const headers = { bytes: 0 }
    await using raw = await startRaw((socket, head) => {
      if (head.startsWith('GET /apis/flood.example/v1 '))
        return void socket.end(`${ok}Content-Length: 2\r\nConnection: close\r\n\r\n{}`)
      socket.write(ok)
      if (head.startsWith(`GET ${path}`)) return flood(socket, line, headers)
      socket.write('Transfer-Encoding: chunked\r\n\r\n')
      flood(socket, chunk, documents)
    })
    const store = createMemoryStore({ env })
    const server = createApiServer({
      env,
      store,
      outbound: { connect: ({ origin, ...tls }) => createHttpTransport({ server: origin, tls }) },
      nodes: { dialer: socketDialer },
    })
    await using group = new TaskGroup()
    group.spawn(signal => server.run(signal))
    await server.ready
    const send = async (method: string, url: string, object?: object) => {
      const request: WireRequest = {
        method,
        path: url,
        query: '',
        headers: {
          'content-type': 'application/json',
          accept: url === '/apis' ? aggregatedType : 'application/json',
        },
        peer: { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER },
        signal: group.signal,
        ...(object && { body: encodeText(JSON.stringify(object)) }),
      }
      const { status, body } = await server.handler(request)
      return { status, text: new TextDecoder().decode(await readBody(body)) }
    }
    await send('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 'flood' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    })
    await send('POST', apiServices, {
      metadata: { name: 'v1.flood.example' },
      spec: {
        group: 'flood.example',
        version: 'v1',
        service: { namespace: 'default', name: 'flood', port: raw.port },
        caBundle: Buffer.from(raw.ca).toString('base64'),
        groupPriorityMinimum: 100,
        versionPriority: 100,
      },
    })
    let answer = await send('GET', path)
    for (let i = 0; i < 500 && answer.text === 'service unavailable\n'; i++) {
      await env.clock.sleep(20)
      answer = await send('GET', path)
    }
    assert.equal(answer.status, 503)
    assert.match(answer.text, /^error trying to reach service: /)
    let discovery = await send('GET', '/apis')
    for (let i = 0; i < 500 && !discovery.text.includes('Stale'); i++) {
      await env.clock.sleep(20)
      discovery = await send('GET', '/apis')
    }
    assert.match(discovery.text, /"flood\.example"\},"versions":\[\{"version":"v1","freshness":"Stale"\}/)
    assert.equal((await send('GET', '/api/v1/namespaces/default/configmaps')).status, 200)
    assert.ok(
      documents.bytes > 0 && documents.bytes < 200 * 1024 ** 2,
      `${documents.bytes} bytes of documents`,
    )
    assert.ok(headers.bytes > 0 && headers.bytes < 8 * 1024 ** 2, `${headers.bytes} bytes of headers`)
    group.abort()
    await group.join().catch(() => {})
    await store.close()
  })
})

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
