import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { baseOf, changesOf, valuesOf, withChange } from './values.ts'

describe('values of a schema', () => {
  it('keep bounds, enums and steps', () => {
    assert.deepEqual(valuesOf({ type: 'integer', minimum: 2, maximum: 3 }), [2, 3])
    assert.deepEqual(valuesOf({ type: 'integer', minimum: 0, maximum: 10, multipleOf: 5 }), [5, 0])
    assert.deepEqual(valuesOf({ type: 'string', enum: ['x', 'y'] }), ['x', 'y'])
    assert.deepEqual(valuesOf({ type: 'string', pattern: '^test$' }), ['test'])
    assert.deepEqual(valuesOf({ type: 'boolean', default: true }), [true, false])
  })

  it('have lists of several lengths with keys of their own, and maps', () => {
    const items = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
    const lists = valuesOf({ type: 'array', items, 'x-kubernetes-list-map-keys': ['name'] })
    assert.deepEqual(lists, [[{ name: 'a' }], [{ name: 'a' }, { name: 'b' }]])
    assert.deepEqual(valuesOf({ type: 'object', additionalProperties: { type: 'string' } })[2], {})
  })

  it('change one field at a time, field by field, and remove optional ones', () => {
    const schema = {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 2 },
        note: { type: 'string', enum: ['n'] },
      },
    } as const
    const base = baseOf(schema)
    assert.deepEqual(base, { size: 1, note: 'n' })
    assert.deepEqual(
      changesOf(schema).map(change => withChange(base, change)),
      [{ size: 2, note: 'n' }, { size: 1 }],
    )
  })
})
