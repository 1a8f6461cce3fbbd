import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport } from '@coxswain/wire'
import { createApiServer } from '../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const inDefault = '/api/v1/namespaces/default'

async function start() {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const transport = createInProcessTransport(server.handler, world, { peer: admin })
  const send = async (method: string, path: string, body?: unknown, query = '') => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const answer = await world.run(
      transport.send({
        method,
        path,
        query,
        headers: { 'content-type': type },
        signal: group.signal,
        ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
      }),
    )
    return { status: answer.status, body: JSON.parse(new TextDecoder().decode(answer.body as Uint8Array)) }
  }
  const create = async (path: string, body: unknown) => {
    const answer = await send('POST', path, body)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  return {
    world,
    send,
    create,
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

describe('events', () => {
  it('expire an hour after their last change', async () => {
    await using server = await start()
    const path = `${inDefault}/events/e`
    await server.create(`${inDefault}/events`, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    })
    await server.world.advance(50 * 60_000)
    assert.equal((await server.send('PATCH', path, { count: 2 })).status, 200)
    await server.world.advance(50 * 60_000)
    assert.equal((await server.send('GET', path)).status, 200)
    await server.world.advance(11 * 60_000)
    assert.equal((await server.send('GET', path)).status, 404)
  })

  it("are found by both groups' names of the involved object", async () => {
    await using server = await start()
    await server.create(`${inDefault}/events`, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    })
    const newer = '/apis/events.k8s.io/v1/namespaces/default/events'
    const found = async (path: string, query: string) =>
      (await server.send('GET', path, undefined, query)).body.items.length
    assert.equal(await found(newer, 'fieldSelector=regarding.name=p'), 1)
    assert.equal(await found(`${inDefault}/events`, 'fieldSelector=involvedObject.name=p'), 1)
    assert.equal(await found(newer, 'fieldSelector=regarding.name=q'), 0)
  })

  it('are the same objects in both groups', async () => {
    await using server = await start()
    await server.create(`${inDefault}/events`, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
      message: 'hello',
    })
    const newer = await server.send('GET', '/apis/events.k8s.io/v1/namespaces/default/events/e')
    assert.equal(newer.body.note, 'hello')
    assert.equal(newer.body.apiVersion, 'events.k8s.io/v1')
    const listed = await server.send('GET', '/apis/events.k8s.io/v1/namespaces/default/events')
    assert.equal(listed.body.items[0].regarding.name, 'p')
  })
})
