import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom, VirtualWorld } from '@coxswain/kit'
import { applyDelta } from './delta.ts'
import { Informer, type InformerParts } from './informer.ts'
import type { ListerWatcher } from './lister-watcher.ts'
import { FakeCollection, type Pod } from './test-support/fake-collection.ts'
import { Observer, summary } from './test-support/observer.ts'
import { type ReflectorState, transition } from './transition.ts'

const runs = Number(process.env.TORTURE_RUNS ?? 50)
const first = Number(process.env.TORTURE_SEED ?? 1)
const names = ['a', 'b', 'c', 'd', 'e']
const right: InformerParts = { transition, applyDelta }

interface Planted {
  readonly parts?: Partial<InformerParts>
  readonly source?: (server: FakeCollection) => ListerWatcher<Pod>
}

/** Ten minutes with a server that does everything wrong, then a while with a healthy one. */
async function torture(seed: number, planted: Planted = {}): Promise<void> {
  const dice = createSeededRandom(seed * 7919)
  const world = new VirtualWorld({ seed })
  const chance = (most: number): number => (dice.below(2) ? dice.next() * most : 0)
  const server = new FakeCollection({
    env: world,
    watchList: (['yes', 'yes', 'no', 'ignored'] as const)[dice.below(4)]!,
    bookmarks: dice.below(3) > 0,
    faults: {
      request: chance(0.3),
      drop: chance(0.15),
      end: chance(0.15),
      silence: chance(0.05),
      garbage: chance(0.1),
      expire: chance(0.1),
      replay: chance(0.3),
      compact: chance(0.2),
      latency: dice.below(3) * dice.below(2_000),
    },
  })
  const informer = new Informer<Pod>(
    { source: planted.source?.(server) ?? server, env: world, freeze: true, watchList: dice.below(3) > 0 },
    { ...right, ...planted.parts },
  )
  const observers = [new Observer(), new Observer()]
  informer.addHandler(observers[0]!)
  const controller = new AbortController()
  let failure: unknown
  const run = informer.run(controller.signal).catch(error => {
    failure = error
  })
  for (let i = dice.below(700); i > 0; i--) server.put(`filler-${i}`, i)
  for (let step = 0; step < 120; step++) {
    const name = names[dice.below(names.length)]!
    if (dice.below(3) > 0) server.put(name, step)
    else server.remove(name)
    if (step === 40 && dice.below(2)) {
      server.down = true
      await world.advance(dice.below(120_000))
      server.down = false
    }
    if (step === 60) informer.addHandler(observers[1]!)
    const pause = dice.below(10)
    if (pause > 7) await world.advance(dice.below(60_000))
    else if (pause > 3) await world.advance(dice.below(500))
  }
  server.heal()
  server.put('last', 1)
  const before = server.requests.length
  await world.advance(900_000)
  assert.equal(failure, undefined, `seed ${seed}: the informer died`)
  for (const observer of observers) observer.assertAgrees(server)
  assert.deepEqual(summary(informer.store.list()), summary(server.objects.values()), `seed ${seed}`)
  assert.ok(
    server.requests.length - before < 20,
    `seed ${seed}: ${server.requests.length - before} requests in a healthy state`,
  )
  assert.equal(server.storms, 0, `seed ${seed}: a storm of requests`)
  controller.abort()
  await world.run(run)
  assert.equal(server.openWatches, 0, `seed ${seed}: a watch was left open`)
  assert.equal(world.nextTimer, undefined, `seed ${seed}: a timer was left behind`)
}

describe(`an informer against a server that does everything wrong, ${runs} seeds`, () => {
  it('ends equal to the server, notifies every handler correctly and in order, and leaks nothing', async () => {
    for (let seed = first; seed < first + runs; seed++) await torture(seed)
  })
})

/** Possible mistakes. Each has to be detected by the suite above. */
const mistakes: Record<string, Planted> = {
  'watches from a resourceVersion that is compacted': {
    parts: {
      transition: (state, outcome) =>
        outcome.type === 'failed' && outcome.failure === 'expired' && state.phase === 'watching'
          ? { state, pause: true }
          : transition(state, outcome),
    },
  },
  'stops after an error that is not a 410': {
    parts: {
      transition: (state, outcome) => {
        if (outcome.type === 'failed' && outcome.failure === 'other') throw new Error('watch failed')
        return transition(state, outcome)
      },
    },
  },
  'does not wait between retries': {
    parts: { transition: (state, outcome) => ({ ...transition(state, outcome), pause: false }) },
  },
  'resumes from the latest state instead of where it was': {
    parts: {
      transition: (state, outcome) => {
        const next = transition(state, outcome)
        return next.state.phase === 'watching' ? { ...next, state: { ...next.state, known: '' } } : next
      },
    },
  },
  'takes a broken watch-list for a complete one': {
    parts: {
      transition: (state, outcome) =>
        state.phase === 'streaming' && outcome.type !== 'listed'
          ? {
              state: { ...state, phase: 'watching', known: state.known ?? '' } as ReflectorState,
              pause: true,
            }
          : transition(state, outcome),
    },
  },
  'never falls back to a list when watch-lists are unknown': {
    parts: {
      transition: (state, outcome) =>
        state.phase === 'streaming' ? { state, pause: true } : transition(state, outcome),
    },
  },
  'keeps requesting a resourceVersion that the server does not have': {
    parts: {
      transition: (state, outcome) => {
        const next = transition(state, outcome)
        return 'from' in next.state ? { ...next, state: { ...next.state, from: '999999' } } : next
      },
    },
  },
  'does not notice on a relist that objects are deleted': {
    parts: {
      applyDelta: (store, delta) =>
        delta.type === 'Replaced'
          ? delta.objects.flatMap(object => applyDelta(store, { type: 'Updated', object }))
          : applyDelta(store, delta),
    },
  },
  'replaces the store on a relist without notifying handlers': {
    parts: {
      applyDelta: (store, delta) => {
        const notifications = applyDelta(store, delta)
        return delta.type === 'Replaced' && store.size > 0 ? [] : notifications
      },
    },
  },
  'accepts events of the past': {
    parts: {
      applyDelta: (store, delta) => {
        if (delta.type !== 'Added' && delta.type !== 'Updated') return applyDelta(store, delta)
        const key = `default/${delta.object.metadata.name}`
        const object = delta.object as never
        const old = store.set(key, object)
        return old ? [{ type: 'updated', old, object }] : [{ type: 'added', object }]
      },
    },
  },
  'accepts deletions of the past': {
    parts: {
      applyDelta: (store, delta) => {
        if (delta.type !== 'Deleted') return applyDelta(store, delta)
        const old = store.delete(`default/${delta.object.metadata.name}`)
        return old ? [{ type: 'deleted', object: delta.object as never, finalStateUnknown: false }] : []
      },
    },
  },
  'takes another object of the same name for the same one': {
    parts: {
      applyDelta: (store, delta) => {
        const notifications = applyDelta(store, delta)
        const [first, second] = notifications
        return notifications.length === 2 && first?.type === 'deleted' && second?.type === 'added'
          ? [{ type: 'updated', old: first.object, object: second.object }]
          : notifications
      },
    },
  },
  'drops deletions': {
    parts: { applyDelta: (store, delta) => (delta.type === 'Deleted' ? [] : applyDelta(store, delta)) },
  },
  'reports every object as new after a relist': {
    parts: {
      applyDelta: (store, delta) => {
        if (delta.type !== 'Replaced') return applyDelta(store, delta)
        applyDelta(store, delta)
        return store.list().map(object => ({ type: 'added', object }))
      },
    },
  },
  'reads the first page only': {
    source: server => ({
      watch: (query, signal) => server.watch(query, signal),
      list: async (query, signal) => {
        const page = await server.list(query, signal)
        delete page.metadata.continue
        return page
      },
    }),
  },
  'leaves the old watch open when it starts a new one': {
    source: server => ({
      list: (query, signal) => server.list(query, signal),
      watch: query => server.watch(query, new AbortController().signal),
    }),
  },
}

describe('the suite above fails when', () => {
  for (const [name, planted] of Object.entries(mistakes)) {
    it(`an informer ${name}`, async () => {
      for (let seed = first; seed < first + runs; seed++) {
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
