import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findUntoleratedTaint, tolerates } from './tolerations.ts'

const taint = { key: 'a', value: 'x', effect: 'NoSchedule' }

describe('a toleration', () => {
  it('matches by key, value and effect', () => {
    assert.equal(tolerates({ key: 'a', value: 'x', effect: 'NoSchedule' }, taint), true)
    assert.equal(tolerates({ key: 'a', operator: 'Equal', value: 'y' }, taint), false)
    assert.equal(tolerates({ key: 'b', operator: 'Exists' }, taint), false)
    assert.equal(tolerates({ key: 'a', operator: 'Exists', effect: 'NoExecute' }, taint), false)
  })

  it('matches every key, value or effect that it leaves open', () => {
    assert.equal(tolerates({ operator: 'Exists' }, taint), true)
    assert.equal(tolerates({ key: 'a', operator: 'Exists' }, taint), true)
  })

  it('never matches by comparison', () => {
    assert.equal(tolerates({ key: 'a', operator: 'Gt', value: '0' }, { ...taint, value: '1' }), false)
  })
})

describe('an untolerated taint', () => {
  it('is the first with one of the effects', () => {
    const taints = [taint, { key: 'b', effect: 'NoExecute' }]
    const effects = ['NoSchedule', 'NoExecute']
    assert.equal(findUntoleratedTaint(taints, undefined, effects), taint)
    assert.equal(findUntoleratedTaint(taints, [{ key: 'a', operator: 'Exists' }], effects), taints[1])
    assert.equal(findUntoleratedTaint(taints, [], ['PreferNoSchedule']), undefined)
  })
})
