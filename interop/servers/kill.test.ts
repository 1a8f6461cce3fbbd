import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { killUnderLoad } from './kill-under-load.ts'

/** `npm run torture` makes it fifty. */
const isTorture = process.env.TORTURE_RUNS !== undefined
const kills = isTorture ? 50 : 5
const seed = Number(process.env.TORTURE_SEED ?? '1')

describe('kill -9 of a server under load', () => {
  it(`loses nothing acknowledged and hides nothing from watches, ${kills} times`, {
    timeout: kills * 30_000,
  }, async t => {
    const { problems, summary } = await killUnderLoad({ kills, seed })
    t.diagnostic(summary)
    assert.deepEqual(problems, [])
  })
})
