import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { createClient } from '@coxswain/client'
import { Informer, type ListerWatcher, type Scope } from '@coxswain/informers'
import { applyDelta, type InformerParts, transition } from '@coxswain/informers/parts'
import { createSeededRandom, type Random, VirtualWorld } from '@coxswain/kit'
import { listerWatcherOf } from '@coxswain/runtime'
import { type Cluster, startCluster } from './cluster.ts'
import { createFaultyTransport, noTransportFaults, type TransportFaults } from './faults/faulty-transport.ts'
import { mistakes, type Planted } from './test-support/informer-mistakes.ts'
import { RequestLog } from './test-support/request-log.ts'
import { summary, Witness } from './test-support/witness.ts'

const runs = Number(process.env.TORTURE_RUNS ?? 30)
const first = Number(process.env.TORTURE_SEED ?? 1)
/** So that a suite with a planted bug ends soon also when it does not notice. */
const plantedRuns = 300
const victim = 'victim'
const names = ['a', 'b', 'c', 'd', 'e', 'f']
const right: InformerParts = { transition, applyDelta }

function rollFaults(dice: Random): TransportFaults {
  const chance = (most: number): number => (dice.below(2) ? dice.next() * most : 0)
  return {
    refuse: chance(0.3),
    loseAnswer: chance(0.2),
    hang: chance(0.05),
    gateway: chance(0.2),
    expire: chance(0.1),
    drop: chance(0.1),
    truncate: chance(0.1),
    silence: chance(0.05),
    garbage: chance(0.1),
    slow: chance(0.2),
  }
}

/** Which part of the config maps the informer follows. */
function rollScope(dice: Random): Scope {
  return [
    {},
    { namespace: 'default' },
    { labelSelector: 'shown=yes' },
    { metadataOnly: true },
    { fieldSelector: 'metadata.name!=a' },
  ][dice.below(5)]!
}

/** One change by a client whose connection works. */
async function change(cluster: Cluster, dice: Random, step: number): Promise<void> {
  const { client, run } = cluster
  const key = { namespace: dice.below(4) ? 'default' : 'kube-public', name: names[dice.below(names.length)]! }
  if (dice.below(3) === 0) {
    await run(client.delete(ConfigMap, key))
    // Half of them come back at once, as another object.
    if (dice.below(2)) return
  }
  const object = {
    metadata: { ...key, labels: { shown: dice.below(3) ? 'yes' : 'no' } },
    data: { step: String(step) },
  }
  const found = await run(client.get(ConfigMap, key))
  await run(found ? client.update(ConfigMap, object) : client.create(ConfigMap, object))
}

/** An hour with a server that is restarted and compacted, over a connection on which everything goes wrong. */
async function torture(seed: number, planted: Planted = {}): Promise<void> {
  const dice = createSeededRandom(seed * 15_485_863)
  const world = new VirtualWorld({ seed })
  const scope = rollScope(dice)
  let faults = rollFaults(dice)
  {
    await using cluster = await startCluster({ env: world, controllers: false })
    const log = new RequestLog(world.clock, victim)
    using _ = cluster.intercept(log.interceptor)
    const transport = log.transport(createFaultyTransport(cluster.connect(), world, () => faults))
    const client = createClient({ transport, env: world, userAgent: victim })
    const genuine = listerWatcherOf(client, ConfigMap, scope)
    const source: ListerWatcher<ApiObject> = planted.source?.(genuine) ?? genuine
    const informer = new Informer<ApiObject>(
      { source, env: world, freeze: true, watchList: dice.below(2) === 0 },
      { ...right, ...planted.parts },
    )
    const witnesses = [new Witness(), new Witness()]
    informer.addHandler(witnesses[0]!)
    const controller = new AbortController()
    let death: unknown
    const running = informer.run(controller.signal).catch(error => {
      death = error
    })
    try {
      for (let step = 0; step < 50; step++) {
        await change(cluster, dice, step)
        if (step === 25) informer.addHandler(witnesses[1]!)
        switch (dice.below(12)) {
          case 0:
            await cluster.restart(dice.below(2) * dice.below(30_000))
            break
          case 1:
            // After a restart the server has no more history than its store.
            await world.run(cluster.store.compact((await world.run(cluster.store.status())).revision))
            await cluster.restart()
            break
          case 2:
            faults = rollFaults(dice)
            break
          case 3: {
            const before = faults
            faults = { ...noTransportFaults, refuse: 1 }
            await world.advance(dice.below(60_000))
            faults = before
          }
        }
        if (dice.below(3) === 0) await world.advance(dice.below(40_000))
        else if (dice.below(2)) await world.settle()
      }
      faults = noTransportFaults
      await change(cluster, dice, 51)
      const before = log.requests.length
      await world.advance(900_000)
      const { namespace, labelSelector, fieldSelector } = scope
      const { items } = await cluster.run(
        cluster.client.list(ConfigMap, {
          ...(namespace && { namespace }),
          ...(labelSelector && { labelSelector }),
          ...(fieldSelector && { fieldSelector }),
        }),
      )
      const truth = scope.metadataOnly ? items.map(({ data: _data, ...rest }) => rest) : items
      assert.equal(death, undefined, `seed ${seed}: the informer died`)
      assert.deepEqual(summary(informer.store.list()), summary(truth), `seed ${seed}: the store`)
      for (const witness of witnesses) witness.assertAgrees(truth, `seed ${seed}`)
      const asked = log.requests.length - before
      assert.ok(asked < 20, `seed ${seed}: ${asked} requests when all is well`)
      assert.equal(log.storms, 0, `seed ${seed}: a storm of requests`)
    } finally {
      controller.abort()
      await world.run(running)
      await world.settle()
    }
    assert.equal(log.openStreams, 0, `seed ${seed}: a watch was left open`)
  }
  assert.equal(world.nextTimer, undefined, `seed ${seed}: a timer was left behind`)
}

describe(`an informer, our server, and a connection on which everything goes wrong, ${runs} seeds`, () => {
  it('ends equal to the server, tells every handler the truth in order, and leaks nothing', async () => {
    for (let seed = first; seed < first + runs; seed++) await torture(seed)
  })
})

describe('the suite above is red when', () => {
  for (const [name, planted] of Object.entries(mistakes)) {
    it(`an informer ${name}`, async () => {
      for (let seed = 1; seed <= plantedRuns; seed++) {
        const found = await torture(seed, planted).then(
          () => false,
          () => true,
        )
        if (found) return
      }
      assert.fail('nothing was noticed')
    })
  }
})

describe('a quiet resource', () => {
  it('is watched for an hour without a reconnect storm, and no event is lost afterwards', async () => {
    const world = new VirtualWorld({ seed: 3 })
    await using cluster = await startCluster({ env: world, controllers: false })
    const log = new RequestLog(world.clock, victim)
    using _ = cluster.intercept(log.interceptor)
    const client = createClient({
      transport: log.transport(cluster.connect()),
      env: world,
      userAgent: victim,
    })
    const informer = new Informer<ApiObject>({ source: listerWatcherOf(client, ConfigMap, {}), env: world })
    const witness = new Witness()
    informer.addHandler(witness)
    const controller = new AbortController()
    const running = informer.run(controller.signal)
    await world.advance(60_000)
    const before = log.requests.length
    await world.advance(3_600_000)
    const lists = log.requests.filter(({ request }) => !request.query.includes('watch='))
    // A watch lasts five to ten minutes.
    const asked = log.requests.length - before
    assert.ok(asked >= 6 && asked <= 12, `${asked} requests in a quiet hour`)
    assert.equal(lists.length, 0, 'the history was never lost: nothing had to be listed')
    await cluster.run(client.create(ConfigMap, { metadata: { namespace: 'default', name: 'late' } }))
    await world.settle()
    const { items } = await cluster.run(client.list(ConfigMap))
    assert.ok(items.some(({ metadata }) => metadata.name === 'late'))
    witness.assertAgrees(items, 'after a quiet hour')
    controller.abort()
    await world.run(running)
  })
})
