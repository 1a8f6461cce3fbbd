import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setCondition } from './conditions.ts'

const ready = (status: string, lastTransitionTime: string, reason = '') => ({
  type: 'Ready',
  status,
  lastTransitionTime,
  reason,
})
const other = { ...ready('True', '0'), type: 'Other' }

describe('a condition that is set', () => {
  it('is added at the end', () => {
    assert.deepEqual(setCondition(undefined, ready('True', '1')), [ready('True', '1')])
    assert.deepEqual(setCondition([other], ready('True', '1')), [other, ready('True', '1')])
  })

  it('keeps its place, and its time while the status is the same', () => {
    const before = [ready('True', '1', 'a'), other]
    assert.deepEqual(setCondition(before, ready('True', '2', 'b')), [ready('True', '1', 'b'), other])
    assert.deepEqual(setCondition(before, ready('False', '2')), [ready('False', '2'), other])
    assert.deepEqual(before, [ready('True', '1', 'a'), other])
  })
})
