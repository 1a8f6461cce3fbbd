import { encodeText } from '@coxswain/kit'
import { type ConformanceCase, check, equal, rejects, textOf } from './context.ts'

/** get and range. */
export const readCases: readonly ConformanceCase[] = [
  {
    name: 'a key that was never written is a miss, with the revision of the store',
    async run(c) {
      const { revision: before } = await c.store.status()
      equal(await c.store.get(c.key('a')), { kv: undefined, revision: before }, 'result')
    },
  },
  {
    name: 'a put key is read back with its revisions',
    async run(c) {
      const revision = await c.write(c.put('a', 'one'))
      const { kv, revision: present } = await c.store.get(c.key('a'))
      check(kv !== undefined, 'the key is there')
      equal([kv.key, textOf(kv)], [c.key('a'), 'one'], 'key and value')
      equal([kv.modRevision, kv.createRevision, kv.version], [revision, revision, 1], 'revisions')
      equal(present, revision, 'store revision')
    },
  },
  {
    name: 'an overwritten key keeps its creation and counts its versions',
    async run(c) {
      const created = await c.write(c.put('a', 'one'))
      await c.write(c.put('a', 'two'))
      const modified = await c.write(c.put('a', 'three'))
      const { kv } = await c.store.get(c.key('a'))
      equal([kv?.createRevision, kv?.modRevision, kv?.version], [created, modified, 3], 'revisions')
    },
  },
  {
    name: 'a key that is deleted and put again begins a new life',
    async run(c) {
      await c.write(c.put('a', 'one'))
      await c.write(c.put('a', 'two'))
      await c.write(c.remove('a'))
      equal(await c.text('a'), undefined, 'after deletion')
      const created = await c.write(c.put('a', 'three'))
      const { kv } = await c.store.get(c.key('a'))
      equal([kv?.createRevision, kv?.modRevision, kv?.version], [created, created, 1], 'revisions')
    },
  },
  {
    name: 'get at a revision shows the value of that time',
    async run(c) {
      const first = await c.write(c.put('b', 'other'))
      const one = await c.write(c.put('a', 'one'))
      const two = await c.write(c.put('a', 'two'))
      const gone = await c.write(c.remove('a'))
      equal(await c.text('a', first), undefined, 'before creation')
      equal(await c.text('a', one), 'one', 'first value')
      equal(await c.text('a', two), 'two', 'second value')
      equal(await c.text('a', gone), undefined, 'after deletion')
    },
  },
  {
    name: 'get at a revision carries the revisions of that time',
    async run(c) {
      const one = await c.write(c.put('a', 'one'))
      await c.write(c.put('a', 'two'))
      const { kv } = await c.store.get(c.key('a'), { revision: one })
      equal([kv?.modRevision, kv?.createRevision, kv?.version], [one, one, 1], 'revisions')
    },
  },
  {
    name: 'reads of a future revision are refused',
    async run(c) {
      const revision = (await c.write(c.put('a', 'one'))) + 1
      await rejects(c.store.get(c.key('a'), { revision }), 'FutureRevision')
      await rejects(c.store.range(c.prefix, { revision }), 'FutureRevision')
    },
  },
  {
    name: 'reads before the compacted revision are refused, at it they are answered',
    async run(c) {
      const one = await c.write(c.put('a', 'one'))
      const two = await c.write(c.put('a', 'two'))
      await c.write(c.put('a', 'three'))
      await c.store.compact(two)
      await rejects(c.store.get(c.key('a'), { revision: one }), 'Compacted')
      await rejects(c.store.range(c.prefix, { revision: one }), 'Compacted')
      equal(await c.text('a', two), 'two', 'value at the compacted revision')
      equal(await c.list(two), ['a=two'], 'list at the compacted revision')
      equal(await c.text('a'), 'three', 'present value')
    },
  },
  {
    name: 'compaction keeps keys that have not changed since long before',
    async run(c) {
      await c.write(c.put('still', 'here'))
      for (let i = 0; i < 5; i++) await c.write(c.put('a', String(i)))
      const last = await c.write(c.remove('a'))
      await c.store.compact(last)
      equal(await c.list(), ['still=here'], 'list')
      equal(await c.list(last), ['still=here'], 'list at the compacted revision')
    },
  },
  {
    name: 'an empty range has no items and the revision of the store',
    async run(c) {
      const { revision } = await c.store.status()
      equal(await c.store.range(c.prefix), { items: [], more: false, count: 0, revision }, 'range')
    },
  },
  {
    name: 'a range is in the order of keys, whatever the order of writes',
    async run(c) {
      for (const name of ['m', 'a', 'z', 'b/x', 'b', 'b-x', 'b.x', 'B', 'b0']) await c.write(c.put(name, '1'))
      const { items } = await c.store.range(c.prefix)
      equal(
        items.map(kv => kv.key.slice(c.prefix.length)),
        ['B', 'a', 'b', 'b-x', 'b.x', 'b/x', 'b0', 'm', 'z'],
        'order',
      )
    },
  },
  {
    name: 'a range holds only keys with the prefix',
    async run(c) {
      await c.write(c.put('pods', 'x'), c.put('pods/a', '1'), c.put('pods/b', '2'), c.put('podsets/a', 'x'))
      await c.write(c.put('pod/a', 'x'), c.put('pods.metrics/a', 'x'))
      const { items, count } = await c.store.range(c.key('pods/'))
      equal([items.map(textOf), count], [['1', '2'], 2], 'items')
    },
  },
  {
    name: 'a limited range says how many keys there are and whether more follow',
    async run(c) {
      for (const name of ['a', 'b', 'c']) await c.write(c.put(name, name))
      const two = await c.store.range(c.prefix, { limit: 2 })
      equal([two.items.map(textOf), two.more, two.count], [['a', 'b'], true, 3], 'limit 2')
      const three = await c.store.range(c.prefix, { limit: 3 })
      equal([three.items.length, three.more, three.count], [3, false, 3], 'limit 3')
      const four = await c.store.range(c.prefix, { limit: 4 })
      equal([four.items.length, four.more, four.count], [3, false, 3], 'limit 4')
    },
  },
  {
    name: 'a range begins at its start key, and after it when a NUL is appended',
    async run(c) {
      for (const name of ['a', 'b', 'c']) await c.write(c.put(name, name))
      const at = await c.store.range(c.prefix, { start: c.key('b') })
      equal([at.items.map(textOf), at.count, at.more], [['b', 'c'], 2, false], 'start b')
      const after = await c.store.range(c.prefix, { start: `${c.key('b')}\0` })
      equal([after.items.map(textOf), after.count], [['c'], 1], 'after b')
      const between = await c.store.range(c.prefix, { start: c.key('aa'), limit: 1 })
      equal([between.items.map(textOf), between.count, between.more], [['b'], 2, true], 'start aa')
    },
  },
  {
    name: 'a start outside the prefix begins with its first key, or finds nothing',
    async run(c) {
      await c.write(c.put('x/a', 'a'))
      const before = await c.store.range(c.key('x/'), { start: c.key('a') })
      equal(before.items.map(textOf), ['a'], 'start before the prefix')
      const after = await c.store.range(c.key('x/'), { start: c.key('y') })
      equal([after.items.length, after.count, after.more], [0, 0, false], 'start after the prefix')
    },
  },
  {
    name: 'pages of one revision show one state, whatever is written meanwhile',
    async run(c) {
      for (const name of ['a', 'b', 'c', 'd', 'e']) await c.write(c.put(name, name))
      const first = await c.store.range(c.prefix, { limit: 2 })
      const { revision } = first
      await c.write(c.remove('c'))
      await c.write(c.put('d', 'changed'))
      await c.write(c.put('bb', 'new'))
      const pages = [first.items.map(textOf)]
      const counts = [first.count]
      for (let start = first.items[1]!.key; ; ) {
        const page = await c.store.range(c.prefix, { limit: 2, start: `${start}\0`, revision })
        pages.push(page.items.map(textOf))
        counts.push(page.count)
        equal(page.revision, revision, 'revision of a page')
        if (!page.more) break
        start = page.items.at(-1)!.key
      }
      equal(pages, [['a', 'b'], ['c', 'd'], ['e']], 'pages')
      equal(counts, [5, 3, 1], 'counts')
    },
  },
  {
    name: 'a range at a revision shows the keys of that time',
    async run(c) {
      await c.write(c.put('a', '1'))
      const then = await c.write(c.put('b', '1'))
      await c.write(c.remove('a'))
      await c.write(c.put('b', '2'))
      await c.write(c.put('c', '1'))
      equal(await c.list(then), ['a=1', 'b=1'], 'then')
      equal(await c.list(), ['b=2', 'c=1'], 'now')
      const { count } = await c.store.range(c.prefix, { revision: then, countOnly: true })
      equal(count, 2, 'count then')
    },
  },
  {
    name: 'keys only: no values, but revisions',
    async run(c) {
      const revision = await c.write(c.put('a', 'value'))
      const { items } = await c.store.range(c.prefix, { keysOnly: true })
      equal(items.length, 1, 'items')
      const kv = items[0]!
      equal([kv.key, kv.value.length, kv.modRevision, kv.version], [c.key('a'), 0, revision, 1], 'item')
    },
  },
  {
    name: 'count only: no items',
    async run(c) {
      await c.write(c.put('a', '1'), c.put('b', '1'), c.put('c', '1'))
      await c.write(c.remove('b'))
      const { items, count, more } = await c.store.range(c.prefix, { countOnly: true })
      equal([items.length, count, more], [0, 2, false], 'result')
    },
  },
  {
    name: 'values are bytes: all of them, none, and a megabyte come back as given',
    async run(c) {
      const all = Uint8Array.from({ length: 256 }, (_, i) => i)
      const large = new Uint8Array(1_000_000).map((_, i) => (i * 31) >> 3)
      const values = { all, empty: new Uint8Array(0), large }
      for (const [name, value] of Object.entries(values)) {
        await c.write({ type: 'put', key: c.key(name), value })
        const { kv } = await c.store.get(c.key(name))
        equal([kv?.value.length, hash(kv?.value)], [value.length, hash(value)], name)
      }
      const { items } = await c.store.range(c.prefix)
      equal(
        items.map(kv => hash(kv.value)),
        [all, values.empty, large].map(hash),
        'range',
      )
    },
  },
  {
    name: 'a value that is a part of a larger buffer is stored as that part',
    async run(c) {
      const buffer = encodeText('before-wanted-after')
      await c.write({ type: 'put', key: c.key('a'), value: buffer.subarray(7, 13) })
      equal(await c.text('a'), 'wanted', 'value')
    },
  },
  {
    name: 'a range of thousands of keys is complete and in order',
    async run(c) {
      const names = Array.from({ length: 2500 }, (_, i) => `k${String(i).padStart(5, '0')}`)
      for (let i = 0; i < names.length; i += 100) {
        await c.write(...names.slice(i, i + 100).map(name => c.put(name, `${name} ${'x'.repeat(1000)}`)))
      }
      const { items, count, more } = await c.store.range(c.prefix)
      equal([items.length, count, more], [2500, 2500, false], 'size')
      for (const [i, kv] of items.entries())
        check(textOf(kv).startsWith(`${names[i]} `), `item ${i} is ${names[i]}`)
      const page = await c.store.range(c.prefix, { limit: 500, start: c.key('k01000') })
      equal([page.items.length, page.count, page.more], [500, 1500, true], 'page')
    },
  },
  {
    name: 'what is read was acknowledged or will be: a read sees every acknowledged write',
    async run(c) {
      for (let i = 0; i < 20; i++) {
        const revision = await c.write(c.put('a', String(i)))
        const got = await c.store.get(c.key('a'))
        equal([got.kv && textOf(got.kv), got.revision >= revision], [String(i), true], 'get')
        equal(await c.list(), [`a=${i}`], 'range')
      }
    },
  },
  {
    name: 'a limit, a revision or a key that makes no sense is refused',
    async run(c) {
      await rejects(c.store.range(c.prefix, { limit: 0 }), 'InvalidArgument')
      await rejects(c.store.range(c.prefix, { limit: -1 }), 'InvalidArgument')
      await rejects(c.store.range(c.prefix, { limit: 1.5 }), 'InvalidArgument')
      await rejects(c.store.range(c.prefix, { revision: -1 }), 'InvalidArgument')
      await rejects(c.store.get(c.key('a'), { revision: 0 }), 'InvalidArgument')
      await rejects(c.store.get(c.key('a'), { revision: 1.5 }), 'InvalidArgument')
    },
  },
]

function hash(bytes: Uint8Array | undefined): number {
  let sum = 0
  for (const byte of bytes ?? []) sum = (sum * 31 + byte) >>> 0
  return sum
}
