import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareCodePoints, printJson } from '../go/print-value.ts'
import { deepCopyJson } from './deep-copy.ts'

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

describe('printing and copying', () => {
  it('support the deepest nesting that a reader accepts', () => {
    const value = nested(50_000)
    assert.equal(printJson(value).length, 25_000 * 2 + 25_000 * 6 + 1)
    assert.equal(printJson(deepCopyJson(value)), printJson(value))
  })

  it('stop at the limit', () => {
    const value = Array.from({ length: 100_000 }, () => ({ a: 'b' }))
    assert.ok(printJson(value, true, 1_000).length < 1_100)
    assert.ok(printJson(value).startsWith(printJson(value, true, 1_000)))
  })

  it('leave nothing shared', () => {
    const value = { a: [{ b: 1 }], n: null, big: 2n ** 60n }
    const copy = deepCopyJson(value)
    assert.deepEqual(copy, value)
    assert.notEqual(copy.a, value.a)
    assert.notEqual(copy.a[0], value.a[0])
  })

  it('treat __proto__ as an ordinary key', () => {
    const copy = deepCopyJson(JSON.parse('{"__proto__":{"x":1},"b":2}'))
    assert.equal(printJson(copy), '{"__proto__":{"x":1},"b":2}')
    assert.equal(Object.getPrototypeOf(copy), Object.prototype)
  })

  it('sort keys as Go does, by bytes', () => {
    assert.equal(printJson({ '\uffff': 1, '\u{10000}': 2, a: 3 }), '{"a":3,"\uffff":1,"\u{10000}":2}')
    assert.ok(compareCodePoints('a', 'ab') < 0)
    assert.equal(compareCodePoints('a', 'a'), 0)
  })

  it('leave out undefined members, and print undefined elements as null', () => {
    assert.equal(printJson({ a: undefined, b: [undefined, Number.NaN] }), '{"b":[null,null]}')
  })
})
