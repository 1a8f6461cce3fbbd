import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery'
import { createClient } from '@coxswain/client'
import { Informer, isOlder } from '@coxswain/informers'
import { createSeededRandom, VirtualWorld } from '@coxswain/kit'
import { createInProcessTransport, type Transport, type WireRequest } from '@coxswain/wire'
import { listerWatcherOf } from './index.ts'
import { FakeServer } from './test-support/fake-server.ts'
import {
  createFaultyTransport,
  noTransportFaults,
  type TransportFaults,
} from './test-support/faulty-transport.ts'
import { podKind, secretKind, widgetKind, widgetPath } from './test-support/simulation.ts'

const runs = Number(process.env.TORTURE_RUNS ?? 100)
const first = Number(process.env.TORTURE_SEED ?? 1)

/** The requests a source sends for a list and a watch. */
async function requestsOf(
  scope: Parameters<typeof listerWatcherOf>[2],
  kind = podKind as never,
): Promise<WireRequest[]> {
  const world = new VirtualWorld()
  const requests: WireRequest[] = []
  const server = new FakeServer(world)
  const inner = createInProcessTransport(server.handler, world)
  const transport: Transport = {
    send: request => {
      requests.push(request)
      return inner.send(request)
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
  const source = listerWatcherOf(createClient({ transport, env: world }), kind, scope)
  const { signal } = new AbortController()
  await world.run(source.list({ resourceVersion: '0', limit: 500 }, signal))
  await world.run(source.list({ resourceVersion: '' }, signal))
  const watch = source.watch({ resourceVersion: '5', timeoutSeconds: 1, allowWatchBookmarks: true }, signal)
  const first = watch[Symbol.asyncIterator]().next()
  await world.run(first)
  return requests
}

describe('a part of a resource, through a client', () => {
  it('is asked for with its namespace and selectors', async () => {
    const [list, latest, watch] = await requestsOf({
      namespace: 'a',
      labelSelector: 'x=y',
      fieldSelector: 'spec.z=1',
    })
    assert.equal(list!.path, '/api/v1/namespaces/a/pods')
    const selectors = ['fieldSelector=spec.z%3D1', 'labelSelector=x%3Dy']
    const parts = (query: string) => query.split('&').sort()
    assert.deepEqual(parts(list!.query), [...selectors, 'limit=500', 'resourceVersion=0'].sort())
    assert.deepEqual(parts(latest!.query), selectors, 'the most recent is asked for by saying nothing')
    assert.ok(parts(watch!.query).includes('resourceVersion=5'))
    assert.ok(parts(watch!.query).includes('allowWatchBookmarks=true'))
  })

  it('is asked for without spec and status when only metadata is wanted', async () => {
    const requests = await requestsOf({ metadataOnly: true }, secretKind as never)
    for (const { headers } of requests) assert.match(String(headers.accept), /as=PartialObjectMetadata/)
  })
})

/** Follows a server over a connection on which everything goes wrong. */
async function torture(seed: number): Promise<void> {
  const dice = createSeededRandom(seed * 15_485_863)
  const world = new VirtualWorld({ seed })
  const server = new FakeServer(world)
  const chance = (most: number): number => (dice.below(2) ? dice.next() * most : 0)
  let faults: TransportFaults = {
    refuse: chance(0.3),
    loseAnswer: chance(0.3),
    hang: chance(0.05),
    gateway: chance(0.2),
    drop: chance(0.1),
    truncate: chance(0.1),
    silence: chance(0.05),
    garbage: chance(0.1),
    slow: chance(0.2),
  }
  const inner = createInProcessTransport(server.handler, world)
  const client = createClient({ transport: createFaultyTransport(inner, world, () => faults), env: world })
  const informer = new Informer<ApiObject>({
    source: listerWatcherOf(client, widgetKind, {}),
    env: world,
    freeze: true,
    watchList: dice.below(2) === 0,
  })
  const complaints: string[] = []
  const seen = new Map<string, DeepReadonly<ApiObject>>()
  const see = (object: DeepReadonly<ApiObject>, before?: DeepReadonly<ApiObject>): void => {
    const { name, resourceVersion, uid } = object.metadata
    const known = seen.get(name)
    if (known !== before) complaints.push(`${name}: an event that does not follow from the last one`)
    if (known && (known.metadata.uid !== uid || isOlder(resourceVersion, known.metadata.resourceVersion))) {
      complaints.push(`${name}: went back, or became another`)
    }
    seen.set(name, object)
  }
  informer.addHandler({
    onAdd: object => see(object),
    onUpdate: (old, object) => see(object, old),
    onDelete: object => {
      if (!seen.delete(object.metadata.name)) complaints.push(`${object.metadata.name}: deleted twice`)
    },
  })
  const controller = new AbortController()
  const running = informer.run(controller.signal)
  for (let step = 0; step < 60; step++) {
    const path = widgetPath(`w${dice.below(6)}`)
    if (dice.below(3) || !server.object(path)) {
      server.put(path, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: {}, spec: { size: step } })
    } else server.delete(path)
    if (dice.below(8) === 0) server.compact()
    if (dice.below(3) === 0) await world.advance(dice.below(40_000))
    else await world.settle()
  }
  faults = noTransportFaults
  await world.advance(900_000)
  const summary = (objects: Iterable<DeepReadonly<ApiObject>>) =>
    [...objects].map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort()
  const truth = summary(server.objects('/apis/example.com/v1/widgets') as DeepReadonly<ApiObject>[])
  assert.deepEqual(complaints, [], `seed ${seed}`)
  assert.deepEqual(summary(informer.store.list()), truth, `seed ${seed}: the store`)
  assert.deepEqual(summary(seen.values()), truth, `seed ${seed}: the handler`)
  controller.abort()
  await world.run(running)
  await world.settle()
  assert.equal(server.openWatches, 0, `seed ${seed}: a watch was left open`)
  assert.equal(world.nextTimer, undefined, `seed ${seed}: a timer was left behind`)
}

describe(`an informer over a connection on which everything goes wrong, ${runs} seeds`, () => {
  it('ends equal to the server, tells its handler the truth in order, and leaks nothing', async () => {
    for (let seed = first; seed < first + runs; seed++) await torture(seed)
  })
})
