import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod } from '@coxswain/api/core/v1'
import { readField } from './environment.ts'

describe('readField', () => {
  it('does not find inherited keys such as constructor', () => {
    const pod = { metadata: { name: 'a', labels: { a: 'b' }, annotations: {} } } as unknown as Pod
    assert.equal(readField(pod, "metadata.labels['a']"), 'b')
    assert.equal(readField(pod, "metadata.labels['constructor']"), '')
    assert.equal(readField(pod, "metadata.annotations['toString']"), '')
  })
})
