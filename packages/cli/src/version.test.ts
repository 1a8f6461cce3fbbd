import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { versionLine } from './version.ts'

describe('coxswain --version', () => {
  it('says where it comes from, and which release the server behaves as', () => {
    assert.equal(versionLine, '0.1.0 (from source, Kubernetes 1.36.4)')
  })
})
