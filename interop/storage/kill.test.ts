import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { killRepeatedly } from './disk/kill.ts'

describe('kill -9', () => {
  it('takes nothing that was acknowledged, 20 times', { timeout: 120_000 }, async () => {
    assert.deepEqual(await killRepeatedly({ seed: 1, times: 20 }), [])
  })
})
