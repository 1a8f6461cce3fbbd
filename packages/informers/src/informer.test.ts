import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLogger, type LogRecord, VirtualWorld } from '@coxswain/kit'
import { Informer, type InformerOptions } from './index.ts'
import { FakeCollection, type FakeCollectionOptions, type Pod } from './test-support/fake-collection.ts'
import { Observer, summary } from './test-support/observer.ts'

interface SetUpOptions {
  readonly seed?: number
  readonly server?: Partial<FakeCollectionOptions>
  readonly informer?: Partial<InformerOptions<Pod>>
}

function setUp({ seed = 1, server: serverOptions, informer: informerOptions }: SetUpOptions = {}) {
  const records: LogRecord[] = []
  const world = new VirtualWorld({ seed, log: () => createLogger(record => records.push(record)) })
  const server = new FakeCollection({ env: world, ...serverOptions })
  const informer = new Informer<Pod>({ source: server, env: world, freeze: true, ...informerOptions })
  const controller = new AbortController()
  const running: Promise<void>[] = []
  return {
    world,
    server,
    informer,
    records,
    start: () => running.push(informer.run(controller.signal)),
    agrees: () => assert.deepEqual(summary(informer.store.list()), summary(server.objects.values())),
    verbs: () => server.requests.map(request => request.verb),
    async [Symbol.asyncDispose]() {
      controller.abort()
      await world.run(Promise.all(running))
      assert.equal(server.openWatches, 0, 'a watch was left open')
      assert.equal(world.nextTimer, undefined, 'a timer was left behind')
    },
  }
}

describe('an informer', () => {
  it('has everything that existed, and later changes', async () => {
    await using sim = setUp()
    sim.server.put('a', 1)
    const observer = new Observer()
    const registration = sim.informer.addHandler(observer)
    sim.start()
    assert.equal(sim.informer.hasSynced, false)
    await sim.world.settle()
    assert.ok(sim.informer.hasSynced && registration.hasSynced)
    sim.server.put('b', 1)
    sim.server.put('a', 2)
    sim.server.remove('b')
    await sim.world.settle()
    assert.deepEqual(observer.log, ['add a 1 initially', 'add b 1', 'update a 1 -> 2', 'delete b'])
    sim.agrees()
    assert.deepEqual(sim.verbs(), ['watch'])
  })

  it('strips managedFields, and freezes cached objects in tests', async () => {
    await using sim = setUp()
    sim.server.put('a', 1)
    sim.start()
    await sim.world.settle()
    const pod = sim.informer.store.get('default/a')!
    assert.equal(pod.metadata.managedFields, undefined)
    assert.throws(() => {
      ;(pod.spec as { value: number }).value = 2
    }, TypeError)
  })

  it('keeps the result of the transform', async () => {
    const transform = (pod: Pod): Pod => ({ ...pod, spec: { value: pod.spec.value * 10 } })
    await using sim = setUp({ informer: { transform } })
    sim.server.put('a', 1)
    sim.start()
    await sim.world.settle()
    assert.equal(sim.informer.store.get('default/a')?.spec.value, 10)
  })

  it('requests objects without managedFields, unless a custom transform may need them', async () => {
    const queryOf = async (informer: { readonly transform?: (pod: Pod) => Pod }) => {
      await using sim = setUp({ informer })
      sim.start()
      await sim.world.settle()
      return sim.server.requests[0]?.query as { readonly omitManagedFields?: boolean }
    }
    assert.equal((await queryOf({})).omitManagedFields, true)
    assert.equal('omitManagedFields' in (await queryOf({ transform: pod => pod })), false)
  })

  it('sends the current state first to a handler that is added late', async () => {
    await using sim = setUp()
    sim.server.put('a', 1)
    sim.start()
    await sim.world.settle()
    const observer = new Observer()
    const registration = sim.informer.addHandler(observer)
    sim.server.put('a', 2)
    assert.equal(registration.hasSynced, false)
    await sim.world.settle()
    assert.ok(registration.hasSynced)
    assert.deepEqual(observer.log, ['add a 1 initially', 'update a 1 -> 2'])
    assert.deepEqual(sim.verbs(), ['watch'], 'without a request to the server')
  })

  it('is synced when the collection is empty', async () => {
    await using sim = setUp({ informer: { watchList: false } })
    const registration = sim.informer.addHandler({})
    sim.start()
    await sim.world.run(registration.synced(new AbortController().signal))
    assert.ok(registration.hasSynced && sim.informer.hasSynced)
  })

  it('sends nothing more to a removed handler', async () => {
    await using sim = setUp()
    const observer = new Observer()
    const registration = sim.informer.addHandler(observer)
    sim.start()
    await sim.world.settle()
    registration.remove()
    sim.server.put('a', 1)
    await sim.world.settle()
    assert.deepEqual(observer.log, [])
  })

  it('continues when a handler throws, without affecting other handlers', async () => {
    await using sim = setUp()
    const observer = new Observer()
    sim.informer.addHandler({
      onAdd: () => {
        throw new Error('no')
      },
    })
    sim.informer.addHandler(observer)
    sim.start()
    sim.server.put('a', 1)
    await sim.world.settle()
    assert.equal(observer.log.length, 1)
    assert.equal(sim.records.filter(({ message }) => message === 'an event handler threw').length, 1)
  })

  it('sends everything again each resync period to handlers that requested it', async () => {
    await using sim = setUp()
    const often = new Observer()
    const never = new Observer()
    sim.informer.addHandler(often, { resyncPeriod: 10_000 })
    sim.informer.addHandler(never)
    sim.server.put('a', 1)
    sim.start()
    await sim.world.advance(25_000)
    assert.deepEqual(often.log, ['add a 1 initially', 'resync a', 'resync a'])
    assert.deepEqual(never.log, ['add a 1 initially'])
  })

  it('finds objects by index, also by one added late, and after they changed', async () => {
    await using sim = setUp()
    sim.informer.addIndex('parity', pod => [pod.spec.value % 2 ? 'odd' : 'even'])
    sim.server.put('a', 1)
    sim.server.put('b', 2)
    sim.start()
    await sim.world.settle()
    const names = (index: string, value: string) =>
      sim.informer.store.byIndex(index, value).map(pod => pod.metadata.name)
    assert.deepEqual(names('parity', 'odd'), ['a'])
    sim.server.put('a', 4)
    sim.server.remove('b')
    await sim.world.settle()
    assert.deepEqual(names('parity', 'odd'), [])
    assert.deepEqual(names('parity', 'even'), ['a'])
    sim.informer.addIndex('value', pod => [String(pod.spec.value)])
    assert.deepEqual(names('value', '4'), ['a'])
    assert.deepEqual(sim.informer.store.list('default').length, 1)
    assert.deepEqual(sim.informer.store.list('other'), [])
    assert.throws(() => names('nothing', 'x'), { code: 'UnknownIndex' })
    assert.throws(() => sim.informer.addIndex('value', () => []), { code: 'DuplicateIndex' })
  })

  it('detects mutations of cached objects', async () => {
    await using sim = setUp({ informer: { freeze: false, detectMutations: true } })
    sim.server.put('a', 1)
    sim.start()
    await sim.world.settle()
    ;(sim.informer.store.get('default/a')!.spec as { value: number }).value = 7
    await sim.world.advance(2_000)
    const found = sim.records.filter(({ message }) => message === 'a cached object was changed')
    assert.equal(found.length, 1)
    assert.equal((found[0]!.fields.error as { code: string }).code, 'ObjectMutated')
  })

  it('warns with numbers when the cache has grown large', async () => {
    const padding = 'x'.repeat(110_000)
    const transform = (pod: Pod): Pod => ({ ...pod, spec: { ...pod.spec, padding } as Pod['spec'] })
    await using sim = setUp({ informer: { watchList: false, transform } })
    for (let i = 0; i < 1_000; i++) sim.server.put(`pod-${i}`, i)
    sim.start()
    await sim.world.settle()
    const [warning] = sim.records.filter(({ level }) => level === 'warn')
    assert.equal(warning?.fields.objects, 1_000)
    assert.ok(Number(warning?.fields.bytes) > 110e6)
  })
})

describe('listing', () => {
  it("requests pages of 500 from the server's cache", async () => {
    await using sim = setUp({ informer: { watchList: false } })
    for (let i = 0; i < 1_234; i++) sim.server.put(`pod-${i}`, i)
    sim.start()
    await sim.world.settle()
    assert.equal(sim.informer.store.size, 1_234)
    assert.deepEqual(sim.verbs(), ['list', 'list', 'list', 'watch'])
    assert.deepEqual(sim.server.requests[0]?.query, { resourceVersion: '0', limit: 500 })
  })

  it('restarts with a full list when its pages are compacted', async () => {
    await using sim = setUp({ informer: { watchList: false }, server: { faults: { latency: 100 } } })
    for (let i = 0; i < 600; i++) sim.server.put(`pod-${i}`, i)
    sim.start()
    await sim.world.runUntil(() => sim.server.requests.length === 2)
    sim.server.compact()
    await sim.world.advance(1_000)
    assert.equal(sim.informer.store.size, 600)
    assert.deepEqual(sim.server.requests[2]?.query, { resourceVersion: '0' })
  })

  it('lists if the server rejects a watch-list, and requests none again', async () => {
    await using sim = setUp({ server: { watchList: 'no' } })
    sim.server.put('a', 1)
    sim.start()
    await sim.world.settle()
    sim.agrees()
    assert.deepEqual(sim.verbs(), ['watch', 'list', 'watch'])
    sim.server.compact()
    sim.server.put('b', 1)
    sim.server.compact()
    await sim.world.advance(60_000)
    sim.agrees()
    assert.ok(sim.server.requests.slice(1).every(({ query }) => !('sendInitialEvents' in (query as object))))
  })

  it('lists if the server does not know watch-lists', async () => {
    await using sim = setUp({ server: { watchList: 'ignored' } })
    sim.server.put('a', 1)
    sim.start()
    await sim.world.advance(30_000)
    assert.ok(sim.informer.hasSynced)
    sim.agrees()
    assert.deepEqual(sim.verbs(), ['watch', 'list', 'watch'])
  })

  it('times out a list that is not answered, and retries', async () => {
    let asked = 0
    await using sim = setUp({ informer: { watchList: false } })
    const source = {
      watch: sim.server.watch.bind(sim.server),
      list: (...args: Parameters<typeof sim.server.list>) => {
        if (asked++ > 0) return sim.server.list(...args)
        return new Promise<never>((_, reject) =>
          args[1].addEventListener('abort', () => reject(args[1].reason), { once: true }),
        )
      },
    }
    const informer = new Informer<Pod>({ source, env: sim.world, watchList: false })
    const controller = new AbortController()
    const run = informer.run(controller.signal)
    await sim.world.advance(63_000)
    assert.ok(informer.hasSynced)
    controller.abort()
    await sim.world.run(run)
  })
})

describe('watching', () => {
  it('relists once when its resourceVersion was compacted, and misses nothing', async () => {
    await using sim = setUp({ informer: { watchList: false } })
    const observer = new Observer()
    sim.informer.addHandler(observer)
    sim.server.put('a', 1)
    sim.server.put('gone', 1)
    sim.start()
    await sim.world.settle()
    sim.server.put('b', 1)
    sim.server.remove('gone')
    sim.server.compact()
    await sim.world.advance(2_000)
    assert.deepEqual(observer.log.slice(2).sort(), ['add b 1', 'delete gone, missed'])
    assert.deepEqual(sim.verbs(), ['list', 'watch', 'list', 'watch'])
    const relist = sim.server.requests[2]?.query as { resourceVersion: string; limit?: number }
    assert.deepEqual(relist, { resourceVersion: '102' }, 'at the resourceVersion it has, in one piece')
    observer.assertAgrees(sim.server)
  })

  it('reports a deletion and an addition when an object was replaced by another of its name unseen', async () => {
    await using sim = setUp()
    const observer = new Observer()
    sim.informer.addHandler(observer)
    sim.server.put('a', 1)
    sim.start()
    await sim.world.settle()
    sim.server.remove('a')
    sim.server.put('a', 2)
    sim.server.compact()
    await sim.world.advance(2_000)
    assert.deepEqual(observer.log, ['add a 1 initially', 'delete a, missed', 'add a 2'])
  })

  it('follows a server that was restored to an earlier state', async () => {
    for (const watchList of [true, false]) {
      await using sim = setUp({ informer: { watchList } })
      sim.server.put('a', 1)
      sim.start()
      await sim.world.settle()
      sim.server.reset()
      sim.server.put('b', 1)
      await sim.world.advance(60_000)
      sim.agrees()
    }
  })

  it('resumes where it was when the connection breaks, without a list', async () => {
    await using sim = setUp({ seed: 5, server: { faults: { drop: 0.5 } }, informer: { watchList: false } })
    sim.start()
    await sim.world.settle()
    for (let i = 0; i < 4; i++) {
      sim.server.put('a', i)
      await sim.world.advance(100_000)
    }
    sim.agrees()
    assert.equal(sim.verbs().filter(verb => verb === 'list').length, 1)
    assert.ok(sim.verbs().length > 4, 'some watches broke')
  })

  it('detects a dead connection', async () => {
    await using sim = setUp({ informer: { watchList: false }, server: { faults: { silence: 1 } } })
    sim.start()
    await sim.world.advance(61_000)
    assert.equal(sim.verbs().length, 2)
    sim.server.put('a', 1)
    await sim.world.advance(100_000)
    assert.equal(sim.informer.store.size, 0, 'the connection is silent')
    sim.server.heal()
    await sim.world.advance(60_000)
    sim.agrees()
  })

  it('is quiet on a quiet resource: no reconnect storm in an hour, and no event lost afterwards', async () => {
    for (const bookmarks of [true, false]) {
      for (let seed = 1; seed <= 10; seed++) {
        await using sim = setUp({ seed, server: { bookmarks } })
        sim.start()
        await sim.world.advance(3_600_000)
        const { length } = sim.server.requests
        assert.ok(length >= 6 && length <= 13, `seed ${seed}: ${length} requests in an hour`)
        sim.server.put('a', 1)
        await sim.world.settle()
        sim.agrees()
      }
    }
  })

  it('is quiet also when the server stops sending bookmarks', async () => {
    await using sim = setUp()
    sim.start()
    await sim.world.advance(120_000)
    sim.server.bookmarks = false
    await sim.world.advance(3_600_000)
    const { length } = sim.server.requests
    assert.ok(length <= 14, `${length} requests in an hour`)
    sim.server.put('a', 1)
    await sim.world.settle()
    sim.agrees()
  })

  it('keeps its position by bookmarks: a compaction in the quiet hour costs no list', async () => {
    await using sim = setUp({ informer: { watchList: false } })
    sim.start()
    await sim.world.settle()
    for (let minute = 0; minute < 60; minute++) {
      sim.server.tick()
      await sim.world.advance(61_000)
    }
    assert.equal(sim.verbs().filter(verb => verb === 'list').length, 1)
    sim.server.compact()
    sim.server.put('a', 1)
    await sim.world.advance(60_000)
    sim.agrees()
  })

  it('backs off when the server is down, up to a minute', async () => {
    await using sim = setUp({ server: { faults: { request: 1 } }, informer: { watchList: false } })
    sim.start()
    await sim.world.advance(3_600_000)
    const { requests } = sim.server
    assert.ok(requests.length > 30 && requests.length < 130, `${requests.length} requests in an hour`)
    sim.server.heal()
    sim.server.put('a', 1)
    await sim.world.advance(121_000)
    sim.agrees()
  })

  it('does not flood a server that ends every watch at once', async () => {
    await using sim = setUp()
    const source = {
      list: sim.server.list.bind(sim.server),
      watch: async function* () {
        sim.server.requests.push({ time: 0, verb: 'watch', query: {} })
        yield* []
      },
    }
    const informer = new Informer<Pod>({ source, env: sim.world })
    const controller = new AbortController()
    const run = informer.run(controller.signal)
    await sim.world.advance(600_000)
    assert.ok(informer.hasSynced, 'it lists when watch-lists do not work')
    assert.ok(sim.server.requests.length < 60, `${sim.server.requests.length} requests in ten minutes`)
    controller.abort()
    await sim.world.run(run)
  })
})
