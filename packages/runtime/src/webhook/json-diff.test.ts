import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepClone } from '@coxswain/apimachinery/json'
import { applyJsonPatch } from '@coxswain/apimachinery/patch'
import fc from 'fast-check'
import { createJsonPatch } from './json-diff.ts'

const json = fc.jsonValue({ maxDepth: 4 })

describe('the JSON patch between two values', () => {
  it('turns the first into the second, and changes neither', () => {
    const property = fc.property(json, json, (first, second) => {
      const [before, after] = [{ value: first }, { value: second }]
      const [a, b] = [deepClone(before), deepClone(after)]
      assert.deepEqual(applyJsonPatch(before, createJsonPatch(before, after)), after)
      assert.deepEqual([before, after], [a, b])
    })
    fc.assert(property, { numRuns: 2_000, seed: 1 })
  })

  it('turns the first into the second when both have much in common', () => {
    const edits = fc.array(fc.tuple(fc.nat(5), fc.nat(2), json), { maxLength: 4 })
    const property = fc.property(fc.array(json, { maxLength: 6 }), edits, (before, changes) => {
      const after = deepClone(before)
      for (const [at, how, value] of changes) after.splice(at, how, deepClone(value))
      assert.deepEqual(applyJsonPatch({ list: before }, createJsonPatch({ list: before }, { list: after })), {
        list: after,
      })
    })
    fc.assert(property, { numRuns: 2_000, seed: 2 })
  })

  it('is empty for equal values, whatever the order of their members', () => {
    assert.deepEqual(createJsonPatch({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }), [])
  })

  it('contains only what has changed', () => {
    const before = { spec: { containers: [{ name: 'a' }, { name: 'b' }] }, metadata: { labels: { x: '1' } } }
    const after = {
      spec: { containers: [{ name: 'a' }, { name: 'new' }, { name: 'b' }], volumes: [] },
      metadata: { labels: { x: '2' } },
    }
    assert.deepEqual(createJsonPatch(before, after), [
      { op: 'add', path: '/spec/containers/1', value: { name: 'new' } },
      { op: 'add', path: '/spec/volumes', value: [] },
      { op: 'replace', path: '/metadata/labels/x', value: '2' },
    ])
    assert.deepEqual(createJsonPatch([1, 2, 3, 4], [1, 4]), [
      { op: 'remove', path: '/2' },
      { op: 'remove', path: '/1' },
    ])
  })

  it('escapes keys, and treats undefined as absent', () => {
    assert.deepEqual(createJsonPatch({ 'a/b~c': 1, d: 2 }, { 'a/b~c': 2, d: undefined, e: undefined }), [
      { op: 'remove', path: '/d' },
      { op: 'replace', path: '/a~1b~0c', value: 2 },
    ])
  })

  it('keeps whole numbers that a double cannot hold', () => {
    assert.deepEqual(createJsonPatch({ n: 2n ** 60n }, { n: 2n ** 60n + 1n }), [
      { op: 'replace', path: '/n', value: 2n ** 60n + 1n },
    ])
  })
})
