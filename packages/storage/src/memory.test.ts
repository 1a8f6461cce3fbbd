import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRealEnv, type StepRecord, VirtualWorld } from '@coxswain/kit'
import { isStoreError, type StoreErrorCode } from './errors.ts'
import { createMemoryStore, type MemoryStore } from './memory.ts'
import type { Store, WatchBatch } from './store.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const hasCode = (code: StoreErrorCode) => (error: unknown) => isStoreError(error, code)

function put(store: Store, key: string, text: string, modRevision?: number) {
  const conditions = modRevision === undefined ? [] : [{ key, modRevision }]
  return store.transact({ conditions, operations: [{ type: 'put', key, value: encode(text) }] })
}

async function text(store: Store, key: string): Promise<string | undefined> {
  const { kv } = await store.get(key)
  return kv && new TextDecoder().decode(kv.value)
}

function createWorld(seed = 1): { world: VirtualWorld; store: MemoryStore } {
  const world = new VirtualWorld({ seed })
  return { world, store: createMemoryStore({ env: world }) }
}

describe('a memory store with slow commits', () => {
  it('shows nothing before it is durable, but checks conditions against the pending state', async () => {
    const { world, store } = createWorld()
    store.delayCommits(100)
    const first = put(store, '/a', '1', 0)
    await world.advance(50)
    const second = put(store, '/a', '2', 0)
    const third = put(store, '/a', '3', 2)
    await world.advance(40)
    assert.equal(await text(store, '/a'), undefined)
    assert.equal((await store.status()).revision, 1)
    await world.advance(20)
    assert.equal((await first).committed, true)
    assert.equal(await text(store, '/a'), '1')
    await world.advance(100)
    assert.equal((await second).committed, false)
    assert.equal((await third).committed, true)
    assert.equal(await text(store, '/a'), '3')
  })

  it('commits together what arrives during one commit', async () => {
    const { world, store } = createWorld()
    store.delayCommits(100)
    const writes = [
      put(store, '/a', '1'),
      put(store, '/b', '1'),
      put(store, '/c', '1'),
      put(store, '/d', '1'),
    ]
    await world.advance(150)
    assert.equal((await store.status()).revision, 2)
    await world.advance(100)
    assert.deepEqual(await Promise.all(writes).then(all => all.map(({ revision }) => revision)), [2, 3, 4, 5])
  })

  it('delivers only durable changes to watches', async () => {
    const { world, store } = createWorld()
    store.delayCommits(100)
    const delivered: number[] = []
    const watch = store.watch('/', {})[Symbol.asyncIterator]()
    const next = watch.next().then(({ value }) => delivered.push((value as WatchBatch).revision))
    const write = put(store, '/a', '1')
    await world.advance(90)
    assert.deepEqual(delivered, [])
    await world.advance(20)
    await Promise.all([write, next])
    assert.deepEqual(delivered, [2])
    await watch.return?.()
  })
})

describe('a memory store with a failing disk', () => {
  it('fails the commit, everything that depends on it and every later write, and continues reading', async () => {
    const { world, store } = createWorld()
    await world.run(put(store, '/a', '1'))
    store.delayCommits(10)
    const first = put(store, '/a', '2')
    const built = put(store, '/a', '3', 3)
    const unrelated = put(store, '/b', '1')
    const cause = new Error('no space left')
    store.failWrites(cause)
    const outcomes = Promise.allSettled([first, built, unrelated])
    await world.advance(20)
    for (const outcome of await outcomes) {
      assert.ok(outcome.status === 'rejected' && hasCode('Failed')(outcome.reason))
      assert.equal(outcome.reason.cause, cause)
    }
    await assert.rejects(put(store, '/c', '1'), hasCode('Failed'))
    assert.equal(await text(store, '/a'), '1')
    assert.equal((await store.status()).revision, 2)
  })

  it('accepts writes again when it is opened again', async () => {
    const { world, store } = createWorld()
    store.failWrites()
    await assert.rejects(world.run(put(store, '/a', '1')), hasCode('Failed'))
    await store.close()
    const again = createMemoryStore({ env: world, disk: store.disk })
    assert.equal((await world.run(put(again, '/a', '2'))).revision, 2)
  })
})

describe('a memory store that crashes', () => {
  const crashDuringWrite = async (keepPending: boolean) => {
    const { world, store } = createWorld()
    await world.run(put(store, '/a', '1'))
    store.delayCommits(100)
    const write = put(store, '/a', '2')
    const queued = put(store, '/b', '1')
    const watch = store.watch('/', { from: 3 })[Symbol.asyncIterator]().next()
    const outcomes = Promise.allSettled([write, queued])
    store.crash({ keepPending })
    for (const outcome of await outcomes) {
      assert.ok(outcome.status === 'rejected' && hasCode('UnknownOutcome')(outcome.reason))
    }
    await assert.rejects(watch, hasCode('Closed'))
    await assert.rejects(store.get('/a'), hasCode('Closed'))
    return createMemoryStore({ env: world, disk: store.disk })
  }

  it('has what was acknowledged, and may have lost what was not', async () => {
    const reopened = await crashDuringWrite(false)
    assert.equal(await text(reopened, '/a'), '1')
    assert.equal((await reopened.status()).revision, 2)
  })

  it('may have kept the commit in progress', async () => {
    const reopened = await crashDuringWrite(true)
    assert.equal(await text(reopened, '/a'), '2')
    assert.equal(await text(reopened, '/b'), undefined)
    assert.equal((await reopened.status()).revision, 3)
  })

  it('still has its history and its times to live', async () => {
    const { world, store } = createWorld()
    const operations = [{ type: 'put' as const, key: '/a', value: encode('1'), ttl: 1000 }]
    await world.run(store.transact({ operations }))
    store.crash()
    const again = createMemoryStore({ env: world, disk: store.disk })
    const watch = again.watch('/', { from: 2 })[Symbol.asyncIterator]()
    assert.equal(((await world.run(watch.next())).value as WatchBatch).changes.length, 1)
    const gone = watch.next()
    await world.advance(1001)
    assert.equal(((await gone).value as WatchBatch).changes[0]?.type, 'delete')
  })
})

describe('a memory disk', () => {
  it('belongs to one store at a time', async () => {
    const { world, store } = createWorld()
    assert.throws(() => createMemoryStore({ env: world, disk: store.disk }), hasCode('Locked'))
    await store.close()
    createMemoryStore({ env: world, disk: store.disk })
  })
})

describe('a memory store in a virtual world', () => {
  const run = async (seed: number) => {
    const steps: string[] = []
    const onStep = ({ label }: StepRecord) => steps.push(label)
    const world = new VirtualWorld({ seed, onStep })
    const store = createMemoryStore({ env: world })
    const stop = new AbortController()
    const seen: string[] = []
    const watches = ['/a', '/b', '/'].map(async prefix => {
      for await (const { revision } of store.watch(prefix, { signal: stop.signal }))
        seen.push(`${prefix}${revision}`)
    })
    const writers = Array.from({ length: 5 }, async (_, writer) => {
      for (let i = 0; i < 5; i++) await put(store, `/${'ab'[i % 2]}${writer}`, String(i))
    })
    await world.run(Promise.all(writers))
    await world.settle()
    stop.abort()
    await world.run(Promise.all(watches))
    return { steps: steps.join(), seen: seen.join() }
  }

  it('behaves the same for the same seed, and differently for another', async () => {
    const [one, again, other] = [await run(1), await run(1), await run(2)]
    assert.deepEqual(one, again)
    assert.notEqual(one.seen, other.seen)
    assert.match(one.steps, /storage commit/)
    assert.match(one.steps, /watch \/a/)
  })
})

describe('values of a memory store', () => {
  it('are shared, not copied', async () => {
    const store = createMemoryStore({ env: createRealEnv() })
    const value = encode('shared')
    await store.transact({ operations: [{ type: 'put', key: '/a', value }] })
    assert.equal((await store.get('/a')).kv?.value, value)
    assert.equal((await store.range('/')).items[0]?.value, value)
  })
})
