import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findMismatches, pickExpected } from './match-partial.ts'

const paths = (expected: unknown, actual: unknown) => findMismatches(expected, actual).map(({ path }) => path)

describe('a part of an object', () => {
  it('matches whatever else the object has', () => {
    const actual = { a: 1, b: { c: 'x', d: [1] }, e: null }
    for (const expected of [
      {},
      { a: 1 },
      { b: { c: 'x' } },
      { b: { c: /^x$/ } },
      { z: undefined },
      { e: null },
    ])
      assert.deepEqual(paths(expected, actual), [], JSON.stringify(expected))
  })

  it('names every field that differs', () => {
    const actual = { a: 1, b: { c: 'x' }, 'example.com/n': '1' }
    assert.deepEqual(paths({ a: 2, b: { c: /y/, d: 1 }, 'example.com/n': '2', f: {} }, actual), [
      'a',
      'b.c',
      'b.d',
      '["example.com/n"]',
      'f',
    ])
    assert.deepEqual(paths({ a: undefined }, actual), ['a'])
    assert.deepEqual(paths({ a: {} }, { a: [] }), ['a'])
    assert.deepEqual(paths({ constructor: {} }, {}), ['constructor'])
  })

  it('finds the elements of a list in any order, each in an element of its own', () => {
    const conditions = [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False' },
    ]
    assert.deepEqual(paths([{ type: 'Synced' }, { type: 'Ready' }], conditions), [])
    assert.deepEqual(paths([{}, { type: 'Ready' }], conditions), [], 'the first gives way')
    assert.deepEqual(paths([{ type: 'Ready' }, { type: 'Ready' }], conditions), ['[1]'])
    assert.deepEqual(paths([{}, {}, {}], conditions), ['[2]'])
    assert.deepEqual(paths([1], 'x'), [''])
  })

  it('picks what an expectation is about', () => {
    assert.deepEqual(pickExpected({ a: { b: 1 }, c: 2 }, { a: { b: 3, x: 1 }, y: 1 }), { a: { b: 3 } })
  })
})
