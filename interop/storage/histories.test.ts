import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EtcdCluster } from './etcd-cluster.ts'
import { checkEtcdHistories, checkMemoryHistories, checkSqliteHistories } from './histories.ts'

describe('histories of eight concurrent clients are linearizable and watched correctly, 20 times', () => {
  const timeout = 280_000

  it('on memory', { timeout }, async () => {
    assert.deepEqual(await checkMemoryHistories({ seed: 100, runs: 20 }), [])
  })

  it('on sqlite', { timeout }, async () => {
    assert.deepEqual(await checkSqliteHistories({ seed: 100, runs: 20 }), [])
  })

  for (const version of ['etcd-3.4', 'etcd-3.6'] as const) {
    it(`on ${version}`, { timeout }, async () => {
      await using cluster = await EtcdCluster.start({ version })
      assert.deepEqual(await checkEtcdHistories(cluster, { seed: 100, runs: 20 }, false), [])
    })
  }

  it('on three members of etcd 3.6', { timeout }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6', size: 3 })
    assert.deepEqual(await checkEtcdHistories(cluster, { seed: 100, runs: 20 }, false), [])
  })
})
