import type { TransactionResult } from '../store.ts'
import { type ConformanceCase, type Context, check, equal, rejects, textOf } from './context.ts'

/** Transactions, expiry, compaction, closing. */
export const writeCases: readonly ConformanceCase[] = [
  {
    name: 'every write transaction gets the next revision',
    async run(c) {
      const first = await c.write(c.put('a', '1'))
      equal(await c.write(c.put('a', '2')), first + 1, 'second')
      equal(await c.write(c.put('b', '1'), c.put('c', '1')), first + 2, 'third')
      equal(await c.write(c.remove('b')), first + 3, 'fourth')
      equal((await c.store.status()).revision, first + 3, 'status')
    },
  },
  {
    name: 'all operations of a transaction share its revision',
    async run(c) {
      await c.write(c.put('gone', '1'))
      const revision = await c.write(c.put('a', '1'), c.remove('gone'), c.put('b', '1'))
      const { items } = await c.store.range(c.prefix)
      equal(
        items.map(kv => [kv.key.slice(c.prefix.length), kv.modRevision]),
        [
          ['a', revision],
          ['b', revision],
        ],
        'keys',
      )
    },
  },
  {
    name: 'a key can be created only once: condition 0 means absent',
    async run(c) {
      const first = await c.putIf('a', 0, 'first')
      check(first.committed, 'the first creation commits')
      const second = await c.putIf('a', 0, 'second')
      check(!second.committed, 'the second does not')
      equal(await c.text('a'), 'first', 'value')
      await c.write(c.remove('a'))
      check((await c.putIf('a', 0, 'again')).committed, 'after deletion it can be created')
    },
  },
  {
    name: 'a compare-and-set on the last revision succeeds, on an older one it fails and changes nothing',
    async run(c) {
      const one = await c.write(c.put('a', 'one'))
      const two = await c.putIf('a', one, 'two')
      check(two.committed, 'the right revision commits')
      const stale = await c.putIf('a', one, 'three')
      check(!stale.committed, 'the stale revision does not')
      equal(await c.text('a'), 'two', 'value')
    },
  },
  {
    name: 'a failed condition tells the present state of every key it named, in order',
    async run(c) {
      const revision = await c.write(c.put('a', 'here'))
      const conditions = [
        { key: c.key('none'), modRevision: 0 },
        { key: c.key('a'), modRevision: 0 },
        { key: c.key('b'), modRevision: 5 },
      ]
      const result = await c.store.transact({ conditions, operations: [c.put('x', '1')] })
      check(!result.committed, 'it does not commit')
      equal(
        result.present.map(kv => kv && [textOf(kv), kv.modRevision, kv.version]),
        [undefined, ['here', revision, 1], undefined],
        'present',
      )
      equal(result.revision, revision, 'revision')
      equal(await c.text('x'), undefined, 'the operation was not carried out')
    },
  },
  {
    name: 'every condition must hold',
    async run(c) {
      const a = await c.write(c.put('a', '1'))
      const b = await c.write(c.put('b', '1'))
      const conditions = (revisionOfB: number) => [
        { key: c.key('a'), modRevision: a },
        { key: c.key('b'), modRevision: revisionOfB },
      ]
      const wrong = await c.store.transact({ conditions: conditions(b + 1), operations: [c.put('c', '1')] })
      check(!wrong.committed, 'one wrong condition is enough to fail')
      const right = await c.store.transact({ conditions: conditions(b), operations: [c.put('c', '1')] })
      check(right.committed, 'all right commits')
    },
  },
  {
    name: 'a condition on an absent key fails unless it asks for absence',
    async run(c) {
      const result = await c.putIf('a', 1, 'x')
      check(!result.committed, 'it does not commit')
      equal(result.present, [undefined], 'present')
    },
  },
  {
    name: 'a failed transaction uses no revision',
    async run(c) {
      const before = await c.write(c.put('a', '1'))
      await c.putIf('a', 0, '2')
      equal(await c.write(c.put('a', '3')), before + 1, 'next revision')
    },
  },
  {
    name: 'a transaction that only checks commits without a revision of its own',
    async run(c) {
      const revision = await c.write(c.put('a', '1'))
      const conditions = [{ key: c.key('a'), modRevision: revision }]
      const result = await c.store.transact({ conditions, operations: [] })
      equal(result, { committed: true, revision, previous: [] }, 'result')
    },
  },
  {
    name: 'delete returns what stood before',
    async run(c) {
      const revision = await c.write(c.put('a', 'old'))
      const result = await c.store.transact({ operations: [c.remove('a')] })
      check(result.committed, 'it commits')
      const [kv] = result.previous
      equal([kv && textOf(kv), kv?.modRevision, kv?.version], ['old', revision, 1], 'previous')
      equal(result.revision, revision + 1, 'revision')
    },
  },
  {
    name: 'put returns what stood before, and nothing for a new key',
    async run(c) {
      await c.write(c.put('a', 'old'))
      const result = await c.store.transact({
        operations: [c.put('b', 'new'), c.put('a', 'newer'), c.remove('z')],
      })
      check(result.committed, 'it commits')
      equal(
        result.previous.map(kv => kv && textOf(kv)),
        [undefined, 'old', undefined],
        'previous',
      )
    },
  },
  {
    name: 'deleting an absent key changes nothing and uses no revision',
    async run(c) {
      const before = await c.write(c.put('a', '1'))
      const result = await c.store.transact({ operations: [c.remove('b')] })
      equal(result, { committed: true, revision: before, previous: [undefined] }, 'result')
      equal(await c.write(c.put('a', '2')), before + 1, 'next revision')
    },
  },
  {
    name: 'a delete can be conditional',
    async run(c) {
      const one = await c.write(c.put('a', '1'))
      const two = await c.write(c.put('a', '2'))
      const removeIf = (modRevision: number) =>
        c.store.transact({ conditions: [{ key: c.key('a'), modRevision }], operations: [c.remove('a')] })
      check(!(await removeIf(one)).committed, 'the stale revision fails')
      check((await removeIf(two)).committed, 'the last one commits')
      equal(await c.text('a'), undefined, 'value')
    },
  },
  {
    name: 'a condition may be on a key that is not changed',
    async run(c) {
      const guard = await c.write(c.put('guard', '1'))
      const conditions = [{ key: c.key('guard'), modRevision: guard }]
      check((await c.store.transact({ conditions, operations: [c.put('a', '1')] })).committed, 'it commits')
      await c.write(c.put('guard', '2'))
      check(
        !(await c.store.transact({ conditions, operations: [c.put('a', '2')] })).committed,
        'then it fails',
      )
    },
  },
  {
    name: 'transactions that no back end could take are refused',
    async run(c) {
      const { store } = c
      const value = new Uint8Array(1)
      await rejects(store.transact({ operations: [c.put('a', '1'), c.put('a', '2')] }), 'InvalidArgument')
      await rejects(store.transact({ operations: [c.put('a', '1'), c.remove('a')] }), 'InvalidArgument')
      await rejects(store.transact({ operations: [{ type: 'put', key: '', value }] }), 'InvalidArgument')
      await rejects(store.transact({ operations: [{ type: 'put', key: 'a\0b', value }] }), 'InvalidArgument')
      await rejects(store.transact({ operations: [{ type: 'put', key: 'ä', value }] }), 'InvalidArgument')
      await rejects(store.transact({ operations: [c.put('a', '1', 0)] }), 'InvalidArgument')
      const many = Array.from({ length: 129 }, (_, i) => c.put(String(i), '1'))
      await rejects(store.transact({ operations: many }), 'InvalidArgument')
      const huge = new Uint8Array(9 * 1024 * 1024)
      await rejects(
        store.transact({ operations: [{ type: 'put', key: c.key('a'), value: huge }] }),
        'TooLarge',
      )
      equal(await c.list(), [], 'nothing was written')
    },
  },
  {
    name: 'a transaction may have 128 operations',
    async run(c) {
      await c.write(...Array.from({ length: 128 }, (_, i) => c.put(`k${i}`, String(i))))
      equal((await c.store.range(c.prefix, { countOnly: true })).count, 128, 'count')
    },
  },
  {
    name: 'of many that update one key at once from the same revision exactly one wins',
    async run(c) {
      const start = await c.write(c.put('a', 'start'))
      const results = await Promise.all(Array.from({ length: 16 }, (_, i) => c.putIf('a', start, `by ${i}`)))
      const winners = results.flatMap((result, i) => (result.committed ? [i] : []))
      equal(winners.length, 1, 'winners')
      equal(await c.text('a'), `by ${winners[0]}`, 'value')
      for (const result of results) {
        if (!result.committed)
          equal(result.present[0] && textOf(result.present[0]), `by ${winners[0]}`, 'present')
      }
    },
  },
  {
    name: 'of many that create one key at once exactly one wins',
    async run(c) {
      const results = await Promise.all(Array.from({ length: 16 }, (_, i) => c.putIf('a', 0, `by ${i}`)))
      equal(results.filter(result => result.committed).length, 1, 'winners')
    },
  },
  {
    name: 'counters raised by compare-and-set from many clients lose no step',
    async run(c) {
      await c.write(c.put('n', '0'))
      await Promise.all(Array.from({ length: 8 }, () => raise(c, 10)))
      equal(await c.text('n'), '80', 'counter')
      equal((await c.store.get(c.key('n'))).kv?.version, 81, 'version')
    },
  },
  {
    name: 'writes issued together are carried out in the order they were issued by one client',
    async run(c) {
      const revisions = await Promise.all(
        Array.from({ length: 20 }, (_, i) => c.write(c.put('a', String(i)))),
      )
      const sorted = revisions.toSorted((a, b) => a - b)
      equal(new Set(revisions).size, 20, 'distinct revisions')
      equal(sorted[19]! - sorted[0]!, 19, 'consecutive')
      const last = revisions.indexOf(sorted[19]!)
      equal(await c.text('a'), String(last), 'the last value is that of the highest revision')
    },
  },
  {
    name: 'no reader sees half a transaction',
    async run(c) {
      const reads: Promise<string[]>[] = []
      const writes: Promise<number>[] = []
      for (let i = 0; i < 20; i++) {
        writes.push(c.write(c.put('a', String(i)), c.put('b', String(i))))
        reads.push(c.list())
      }
      await Promise.all(writes)
      for (const [a, b] of await Promise.all(reads)) equal(a?.slice(2), b?.slice(2), 'the two values')
    },
  },
  {
    name: 'a key with a time to live goes by itself',
    async run(c) {
      const ttl = c.target.shortestTtl
      const revision = await c.write(c.put('a', 'short', ttl), c.put('b', 'long'))
      equal(await c.list(), ['a=short', 'b=long'], 'at first')
      const watch = c.watch({ from: revision + 1, previous: true })
      const first = watch.begin()
      await c.target.pass(ttl * 2)
      const [change] = await watch.changes(1, first)
      check(change?.type === 'delete', 'the expiry is a deletion')
      equal([change.key, change.previous && textOf(change.previous)], [c.key('a'), 'short'], 'change')
      equal(await c.list(), ['b=long'], 'afterwards')
    },
  },
  {
    name: 'a put without a time to live ends the one before',
    async run(c) {
      const ttl = c.target.shortestTtl
      await c.write(c.put('a', 'short', ttl))
      await c.write(c.put('a', 'forever'))
      await c.target.pass(ttl * 3)
      equal(await c.text('a'), 'forever', 'value')
    },
  },
  {
    name: 'a put with a new time to live replaces the one before',
    async run(c) {
      const ttl = c.target.shortestTtl
      await c.write(c.put('a', 'short', ttl))
      await c.write(c.put('a', 'longer', ttl * 100))
      await c.target.pass(ttl * 3)
      equal(await c.text('a'), 'longer', 'value')
    },
  },
  {
    name: 'a time to live ends with the key it was given to',
    async run(c) {
      const ttl = c.target.shortestTtl
      await c.write(c.put('a', 'first', ttl))
      await c.write(c.remove('a'))
      await c.write(c.put('a', 'second'))
      await c.target.pass(ttl * 3)
      equal(await c.text('a'), 'second', 'value')
    },
  },
  {
    name: 'status tells the newest and the oldest readable revision',
    async run(c) {
      await c.write(c.put('a', '1'))
      const revision = await c.write(c.put('a', '2'))
      await c.store.compact(revision)
      await c.write(c.put('a', '3'))
      const status = await c.store.status()
      equal([status.revision, status.compactedRevision], [revision + 1, revision], 'status')
    },
  },
  {
    name: 'compaction of the future and of the past is refused, to the present it is possible, twice too',
    async run(c) {
      const one = await c.write(c.put('a', '1'))
      const two = await c.write(c.put('a', '2'))
      await rejects(c.store.compact(two + 1), 'FutureRevision')
      await c.store.compact(two)
      await c.store.compact(two)
      await rejects(c.store.compact(one), 'Compacted')
      await rejects(c.store.compact(0), 'InvalidArgument')
      equal(await c.text('a'), '2', 'value')
    },
  },
  {
    name: 'a closed store refuses everything, and closing again is no error',
    async run(c) {
      await c.write(c.put('a', '1'))
      await c.store.close()
      await c.store.close()
      await rejects(c.store.get(c.key('a')), 'Closed')
      await rejects(c.store.range(c.prefix), 'Closed')
      await rejects(c.store.transact({ operations: [c.put('a', '2')] }), 'Closed')
      await rejects(c.store.compact(1), 'Closed')
      await rejects(c.store.status(), 'Closed')
      await rejects(c.watch({}).next(), 'Closed')
    },
  },
  {
    name: 'closing waits for writes that were issued before',
    async run(c) {
      const writes = Array.from({ length: 10 }, (_, i) => c.write(c.put(`k${i}`, '1')))
      await c.store.close()
      equal((await Promise.all(writes)).length, 10, 'acknowledged')
    },
  },
  {
    name: 'a store compacts by itself what falls out of its window',
    settings: { historyRevisions: 20 },
    ownHistory: true,
    async run(c) {
      const first = await c.write(c.put('a', '0'))
      for (let i = 1; i < 60; i++) await c.write(c.put('a', String(i)))
      const { revision, compactedRevision } = await c.store.status()
      check(compactedRevision > first, 'something was compacted')
      check(revision - compactedRevision >= 19, 'the window is kept')
      await rejects(c.store.get(c.key('a'), { revision: first }), 'Compacted')
      equal(await c.text('a', compactedRevision), String(compactedRevision - first), 'oldest')
      equal(await c.text('a'), '59', 'newest')
    },
  },
]

async function raise(c: Context, times: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const { kv } = await c.store.get(c.key('n'))
    check(kv !== undefined, 'the counter is there')
    const result: TransactionResult = await c.putIf('n', kv.modRevision, String(Number(textOf(kv)) + 1))
    if (result.committed) done++
  }
}
