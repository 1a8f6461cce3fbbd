import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { readExactly } from './exact-reader.ts'
import { readJson } from './read-json.ts'
import { deepClone, deepEqual } from './value.ts'
import { writeJson, writeJsonBytes } from './write-json.ts'

function nest(levels: number, leaf: unknown): unknown {
  let value = leaf
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

const runs = Number(process.env.TORTURE_RUNS ?? 2_000)
const seed = Number(process.env.TORTURE_SEED ?? 20261115)

describe('writeJson', () => {
  it('writes bigint as digits and leaves out undefined members', () => {
    const value = { n: 9007199254740993n, u: undefined, list: [undefined, Number.NaN, -1n], s: '"' }
    assert.equal(writeJson(value), '{"n":9007199254740993,"list":[null,null,-1],"s":"\\""}')
    assert.equal(writeJson(undefined), 'null')
  })

  it('gives back what was read, whatever the nesting and the keys', () => {
    for (const text of [
      '{"__proto__":{"a":12345678901234567},"constructor":[]}',
      '['.repeat(10_000) + ']'.repeat(10_000),
      `${'{"a":'.repeat(9_999)}{}${'}'.repeat(9_999)}`,
    ]) {
      assert.equal(writeJson(readJson(new TextEncoder().encode(text)).value), text)
    }
  })

  it('refuses a value that contains itself', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    assert.throws(() => writeJson(cycle), TypeError)
  })

  it('encodes UTF-8', () => {
    assert.deepEqual(writeJsonBytes('é'), Uint8Array.of(0x22, 0xc3, 0xa9, 0x22))
  })
})

describe('deepClone and deepEqual', () => {
  it('copy and compare values nested 10,000 deep', () => {
    const a = nest(10_000, { x: [1n, 'y'] })
    const b = deepClone(a)
    assert.notEqual(a, b)
    assert.ok(deepEqual(a, b))
    assert.ok(!deepEqual(a, nest(10_000, { x: [1n, 'z'] })))
  })

  it('share nothing with the original, and keep __proto__ as data', () => {
    const original = JSON.parse('{"a":[{"b":1}],"__proto__":{"c":2}}') as Record<string, unknown>
    const copy = deepClone(original)
    assert.equal(JSON.stringify(copy), JSON.stringify(original))
    assert.notEqual(copy.a, original.a)
    assert.equal(Object.getPrototypeOf(copy), Object.prototype)
  })

  it('compare numbers by value and members without order', () => {
    assert.ok(deepEqual({ a: 5n, b: 1 }, { b: 1, a: 5 }))
    assert.ok(deepEqual({ a: undefined }, {}))
    assert.ok(!deepEqual({ a: 1 }, { a: 1, b: null }))
    assert.ok(!deepEqual([1], { 0: 1 }))
    assert.ok(!deepEqual({ toString: 1 }, {}))
    assert.ok(!deepEqual(5n, 5.5))
    assert.ok(!deepEqual('5', 5))
  })
})

describe('the strict reader, on generated texts', () => {
  const random = createSeededRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)]!
  const scalars = [
    '0',
    '-0',
    '1',
    '-17',
    '1.5',
    '1e2',
    '9007199254740993',
    '123456789012345678901',
    'true',
    'null',
    '""',
  ]
  const keys = ['"a"', '"b"', '"\\u0061"', '"__proto__"', '"1"', '"é"', '"a.b"', '"constructor"']
  const space = () => pick(['', '', '', ' ', '\n\t'])

  function generate(depth: number): string {
    const kind = depth > 4 ? 2 : Math.floor(random.next() * 3)
    const count = Math.floor(random.next() * 4)
    if (kind === 2) return pick(scalars)
    const items = Array.from({ length: count }, () => {
      const value = space() + generate(depth + 1) + space()
      return kind === 0 ? `${space()}${pick(keys)}${space()}:${value}` : value
    })
    return kind === 0 ? `{${items.join(',')}}` : `[${items.join(',')}]`
  }

  it('agrees with the exact reader on every text', () => {
    for (let i = 0; i < runs; i++) {
      const text = generate(0)
      const document = readJson(new TextEncoder().encode(text))
      const exact = readExactly(text)
      assert.ok(deepEqual(document.value, exact.value), text)
      assert.deepEqual(document.duplicates, exact.duplicates, text)
      assert.equal(document.literals?.size ?? 0, exact.literals.size, text)
      assert.equal(writeJson(document.value), writeJson(exact.value), text)
    }
  })

  it('agrees with JSON.parse on what is JSON, for damaged texts', () => {
    const noise = [...'{}[]",:\\0-.eEu tfn\n\u0001é']
    for (let i = 0; i < 2 * runs; i++) {
      const text = generate(1)
      const at = Math.floor(random.next() * text.length)
      const damaged = text.slice(0, at) + pick(noise) + text.slice(at + Math.floor(random.next() * 2))
      assert.equal(
        accepts(() => readJson(new TextEncoder().encode(damaged))),
        accepts(() => JSON.parse(damaged)),
        damaged,
      )
    }
    assert.deepEqual(Object.keys(Object.prototype), [])
  })
})

function accepts(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    // A number beyond every double is good JSON that cannot be stored.
    return String(error).includes('cannot unmarshal number')
  }
}
