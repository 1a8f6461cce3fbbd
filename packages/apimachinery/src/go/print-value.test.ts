import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareCodePoints, printJson } from './print-value.ts'

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

describe('printJson', () => {
  it('prints values as deep as the reader accepts', () => {
    const value = nested(50_000)
    assert.equal(printJson(value).length, 25_000 * 2 + 25_000 * 6 + 1)
  })

  it('stops at the limit of the text', () => {
    const value = Array.from({ length: 100_000 }, () => ({ a: 'b' }))
    assert.ok(printJson(value, true, 1_000).length < 1_100)
    assert.ok(printJson(value).startsWith(printJson(value, true, 1_000)))
  })

  it('takes __proto__ for a key', () => {
    const text = '{"__proto__":{"x":1},"b":2}'
    assert.equal(printJson(JSON.parse(text)), text)
  })

  it('sorts keys as Go does, by bytes', () => {
    assert.equal(printJson({ '\uffff': 1, '\u{10000}': 2, a: 3 }), '{"a":3,"\uffff":1,"\u{10000}":2}')
    assert.ok(compareCodePoints('a', 'ab') < 0)
    assert.equal(compareCodePoints('a', 'a'), 0)
  })

  it('leaves out undefined members, and prints undefined elements as null', () => {
    assert.equal(printJson({ a: undefined, b: [undefined, Number.NaN] }), '{"b":[null,null]}')
  })
})
