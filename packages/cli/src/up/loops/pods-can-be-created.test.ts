import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap, Pod, ServiceAccount } from '@coxswain/api/core/v1'
import { createApiServer } from '@coxswain/apiserver'
import { createClient } from '@coxswain/client'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport } from '@coxswain/wire'
import { untilPodsCanBeCreated } from './pods-can-be-created.ts'

const peer = { commonName: 'tester', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const namespace = 'default'

async function start(group: TaskGroup, world: VirtualWorld) {
  const server = createApiServer({ env: world, store: createMemoryStore({ env: world }) })
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  return createClient({ env: world, transport: createInProcessTransport(server.handler, world, { peer }) })
}

describe('the wait until Pods can be created', () => {
  it('has no timeout, and ends when a Pod is accepted', async () => {
    const world = new VirtualWorld({ seed: 1 })
    await using group = new TaskGroup()
    const client = await start(group, world)
    let isOver = false
    const controllers = ['serviceaccount-controller', 'root-ca-certificate-publisher-controller'] as const
    group.spawn(async signal => {
      await untilPodsCanBeCreated(client, world, { controllers, signal })
      isOver = true
    })
    await world.advance(60_000)
    assert.equal(isOver, false, 'however long the controllers take')
    await world.run(client.create(ServiceAccount, { metadata: { namespace, name: 'default' } }))
    await world.advance(60_000)
    assert.equal(isOver, false, 'the CA is missing')
    await world.run(client.create(ConfigMap, { metadata: { namespace, name: 'kube-root-ca.crt' } }))
    await world.advance(100)
    assert.equal(isOver, true)
    const spec = { containers: [{ name: 'main', image: 'busybox' }] }
    await world.run(client.create(Pod, { metadata: { namespace, name: 'first' }, spec }))
    group.abort()
    await world.advance(1_000)
  })

  it('covers what the selected controllers create, and ends with the server', async () => {
    const world = new VirtualWorld({ seed: 1 })
    await using group = new TaskGroup()
    const client = await start(group, world)
    await world.run(untilPodsCanBeCreated(client, world, { controllers: [], signal: group.signal }))
    const stop = new AbortController()
    const waiting = untilPodsCanBeCreated(client, world, {
      controllers: ['serviceaccount-controller'],
      signal: stop.signal,
    })
    stop.abort()
    await world.run(waiting)
    group.abort()
    await world.advance(1_000)
  })
})
