import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Counts } from './topology-counts.ts'

describe('label keys that every object has', () => {
  it('are not topology keys', () => {
    const counts = new Counts()
    counts.add('constructor', {}, 1)
    assert.ok(counts.isEmpty)
  })
})
