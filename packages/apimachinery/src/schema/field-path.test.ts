import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { followFieldPath } from './field-path.ts'
import type { Schema } from './schema.ts'

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        'a-b': { type: 'string' },
        "o'clock": { type: 'string' },
        map: { type: 'object', additionalProperties: { type: 'integer' } },
        list: { type: 'array', items: { type: 'string' } },
      },
    },
  },
}

describe('followFieldPath', () => {
  const good: readonly (readonly [string, string])[] = [
    ['.spec', 'spec'],
    ['.spec.a-b', 'spec.a-b'],
    [".spec['a-b']", 'spec.a-b'],
    [".spec['o\\'clock']", "spec.o'clock"],
    ['.spec.map.key', 'spec.map[key]'],
    [".spec.map['a.b']", 'spec.map[a.b]'],
  ]
  for (const [given, expected] of good) {
    it(`resolves ${given}`, () => {
      const target = followFieldPath(given, schema)
      assert.ok(typeof target === 'object', String(target))
      assert.equal(String(target.path), expected)
    })
  }

  const bad: readonly (readonly [string, string])[] = [
    ['spec', 'expected [ or . but got: spec'],
    ['.', 'unexpected end of JSON path'],
    ['.nope', 'does not refer to a valid field'],
    ['.spec.list.x', 'does not refer to a valid field'],
    ['.spec.list[0]', 'expected single quoted string but got 0'],
    [".spec['a-b'", 'unexpected end of JSON path'],
    [".spec['\\q']", 'invalid string literal: invalid escape char \\q'],
    ['.spec..map', 'does not refer to a valid field'],
  ]
  for (const [given, expected] of bad) {
    it(`rejects ${given}`, () => assert.equal(followFieldPath(given, schema), expected))
  }

  it('rejects brackets where only names are allowed', () => {
    assert.equal(
      followFieldPath(".spec['a-b']", schema, { brackets: false }),
      'array notation is not allowed',
    )
  })
})
