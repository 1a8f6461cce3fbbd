import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport } from '@coxswain/wire'
import { createApiServer } from './server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }

async function start() {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const transport = createInProcessTransport(server.handler, world, { peer: admin })
  const send = async (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [path = '', query = ''] = url.split('?')
    const answer = await world.run(
      transport.send({
        method,
        path,
        query,
        headers: { 'content-type': 'application/json', ...headers },
        signal: group.signal,
        ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
      }),
    )
    const text = new TextDecoder().decode(answer.body as Uint8Array)
    return {
      status: answer.status,
      headers: answer.headers,
      body: text.startsWith('{') ? JSON.parse(text) : text,
    }
  }
  return {
    world,
    send,
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

describe('createApiServer', () => {
  it('stores, reads, changes and deletes an object', async () => {
    await using server = await start()
    const created = await server.send('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'a' },
      data: { k: 'v' },
    })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    assert.equal(created.body.kind, 'ConfigMap')
    const read = await server.send('GET', '/api/v1/namespaces/default/configmaps/a')
    assert.deepEqual(read.body, created.body)
    const put = await server.send('PUT', '/api/v1/namespaces/default/configmaps/a', {
      ...read.body,
      data: { k: 'w' },
    })
    assert.equal(put.status, 200)
    const stale = await server.send('PUT', '/api/v1/namespaces/default/configmaps/a', {
      ...read.body,
      data: { k: 'x' },
    })
    assert.equal(stale.status, 409)
    assert.equal(stale.body.reason, 'Conflict')
    const gone = await server.send('DELETE', '/api/v1/namespaces/default/configmaps/a')
    assert.equal(gone.body.status, 'Success')
    assert.equal((await server.send('GET', '/api/v1/namespaces/default/configmaps/a')).status, 404)
  })

  it('deletes a whole cluster-scoped collection, not every second object of it', async () => {
    await using server = await start()
    const url = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
    assert.ok((await server.send('GET', url)).body.items.length > 60)
    assert.equal((await server.send('DELETE', url)).status, 200)
    assert.deepEqual((await server.send('GET', url)).body.items, [])
  })
})
