import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '@coxswain/client'
import { VirtualWorld } from '@coxswain/kit'
import { createInProcessTransport, type Transport, type WireRequest } from '@coxswain/wire'
import { listerWatcherOf } from './index.ts'
import { FakeServer } from './test-support/fake-server.ts'
import { podKind, secretKind } from './test-support/simulation.ts'

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

describe('a list and watch through a client', () => {
  it('requests its namespace and selectors', async () => {
    const [list, latest, watch] = await requestsOf({
      namespace: 'a',
      labelSelector: 'x=y',
      fieldSelector: 'spec.z=1',
    })
    assert.equal(list!.path, '/api/v1/namespaces/a/pods')
    const selectors = ['fieldSelector=spec.z%3D1', 'labelSelector=x%3Dy']
    const parts = (query: string) => query.split('&').sort()
    assert.deepEqual(parts(list!.query), [...selectors, 'limit=500', 'resourceVersion=0'].sort())
    assert.deepEqual(parts(latest!.query), selectors, 'without a resourceVersion for the most recent state')
    assert.ok(parts(watch!.query).includes('resourceVersion=5'))
    assert.ok(parts(watch!.query).includes('allowWatchBookmarks=true'))
  })

  it('requests metadata only when nothing else is read', async () => {
    const requests = await requestsOf({ metadataOnly: true }, secretKind as never)
    for (const { headers } of requests) assert.match(String(headers.accept), /as=PartialObjectMetadata/)
  })
})
