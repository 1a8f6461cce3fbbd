import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import { createClient } from '@coxswain/client'
import { accessFromKubeconfig, loadKubeconfig } from '@coxswain/client/node'
import { Informer } from '@coxswain/informers'
import { createSeededRandom } from '@coxswain/kit'
import { listerWatcherOf } from '@coxswain/runtime'
import { createFaultyTransport, noTransportFaults } from '@coxswain/testing'
import { eventually, startSession } from './session.ts'

const summary = (objects: Iterable<DeepReadonly<ApiObject>>): string[] =>
  [...objects].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort()

describe('informers, against a real server', () => {
  for (const watchList of [true, false]) {
    it(`end equal to it over a bad connection, ${watchList ? 'with' : 'without'} watch-lists`, async () => {
      await using session = await startSession('informers')
      const { client, env, namespace } = session
      const loaded = await loadKubeconfig({ path: session.kubeconfig, environment: {} })
      const { transport: inner } = await accessFromKubeconfig(loaded, { env, environment: {} })
      await using stack = new AsyncDisposableStack()
      stack.use(inner)
      let faults = {
        ...noTransportFaults,
        drop: 0.05,
        truncate: 0.05,
        garbage: 0.05,
        gateway: 0.1,
        expire: 0.05,
      }
      const transport = createFaultyTransport(inner, { ...env, random: createSeededRandom(7) }, () => faults)
      const source = listerWatcherOf(createClient({ transport, env }), ConfigMap, { namespace })
      const informer = new Informer<ApiObject>({ source, env, watchList, freeze: true })
      const seen = new Map<string, DeepReadonly<ApiObject>>()
      informer.addHandler({
        onAdd: object => void seen.set(object.metadata.name, object),
        onUpdate: (_, object) => void seen.set(object.metadata.name, object),
        onDelete: object => void seen.delete(object.metadata.name),
      })
      const stop = new AbortController()
      const running = informer.run(stop.signal)
      stack.defer(async () => {
        stop.abort()
        await running
      })
      const random = createSeededRandom(3)
      for (let step = 0; step < 120; step++) {
        const key = { namespace, name: `m${random.below(8)}` }
        if (random.below(3) === 0) await client.delete(ConfigMap, key)
        else
          await client.apply(
            ConfigMap,
            { metadata: key, data: { step: String(step) } },
            { fieldManager: 't' },
          )
      }
      faults = { ...noTransportFaults, drop: 0, truncate: 0, garbage: 0, gateway: 0, expire: 0 }
      const truth = summary((await client.list(ConfigMap, { namespace })).items)
      await eventually(
        'the store is equal to the server',
        async () =>
          JSON.stringify(summary(informer.store.list())) === JSON.stringify(truth) &&
          JSON.stringify(summary(seen.values())) === JSON.stringify(truth),
        90_000,
      )
      assert.deepEqual(summary(informer.store.list()), truth)
    })
  }
})
