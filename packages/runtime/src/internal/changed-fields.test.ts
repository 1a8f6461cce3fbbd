import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changedFields } from './changed-fields.ts'

describe('the changed fields', () => {
  it('are listed by path, with both values', () => {
    const before = { spec: { replicas: 1, list: [1, { a: 'x' }], gone: true }, metadata: { labels: {} } }
    const after = { spec: { replicas: 2, list: [1, { a: 'y' }, 3] }, metadata: { labels: { 'a.b/c': 'd' } } }
    assert.deepEqual(changedFields(before, after), [
      'spec.replicas: 1 -> 2',
      'spec.list[1].a: "x" -> "y"',
      'spec.list[2]: none -> 3',
      'spec.gone: true -> none',
      'metadata.labels["a.b/c"]: none -> "d"',
    ])
  })

  it('omit fields that change with every write', () => {
    const object = (resourceVersion: string) => ({
      metadata: { resourceVersion, managedFields: [resourceVersion] },
    })
    assert.deepEqual(changedFields(object('1'), object('2')), [])
  })

  it('are limited, however much changed', () => {
    const big = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`field${i}`, 'x'.repeat(1_000)]))
    const changes = changedFields({}, big)
    assert.equal(changes.length, 12)
    assert.ok(changes.every(change => change.length < 80))
  })
})
