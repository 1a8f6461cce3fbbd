import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cutPower } from './disk/power-cut.ts'

describe('a power cut', () => {
  it('takes nothing that was acknowledged, in 600 states of the disk', { timeout: 280_000 }, t => {
    const { records, states, problems } = cutPower({ seed: 1, rounds: 20, subsets: 3, states: 600 })
    t.diagnostic(`${records} records, ${states} states`)
    assert.deepEqual(problems, [])
    assert.ok(states >= 500, `${states} states`)
  })

  it('is noticed when the disk has lied about its syncs', { timeout: 280_000 }, () => {
    const { problems } = cutPower({ seed: 2, rounds: 10, subsets: 2, states: 300, lyingDisk: true })
    assert.match(problems.join(), /acknowledged/)
  })
})
