import { type ConformanceCase, check, equal, revisionOf, textOf } from './context.ts'

/** What a watch delivers. */
export const watchCases: readonly ConformanceCase[] = [
  {
    name: 'a watch tells creations, updates and deletions in order',
    async run(c) {
      const from = (await c.store.status()).revision + 1
      const watch = c.watch({ from })
      await c.write(c.put('a', '1'))
      await c.write(c.put('b', '1'))
      await c.write(c.put('a', '2'))
      await c.write(c.remove('a'))
      const changes = await watch.changes(4)
      equal(
        changes.map(change => c.describe(change)),
        ['a=1', 'b=1', 'a=2', 'a deleted'],
        'changes',
      )
      equal(changes.map(revisionOf), [from, from + 1, from + 2, from + 3], 'revisions')
    },
  },
  {
    name: 'a change carries the state that the write made',
    async run(c) {
      const created = await c.write(c.put('a', '1'))
      const modified = await c.write(c.put('a', '2'))
      const [, change] = await c.watch({ from: created }).changes(2)
      check(change?.type === 'put', 'it is a put')
      const { kv } = change
      equal([kv.key, textOf(kv)], [c.key('a'), '2'], 'key and value')
      equal([kv.createRevision, kv.modRevision, kv.version], [created, modified, 2], 'revisions')
      equal((await c.store.get(c.key('a'))).kv, kv, 'the same as get shows')
    },
  },
  {
    name: 'a watch without a revision begins after what is there',
    async run(c) {
      await c.write(c.put('a', 'before'))
      const watch = c.watch({})
      const first = watch.begin()
      await c.target.pass(200)
      await c.write(c.put('a', 'after'))
      equal(await watch.words(1, first), ['a=after'], 'changes')
    },
  },
  {
    name: 'a watch from the past tells history, then goes on with what happens',
    async run(c) {
      const from = await c.write(c.put('a', '1'))
      await c.write(c.put('a', '2'))
      const watch = c.watch({ from })
      equal(await watch.words(2), ['a=1', 'a=2'], 'history')
      await c.write(c.put('a', '3'))
      await c.write(c.remove('a'))
      equal(await watch.words(2), ['a=3', 'a deleted'], 'afterwards')
    },
  },
  {
    name: 'a watch begins with exactly the revision asked for',
    async run(c) {
      await c.write(c.put('a', '1'))
      const from = await c.write(c.put('a', '2'))
      await c.write(c.put('a', '3'))
      equal(await c.watch({ from }).words(2), ['a=2', 'a=3'], 'inclusive')
      equal(await c.watch({ from: from + 1 }).words(1), ['a=3'], 'one later')
    },
  },
  {
    name: 'a watch tells only of keys with its prefix',
    async run(c) {
      const from = await c.write(c.put('pods/a', '1'))
      await c.write(c.put('podsets/a', 'x'), c.put('pods', 'x'))
      await c.write(c.put('pod/a', 'x'))
      await c.write(c.remove('podsets/a'))
      await c.write(c.put('pods/b', '2'))
      equal(await c.watch({ from }, c.key('pods/')).words(2), ['pods/a=1', 'pods/b=2'], 'changes')
    },
  },
  {
    name: 'the changes of one transaction come in one batch, in the order of its operations',
    async run(c) {
      await c.write(c.put('d', 'old'))
      const from = await c.write(c.put('c', '1'), c.put('a', '1'), c.remove('d'), c.put('b', '1'))
      const { changes, revision } = await c.watch({ from }).next()
      equal(new Set(changes.map(revisionOf)), new Set([from]), 'one revision')
      equal(
        changes.map(change => c.describe(change)).toSorted(),
        ['a=1', 'b=1', 'c=1', 'd deleted'],
        'changes',
      )
      equal(revision, from, 'batch revision')
    },
  },
  {
    name: 'a transaction that is partly under the prefix delivers that part',
    async run(c) {
      const from = await c.write(c.put('x/a', '1'), c.put('y/a', '1'), c.put('x/b', '1'))
      const { changes } = await c.watch({ from }, c.key('x/')).next()
      equal(changes.map(change => c.describe(change)).toSorted(), ['x/a=1', 'x/b=1'], 'changes')
    },
  },
  {
    name: 'previous values are delivered when requested',
    async run(c) {
      const from = await c.write(c.put('a', '1'))
      await c.write(c.put('a', '2'))
      await c.write(c.remove('a'))
      await c.write(c.put('a', '3'))
      const changes = await c.watch({ from, previous: true }).changes(4)
      equal(
        changes.map(({ previous }) => previous && [textOf(previous), previous.modRevision, previous.version]),
        [undefined, ['1', from, 1], ['2', from + 1, 2], undefined],
        'previous values',
      )
    },
  },
  {
    name: 'previous values are not delivered when not requested',
    async run(c) {
      const from = await c.write(c.put('a', '1'))
      await c.write(c.put('a', '2'))
      await c.write(c.remove('a'))
      for (const change of await c.watch({ from }).changes(3)) equal(change.previous, undefined, 'previous')
    },
  },
  {
    name: 'previous values are delivered for live changes as for past ones',
    async run(c) {
      const from = (await c.write(c.put('a', '1'))) + 1
      const watch = c.watch({ from, previous: true })
      const first = watch.begin()
      await c.write(c.put('a', '2'))
      await c.write(c.remove('a'))
      const changes = await watch.changes(2, first)
      equal(
        changes.map(({ previous }) => previous && textOf(previous)),
        ['1', '2'],
        'previous values',
      )
    },
  },
  {
    name: 'transactions that change nothing are not delivered',
    async run(c) {
      const from = await c.write(c.put('a', '1'))
      const watch = c.watch({ from })
      await c.putIf('a', 0, 'refused')
      await c.write(c.remove('none'))
      await c.store.transact({ operations: [] })
      await c.write(c.put('a', '2'))
      equal(await watch.words(2), ['a=1', 'a=2'], 'changes')
    },
  },
  {
    name: 'every watch sees the same order, the order of revisions',
    async run(c) {
      const from = (await c.store.status()).revision + 1
      const watches = [c.watch({ from }), c.watch({ from }), c.watch({ from, previous: true })]
      const firsts = watches.map(watch => watch.begin())
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let i = 0; i < 10; i++) await c.write(c.put(`k${(writer + i) % 5}`, `${writer}.${i}`))
      })
      await Promise.all(writers)
      const seen = await Promise.all(watches.map((watch, i) => watch.changes(80, firsts[i])))
      for (const changes of seen) {
        equal(
          changes.map(revisionOf),
          Array.from({ length: 80 }, (_, i) => from + i),
          'revisions',
        )
        equal(
          changes.map(change => c.describe(change)),
          seen[0]!.map(change => c.describe(change)),
          'changes',
        )
      }
    },
  },
  {
    name: 'a watch can be resumed after any batch, without gap or duplicate',
    async run(c) {
      const from = await c.write(c.put('a', '0'))
      for (let i = 1; i < 10; i++) await c.write(c.put('a', String(i)))
      const words: string[] = []
      for (let next = from; words.length < 10; ) {
        const watch = c.watch({ from: next })
        const batch = await watch.next()
        for (const item of batch.changes.map(change => c.describe(change))) words.push(item)
        next = batch.revision + 1
        await watch.leave()
      }
      equal(
        words,
        Array.from({ length: 10 }, (_, i) => `a=${i}`),
        'changes',
      )
    },
  },
  {
    name: 'a long history is delivered completely',
    async run(c) {
      const from = (await c.store.status()).revision + 1
      for (let i = 0; i < 30; i++)
        await c.write(...Array.from({ length: 100 }, (_, j) => c.put(`k${j}`, `${i}`)))
      const batches = await c.watch({ from }).batches(3000)
      let last = from - 1
      for (const { changes, revision } of batches) {
        equal(changes.length % 100, 0, 'transactions stay whole')
        for (const change of changes)
          check(revisionOf(change) > last && revisionOf(change) <= revision, 'in order')
        last = revision
      }
    },
  },
  {
    name: 'a hundred watches each see everything',
    async run(c) {
      const from = (await c.store.status()).revision + 1
      const watches = Array.from({ length: 100 }, (_, i) => c.watch({ from, previous: i % 2 === 0 }))
      const firsts = watches.map(watch => watch.begin())
      for (let i = 0; i < 5; i++) await c.write(c.put('a', String(i)))
      const seen = await Promise.all(watches.map((watch, i) => watch.words(5, firsts[i])))
      for (const words of seen) equal(words, ['a=0', 'a=1', 'a=2', 'a=3', 'a=4'], 'changes')
    },
  },
  {
    name: 'a change is delivered only when a read would show it',
    async run(c) {
      const from = (await c.store.status()).revision + 1
      const watch = c.watch({ from })
      const writes = Array.from({ length: 20 }, (_, i) => c.write(c.put('a', String(i))))
      for (let delivered = 0; delivered < 20; ) {
        const batch = await watch.next()
        delivered += batch.changes.length
        check((await c.store.get(c.key('a'))).revision >= batch.revision, 'the store has come as far')
      }
      await Promise.all(writes)
    },
  },
  {
    name: 'changes from many writers come once each, in the order of revisions',
    async run(c) {
      const from = (await c.store.status()).revision + 1
      const watch = c.watch({ from })
      const reading = watch.changes(160)
      const acknowledged: string[] = []
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let i = 0; i < 20; i++) {
          const revision = await c.write(c.put(`k${writer}`, String(i)))
          acknowledged.push(`${revision} k${writer}=${i}`)
        }
      })
      await Promise.all(writers)
      const delivered = (await reading).map(change => `${revisionOf(change)} ${c.describe(change)}`)
      equal(delivered.length, new Set(delivered).size, 'each once')
      equal(
        delivered,
        delivered.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
        'in order',
      )
      equal(delivered.toSorted(), acknowledged.toSorted(), 'what was acknowledged')
    },
  },
]
