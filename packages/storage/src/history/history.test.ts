import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRealEnv, createSeededRandom, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '../memory.ts'
import type { Change, Store, WatchBatch } from '../store.ts'
import { checkHistory, recordHistory } from './record.ts'

async function problemsOf(wrap: (store: Store) => Store, seed = 1): Promise<string[]> {
  const world = new VirtualWorld({ seed })
  const store = createMemoryStore({ env: world, watch: { progressInterval: 10 } })
  const history = await world.run(recordHistory({ random: world.random, stores: [wrap(store)] }))
  return checkHistory(history)
}

/** `store` with some of its members replaced. */
function replace(store: Store, parts: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const part = Reflect.get(parts, name) ?? Reflect.get(target, name)
      return typeof part === 'function' ? part.bind(target) : part
    },
  })
}

/** `store` whose watches deliver what `change` returns for each batch. */
function replaceBatches(store: Store, change: (batch: WatchBatch) => readonly WatchBatch[]): Store {
  return replace(store, {
    async *watch(prefix, options) {
      for await (const batch of store.watch(prefix, options)) yield* change(batch)
    },
  })
}

/** True once in `every` calls, the first time after `every` calls. */
function nowAndThen(every: number): () => boolean {
  let calls = 0
  return () => ++calls % every === 0
}

describe('histories of the memory store', () => {
  it('are linearizable and watched correctly, in 40 virtual worlds', async () => {
    for (let seed = 1; seed <= 40; seed++)
      assert.deepEqual(await problemsOf(store => store, seed), [], `seed ${seed}`)
  })

  it('are linearizable with direct hand-offs', async () => {
    const store = createMemoryStore({ env: createRealEnv(), watch: { progressInterval: 5 } })
    const history = await recordHistory({ random: createSeededRandom(5), stores: [store], operations: 100 })
    assert.deepEqual(checkHistory(history), [])
  })

  it('are linearizable with delayed commits', async () => {
    const world = new VirtualWorld({ seed: 3 })
    const store = createMemoryStore({ env: world, watch: { progressInterval: 10 } })
    store.delayCommits(7)
    const history = await world.run(recordHistory({ random: world.random, stores: [store] }))
    assert.deepEqual(checkHistory(history), [])
  })
})

describe('a planted defect is found:', () => {
  const finds = async (wrap: (store: Store) => Store, expected: RegExp) => {
    const problems = await problemsOf(wrap)
    assert.ok(
      problems.some(problem => expected.test(problem)),
      `expected ${expected} among ${JSON.stringify(problems.slice(0, 3))}`,
    )
  }

  it('a stale read', () =>
    finds(store => {
      const first = new Map<string, Awaited<ReturnType<Store['get']>>>()
      return replace(store, {
        async get(key) {
          const result = await store.get(key)
          const old = first.get(key)
          if (!old) first.set(key, result)
          return old ?? result
        },
      })
    }, /not linearizable/))

  it('a stale read with a wrong revision', () =>
    finds(store => {
      const values = new Map<string, Awaited<ReturnType<Store['get']>>>()
      return replace(store, {
        async get(key) {
          const result = await store.get(key)
          const old = values.get(key)
          if (!old) values.set(key, result)
          return old ? { kv: old.kv, revision: result.revision } : result
        },
      })
    }, /values of .* are not linearizable/))

  it('a lost update: acknowledged, never done', () =>
    finds(store => {
      const lose = nowAndThen(20)
      return replace(store, {
        async transact(transaction) {
          if (transaction.conditions?.length || !lose()) return store.transact(transaction)
          const { revision } = await store.status()
          return {
            committed: true,
            revision: revision + 1,
            previous: transaction.operations.map(() => undefined),
          }
        },
      })
    }, /not linearizable/))

  it('a condition that is not checked', () =>
    finds(
      store => replace(store, { transact: ({ operations }) => store.transact({ operations }) }),
      /not linearizable/,
    ))

  it('half a transaction', () =>
    finds(
      store =>
        replace(store, {
          transact: async transaction => {
            const { operations } = transaction
            const result = await store.transact({ ...transaction, operations: operations.slice(0, 1) })
            if (!result.committed || operations.length === 1) return result
            return { ...result, previous: [...result.previous, undefined] }
          },
        }),
      /missing|not linearizable/,
    ))

  it('a read of a write that is not durable', () =>
    finds(store => {
      const early = new Map<string, Uint8Array>()
      return replace(store, {
        async transact(transaction) {
          for (const operation of transaction.operations) {
            if (operation.type === 'put') early.set(operation.key, operation.value)
          }
          return store.transact(transaction)
        },
        async get(key) {
          const { kv, revision } = await store.get(key)
          const value = early.get(key)
          return { kv: kv && value ? { ...kv, value } : kv, revision }
        },
      })
    }, /not linearizable/))

  it('events out of order', () =>
    finds(
      store => replaceBatches(store, batch => [{ ...batch, changes: batch.changes.toReversed() }]),
      /came after the one/,
    ))

  it('a dropped event', () =>
    finds(store => {
      const drop = nowAndThen(15)
      return replaceBatches(store, batch => [drop() ? { ...batch, changes: batch.changes.slice(1) } : batch])
    }, /is missing/))

  it('an event delivered twice', () =>
    finds(store => {
      const twice = nowAndThen(10)
      return replaceBatches(store, batch => (batch.changes.length > 0 && twice() ? [batch, batch] : [batch]))
    }, /had been delivered/))

  it('a transaction split over two batches', () =>
    finds(
      store =>
        replaceBatches(store, batch =>
          batch.changes.length > 1 ? batch.changes.map(change => ({ ...batch, changes: [change] })) : [batch],
        ),
      /had been delivered/,
    ))

  it('progress that overtakes an event', () =>
    finds(store => {
      const early = nowAndThen(8)
      return replaceBatches(store, batch =>
        batch.changes.length > 0 && early() ? [{ revision: batch.revision, changes: [] }, batch] : [batch],
      )
    }, /had been delivered/))

  it('a wrong previous value', () =>
    finds(store => {
      const wrong = nowAndThen(12)
      const spoil = (change: Change): Change =>
        change.previous && wrong() ? { ...change, previous: { ...change.previous, version: 99 } } : change
      return replaceBatches(store, batch => [{ ...batch, changes: batch.changes.map(spoil) }])
    }, /not what was delivered/))

  it('an event that was never written', () =>
    finds(store => {
      const invent = nowAndThen(12)
      const spoil = (change: Change): Change =>
        change.type === 'put' && invent()
          ? { ...change, kv: { ...change.kv, value: new TextEncoder().encode('invented') } }
          : change
      return replaceBatches(store, batch => [{ ...batch, changes: batch.changes.map(spoil) }])
    }, /never written|disagree/))
})
