import type { Change } from '../store.ts'
import { type ConformanceCase, check, equal, rejects, revisionOf } from './context.ts'

/** How a watch begins, reports progress, and ends. */
export const watchLifecycleCases: readonly ConformanceCase[] = [
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
        for (const item of changes.map(change => c.describe(change))) seen.push(item)
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
      let delivered = from - 1
      for (let batch = (await c.target.within(first)).value; ; batch = await watch.next()) {
        for (const change of batch.changes) {
          check(revisionOf(change) > delivered, 'a change comes before its revision is reported')
          seen.push(revisionOf(change))
        }
        check(batch.revision >= delivered, 'revisions do not go back')
        delivered = batch.revision
        if (delivered >= last) break
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
    name: 'a slow watch ends with SlowWatcher, blocks no other watch, and can be resumed where it stopped',
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
      const readAll = async () => {
        for (;;) {
          const batch = await slow.next()
          check(batch.revision >= next, 'in order')
          next = batch.revision + 1
        }
      }
      await rejects(readAll(), 'SlowWatcher')
      const left = from + 400 - (next - 1)
      equal(
        (await c.watch({ from: next }).changes(left)).map(revisionOf)[0],
        next,
        'resumed at the next revision',
      )
    },
  },
]
