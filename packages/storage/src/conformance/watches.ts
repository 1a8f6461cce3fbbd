import type { Change } from '../store.ts'
import { type ConformanceCase, check, equal, rejects, revisionOf, textOf } from './context.ts'

/** watch. */
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
    name: 'a transaction that is partly under the prefix is told in that part',
    async run(c) {
      const from = await c.write(c.put('x/a', '1'), c.put('y/a', '1'), c.put('x/b', '1'))
      const { changes } = await c.watch({ from }, c.key('x/')).next()
      equal(changes.map(change => c.describe(change)).toSorted(), ['x/a=1', 'x/b=1'], 'changes')
    },
  },
  {
    name: 'previous values are told when asked for',
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
    name: 'previous values are not told when not asked for',
    async run(c) {
      const from = await c.write(c.put('a', '1'))
      await c.write(c.put('a', '2'))
      await c.write(c.remove('a'))
      for (const change of await c.watch({ from }).changes(3)) equal(change.previous, undefined, 'previous')
    },
  },
  {
    name: 'previous values are told of live changes as of past ones',
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
    name: 'transactions that change nothing are not told',
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
        words.push(...batch.changes.map(change => c.describe(change)))
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
    name: 'a long history is told completely',
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
    name: 'a watch from before the compacted revision is refused',
    async run(c) {
      const from = await c.write(c.put('a', '1'))
      await c.write(c.put('a', '2'))
      const three = await c.write(c.put('a', '3'))
      await c.store.compact(three)
      await rejects(c.watch({ from }).next(), 'Compacted')
      await rejects(c.watch({ from: three - 1 }).next(), 'Compacted')
    },
  },
  {
    name: 'a watch from the compacted revision on is answered',
    async run(c) {
      await c.write(c.put('a', '1'))
      const from = await c.write(c.put('a', '2'))
      await c.write(c.put('a', '3'))
      await c.store.compact(from)
      equal(await c.watch({ from }).words(2), ['a=2', 'a=3'], 'changes')
      equal(await c.watch({ from: from + 1, previous: true }).words(1), ['a=3'], 'later changes')
    },
  },
  {
    name: 'compaction does not disturb a watch that has kept up',
    async run(c) {
      const from = await c.write(c.put('a', '1'))
      const watch = c.watch({ from })
      equal(await watch.words(1), ['a=1'], 'first')
      const next = watch.begin()
      const two = await c.write(c.put('a', '2'))
      equal(await watch.words(1, next), ['a=2'], 'second')
      await c.store.compact(two)
      await c.write(c.put('a', '3'))
      equal(await watch.words(1), ['a=3'], 'third')
    },
  },
  {
    name: 'a watch from a future revision is refused, from the next it is not',
    async run(c) {
      const { revision } = await c.store.status()
      await rejects(c.watch({ from: revision + 2 }).next(), 'FutureRevision')
      const watch = c.watch({ from: revision + 1 })
      const first = watch.begin()
      await c.write(c.put('a', '1'))
      equal(await watch.words(1, first), ['a=1'], 'changes')
    },
  },
  {
    name: 'a watch from a revision that makes no sense is refused',
    async run(c) {
      await rejects(c.watch({ from: 0 }).next(), 'InvalidArgument')
      await rejects(c.watch({ from: 1.5 }).next(), 'InvalidArgument')
    },
  },
  {
    name: 'a watch ends when its signal aborts',
    async run(c) {
      const abort = new AbortController()
      const watch = c.watch({ signal: abort.signal })
      const first = watch.begin()
      await c.target.pass(20)
      abort.abort()
      equal((await c.target.within(first)).done, true, 'the batch that was waited for')
      check(await watch.ended(), 'the watch has ended')
    },
  },
  {
    name: 'a watch whose signal was aborted before ends at once',
    async run(c) {
      const watch = c.watch({ signal: AbortSignal.abort() })
      check(await watch.ended(), 'the watch has ended')
    },
  },
  {
    name: 'a watch that was left ends',
    async run(c) {
      const from = await c.write(c.put('a', '1'))
      const seen: string[] = []
      for await (const { changes } of c.store.watch(c.prefix, { from })) {
        seen.push(...changes.map(change => c.describe(change)))
        break
      }
      equal(seen, ['a=1'], 'seen')
      const watch = c.watch({ from })
      await watch.words(1)
      await watch.leave()
      check(await watch.ended(), 'the watch has ended')
    },
  },
  {
    name: 'a watch ends with Closed when the store is closed',
    async run(c) {
      const { revision } = await c.store.status()
      const waiting = c.watch({ from: revision + 1 }).begin()
      await c.target.pass(20)
      await c.store.close()
      await rejects(c.target.within(waiting), 'Closed')
    },
  },
  {
    name: 'progress says how far a watch has come when nothing concerns it',
    settings: { progressInterval: 100 },
    async run(c) {
      if (!(await c.store.status()).watchProgress) return
      const from = (await c.store.status()).revision + 1
      const watch = c.watch({ from, progress: true }, c.key('quiet/'))
      const first = watch.begin()
      const revision = await c.write(c.put('loud/a', '1'))
      await c.target.pass(300)
      c.store.requestProgress()
      let batch = (await c.target.within(first)).value
      while (batch.revision < revision) batch = await watch.next()
      equal([batch.revision, batch.changes.length], [revision, 0], 'batch')
    },
  },
  {
    name: 'progress never overtakes a change',
    settings: { progressInterval: 20 },
    async run(c) {
      if (!(await c.store.status()).watchProgress) return
      const from = (await c.store.status()).revision + 1
      const watch = c.watch({ from, progress: true }, c.key('a/'))
      const first = watch.begin()
      for (let i = 0; i < 30; i++) {
        await c.write(c.put(i % 3 === 0 ? 'a/x' : 'b/x', String(i)))
        c.store.requestProgress()
      }
      const { revision: last } = await c.store.status()
      const seen: number[] = []
      let told = from - 1
      for (let batch = (await c.target.within(first)).value; ; batch = await watch.next()) {
        for (const change of batch.changes) {
          check(revisionOf(change) > told, 'a change comes before its revision is said to be told')
          seen.push(revisionOf(change))
        }
        check(batch.revision >= told, 'revisions do not go back')
        told = batch.revision
        if (told >= last) break
        c.store.requestProgress()
      }
      equal(
        seen,
        Array.from({ length: 10 }, (_, i) => from + 3 * i),
        'changes',
      )
    },
  },
  {
    name: 'a watch without progress has no empty batches',
    settings: { progressInterval: 10 },
    async run(c) {
      const from = (await c.store.status()).revision + 1
      const watch = c.watch({ from }, c.key('a/'))
      const first = watch.begin()
      await c.write(c.put('b/x', '1'))
      c.store.requestProgress()
      await c.target.pass(100)
      await c.write(c.put('a/x', '1'))
      const { changes } = (await c.target.within(first)).value
      equal(
        changes.map((change: Change) => c.describe(change)),
        ['a/x=1'],
        'the first batch',
      )
    },
  },
  {
    name: 'a slow watch ends with SlowWatcher, blocks nobody, and can be resumed where it stopped',
    settings: { maxLag: 50 },
    async run(c) {
      const from = await c.write(c.put('a', 'start'))
      const slow = c.watch({ from })
      const quick = c.watch({ from })
      const { revision } = await slow.next()
      const seen = (await quick.words(1)).length
      for (let i = 0; i < 40; i++) {
        await Promise.all(Array.from({ length: 10 }, (_, j) => c.write(c.put(`k${j}`, String(i)))))
        equal((await quick.words(10)).length, 10, 'the quick watch keeps up')
      }
      equal(seen, 1, 'first change')
      let next = revision + 1
      const told = async () => {
        for (;;) {
          const batch = await slow.next()
          check(batch.revision >= next, 'in order')
          next = batch.revision + 1
        }
      }
      await rejects(told(), 'SlowWatcher')
      const left = from + 400 - (next - 1)
      equal(
        (await c.watch({ from: next }).changes(left)).map(revisionOf)[0],
        next,
        'resumed at the next revision',
      )
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
    name: 'a change is told only when a read would show it',
    async run(c) {
      const from = (await c.store.status()).revision + 1
      const watch = c.watch({ from })
      const writes = Array.from({ length: 20 }, (_, i) => c.write(c.put('a', String(i))))
      for (let told = 0; told < 20; ) {
        const batch = await watch.next()
        told += batch.changes.length
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
      const told = (await reading).map(change => `${revisionOf(change)} ${c.describe(change)}`)
      equal(told.length, new Set(told).size, 'each once')
      equal(
        told,
        told.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
        'in order',
      )
      equal(told.toSorted(), acknowledged.toSorted(), 'what was acknowledged')
    },
  },
]
