import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { flipBits } from './disk/bit-flip.ts'
import { killRepeatedly } from './disk/kill.ts'
import { cutPower } from './disk/power-cut.ts'
import { EtcdCluster } from './etcd-cluster.ts'
import { checkEtcdHistories, checkMemoryHistories, checkSqliteHistories } from './histories.ts'

const seed = Number(process.env.COXSWAIN_SEED ?? '1') % 1_000_000
const timeout = 3 * 3_600_000

describe(`the store, seed ${seed}`, () => {
  it('loses nothing in 10,000 states that a power cut can leave', { timeout }, t => {
    let left = 10_000
    for (let round = 0; left > 0; round++) {
      const { states, records, problems } = cutPower({
        seed: seed + round,
        rounds: 60,
        subsets: 10,
        states: left,
      })
      t.diagnostic(`${records} records, ${states} states`)
      assert.deepEqual(problems, [])
      left -= states
    }
  })

  it('loses nothing when it is killed 200 times', { timeout }, async () => {
    for (let round = 0; round < 4; round++) {
      assert.deepEqual(await killRepeatedly({ seed: seed + 1000 * round, times: 50 }), [])
    }
  })

  it('gives an error or the right data after each of 1,000 flipped bits', { timeout }, async t => {
    const result = await flipBits({ seed, flips: 1000 })
    t.diagnostic(JSON.stringify({ ...result, silent: result.silent.length }))
    assert.deepEqual(result.silent, [])
  })

  it('has 200 linearizable histories in memory', { timeout }, async () => {
    assert.deepEqual(await checkMemoryHistories({ seed, runs: 200 }), [])
  })

  it('has 200 linearizable histories on sqlite', { timeout }, async () => {
    assert.deepEqual(await checkSqliteHistories({ seed, runs: 200 }), [])
  })

  for (const version of ['etcd-3.4', 'etcd-3.6'] as const) {
    it(`has 200 linearizable histories on ${version}`, { timeout }, async () => {
      await using cluster = await EtcdCluster.start({ version })
      assert.deepEqual(await checkEtcdHistories(cluster, { seed, runs: 200 }, false), [])
    })
  }

  it('has 200 linearizable histories on three members of etcd 3.6 that are killed and paused', {
    timeout,
  }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6', size: 3 })
    assert.deepEqual(await checkEtcdHistories(cluster, { seed, runs: 200 }, true), [])
  })
})
