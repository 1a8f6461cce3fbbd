import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Schema } from '../schema/schema.ts'
import { mergeConfiguration } from './merge-configuration.ts'

const text: Schema = { type: 'string' }
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: text, port: { type: 'integer' } } },
        },
        args: { type: 'array', items: text },
        selector: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: text },
      },
    },
  },
}
const live = { apiVersion: 'v1', kind: 'K', spec: { ports: [{ name: 'a', port: 1 }], args: ['x'] } }
const merge = (spec: object) =>
  mergeConfiguration(schema, live, { apiVersion: 'v1', kind: 'K', spec } as never)

describe('mergeConfiguration', () => {
  it('merges the configuration, lists by their keys, and removes nothing', () => {
    const merged = merge({
      ports: [
        { name: 'b', port: 2 },
        { name: 'a', port: 3 },
      ],
    })
    assert.ok(merged.ok)
    assert.deepEqual((merged.object.spec as { ports: unknown }).ports, [
      { name: 'b', port: 2 },
      { name: 'a', port: 3 },
    ])
    assert.deepEqual((merged.object.spec as { args: unknown }).args, ['x'])
    assert.deepEqual(live.spec.ports, [{ name: 'a', port: 1 }])
  })

  it('rejects atomic parts, and unknown fields', () => {
    const atomic = merge({ args: ['y'], selector: { a: 'b' } })
    assert.deepEqual(atomic, {
      ok: false,
      error:
        'invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.args, .spec.selector',
    })
    const unknown = merge({ nothing: 1 })
    assert.ok(!unknown.ok)
    assert.match(
      unknown.error,
      /^failed to convert patch object to typed object: .spec.nothing: field not declared/,
    )
  })
})
