import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { VirtualWorld } from '@coxswain/kit'
import { InformerFactory, keepMetadata, type ListerWatcher, type Scope } from './index.ts'
import { FakeCollection, type Pod } from './test-support/fake-collection.ts'

const podKind: Kind<Pod> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  listKind: 'PodList',
  resource: 'pods',
  singular: 'pod',
  namespaced: true,
  schema: () => ({}),
}

function setUp() {
  const world = new VirtualWorld()
  const server = new FakeCollection({ env: world })
  const scopes: Scope[] = []
  const factory = new InformerFactory({
    env: world,
    listerWatcherFor: (_, scope) => {
      scopes.push(scope)
      return server as ListerWatcher
    },
  })
  const controller = new AbortController()
  return { world, server, scopes, factory, controller }
}

describe('an informer factory', () => {
  it('has one informer and one watch for each resource and scope, however many users there are', async () => {
    const { world, server, scopes, factory, controller } = setUp()
    const pods = factory.informerFor(podKind)
    assert.equal(factory.informerFor({ ...podKind }), pods)
    assert.notEqual(factory.informerFor(podKind, { namespace: 'a' }), pods)
    assert.notEqual(factory.informerFor(podKind, { labelSelector: 'x=y' }), pods)
    assert.notEqual(factory.informerFor(podKind, { fieldSelector: 'x=y' }), pods)
    assert.notEqual(factory.informerFor(podKind, { metadataOnly: true }), pods)
    assert.equal(factory.informerFor(podKind, { namespace: 'a' }).name, 'pods in a')
    assert.equal(scopes.length, 5)
    assert.ok(factory.has(podKind) && !factory.has(podKind, { namespace: 'b' }))
    const running = factory.run(controller.signal)
    assert.equal(await world.run(factory.synced(controller.signal)), true)
    assert.equal(server.openWatches, 5)
    controller.abort()
    await world.run(running)
    assert.equal(server.openWatches, 0)
  })

  it('starts an informer that is requested while it runs', async () => {
    const { world, server, factory, controller } = setUp()
    server.put('a', 1)
    const running = factory.run(controller.signal)
    await world.settle()
    const pods = factory.informerFor(podKind)
    await world.settle()
    assert.equal(pods.store.size, 1)
    controller.abort()
    await world.run(running)
  })

  it('resolves with false if it is stopped before it has synced', async () => {
    const { world, factory, controller } = setUp()
    factory.informerFor(podKind)
    const synced = factory.synced(controller.signal)
    controller.abort()
    assert.equal(await world.run(synced), false)
  })
})

describe('keeping metadata', () => {
  it('drops everything else', () => {
    const world = new VirtualWorld()
    const server = new FakeCollection({ env: world })
    server.put('a', 1)
    const kept = keepMetadata(structuredClone(server.objects.get('a')!))
    assert.deepEqual(Object.keys(kept), ['apiVersion', 'kind', 'metadata'])
    assert.equal(kept.metadata.managedFields, undefined)
  })
})
