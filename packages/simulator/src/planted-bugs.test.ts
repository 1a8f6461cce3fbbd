import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { simulate } from './index.ts'
import { plantedBugs, databaseScenario as scenario } from './test-support/planted-bugs.ts'

/** In torture all bugs, and of their twins the complete sweep of single faults and more; otherwise a few of both. */
const isTorture = Number(process.env.TORTURE_RUNS ?? 0) > 0
const twinRuns = isTorture ? 2_000 : 6
const bugs = isTorture ? plantedBugs : plantedBugs.slice(0, 4)

describe('planted bugs', () => {
  for (const { name, wrong, right } of bugs) {
    it(`${name}: found`, async t => {
      const { failures, runs } = await simulate(wrong, { scenario, budget: { runs: 400 } })
      assert.equal(failures.length, 1)
      t.diagnostic(`${runs} runs: ${failures[0]?.findings.map(({ oracle }) => oracle).join(', ')}`)
    })

    it(`${name}: the right twin passes`, async t => {
      const { failures, runs, singleFaults } = await simulate(right, { scenario, budget: { runs: twinRuns } })
      t.diagnostic(`${runs} runs, ${singleFaults} single faults`)
      assert.equal(failures[0]?.text, undefined)
    })
  }
})
