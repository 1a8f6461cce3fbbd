import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EtcdCluster } from './etcd-cluster.ts'
import { checkEtcdHistories } from './histories.ts'

describe('histories stay linearizable and watched correctly when members of etcd 3.6 are killed and paused', () => {
  it('in 20 runs', { timeout: 290_000 }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6', size: 3 })
    assert.deepEqual(await checkEtcdHistories(cluster, { seed: 200, runs: 20 }, true), [])
  })
})
