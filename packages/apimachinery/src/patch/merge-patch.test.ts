import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '../errors.ts'
import { applyMergePatch, createMergePatch, decodeMergePatch } from './merge-patch.ts'

describe('merge patch', () => {
  it('gives the results of RFC 7386', () => {
    const cases: [string, string, string][] = [
      ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
      ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
      ['{"a":"b"}', '{"a":null}', '{}'],
      ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
      ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
      ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
      ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
      ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
      ['["a","b"]', '["c","d"]', '["c","d"]'],
      ['{"a":"b"}', '["c"]', '["c"]'],
      ['{"a":"foo"}', '"bar"', '"bar"'],
      ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
      ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
      ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ]
    for (const [document, patch, expected] of cases) {
      assert.equal(JSON.stringify(applyMergePatch(JSON.parse(document), JSON.parse(patch))), expected)
    }
  })

  it('drops nulls inside of new lists, as kube-apiserver does', () => {
    assert.deepEqual(applyMergePatch({}, { a: [{ b: null, c: 1 }, null] }), { a: [{ c: 1 }, null] })
  })

  it('shares unchanged parts and never changes its inputs', () => {
    const document = { a: { x: 1 }, b: { y: 1 } }
    const patch = { a: { x: 2 } }
    const result = applyMergePatch(document, patch) as typeof document
    assert.equal(result.b, document.b)
    assert.deepEqual(document, { a: { x: 1 }, b: { y: 1 } })
    assert.equal(applyMergePatch(document, { b: { y: 1 } }), document)
  })

  it('creates the patch that leads from one object to the other', () => {
    const original = { a: 1, b: { c: 1, d: [1] }, e: 1, n: null }
    const modified = { a: 1, b: { c: 2, d: [1] }, f: {}, n: null }
    const patch = createMergePatch(original, modified)
    assert.deepEqual(patch, { b: { c: 2 }, f: {}, e: null })
    assert.deepEqual(applyMergePatch(original, patch), modified)
  })

  it('refuses what is no object', () => {
    assert.throws(
      () => decodeMergePatch([]),
      error =>
        isMachineryError(error, 'PatchUndecodable') &&
        error.message ===
          'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    )
  })

  it('rejects a patch nested deeper than it would recurse', () => {
    const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
    assert.throws(
      () => decodeMergePatch(deep(9_000)),
      error => isMachineryError(error, 'PatchUndecodable'),
    )
    assert.deepEqual(applyMergePatch({}, decodeMergePatch(deep(1_000))), deep(1_000))
  })

  it('treats __proto__ as an ordinary key', () => {
    const result = applyMergePatch({}, JSON.parse('{"__proto__":{"x":1},"a":{"__proto__":null}}'))
    assert.equal(JSON.stringify(result), '{"__proto__":{"x":1},"a":{}}')
    assert.equal(({} as Record<string, unknown>).x, undefined)
    assert.equal(
      JSON.stringify(createMergePatch({}, JSON.parse('{"__proto__":{"x":1}}'))),
      '{"__proto__":{"x":1}}',
    )
  })
})
