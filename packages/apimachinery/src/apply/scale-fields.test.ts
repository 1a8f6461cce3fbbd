import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ManagedFieldsEntry } from '../meta.ts'
import { fromScaleManagedFields, toScaleManagedFields } from './scale-fields.ts'

const paths = new Map([['apps/v1', 'spec.replicas']])
const time = '2024-01-01T00:00:00Z'

function entry(
  manager: string,
  fields: Record<string, unknown>,
  more: Partial<ManagedFieldsEntry> = {},
): ManagedFieldsEntry {
  return {
    manager,
    operation: 'Update',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': fields },
    ...more,
  }
}

const replicas = { 'f:replicas': {} }
const both = { 'f:paused': {}, 'f:replicas': {} }

describe('managed fields of a scale', () => {
  it('are those of the resource that own the replicas', () => {
    const entries = [
      entry('a', { 'f:paused': {} }),
      entry('b', both, { time }),
      entry('c', both, { apiVersion: 'old/v1' }),
    ]
    assert.deepEqual(toScaleManagedFields(entries, paths), [
      entry('b', replicas, { apiVersion: 'autoscaling/v1', time }),
    ])
    assert.equal(toScaleManagedFields([], paths), undefined)
  })

  it('move the replicas to who scaled', () => {
    const entries = [entry('creator', both, { time })]
    const scaled = [entry('hpa', replicas, { apiVersion: 'autoscaling/v1', subresource: 'scale', time })]
    assert.deepEqual(fromScaleManagedFields(entries, scaled, paths, 'apps/v1'), [
      entry('hpa', replicas, { subresource: 'scale' }),
      entry('creator', { 'f:paused': {} }, { time }),
    ])
  })

  it('leave an applier that still owns the replicas as it was', () => {
    const applied = entry('me', both, { operation: 'Apply', time })
    const scaled = [entry('me', replicas, { operation: 'Apply', apiVersion: 'autoscaling/v1', time })]
    assert.deepEqual(fromScaleManagedFields([applied], scaled, paths, 'apps/v1'), [applied])
    assert.deepEqual(fromScaleManagedFields([applied], [], paths, 'apps/v1'), [
      entry('me', { 'f:paused': {} }, { operation: 'Apply', time }),
    ])
  })
})
