import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { simulate } from './index.ts'
import { plantedBugs } from './test-support/planted/index.ts'

/** In torture all bugs, and of their twins the complete sweep of single faults and more; otherwise a few of both. */
const isTorture = Number(process.env.TORTURE_RUNS ?? 0) > 0
const twinRuns = isTorture ? 2_000 : 12
const bugs = isTorture ? plantedBugs : plantedBugs.filter((_, index) => index % 20 === 18)

describe('planted bugs', () => {
  it('are at least forty', () => assert.ok(plantedBugs.length >= 40, String(plantedBugs.length)))

  for (const { name, wrong, right } of bugs) {
    it(`${name}: found by scenarios made from the schema`, async t => {
      const { failures, runs } = await simulate(wrong, { budget: { runs: 400 } })
      assert.equal(failures.length, 1)
      t.diagnostic(`${runs} runs: ${failures[0]?.findings.map(({ oracle }) => oracle).join(', ')}`)
    })

    it(`${name}: the right twin passes`, async t => {
      const { failures, runs, singleFaults } = await simulate(right, { budget: { runs: twinRuns } })
      t.diagnostic(`${runs} runs, ${singleFaults} single faults`)
      assert.equal(failures[0]?.text, undefined)
    })
  }
})
