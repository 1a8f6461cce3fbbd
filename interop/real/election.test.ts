import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Lease } from '@coxswain/api/coordination/v1'
import { ConfigMap } from '@coxswain/api/core/v1'
import { defineOperator, Manager, requeueAfter } from '@coxswain/runtime'
import { eventually, startSession } from './session.ts'

describe('leader election, against a real server', () => {
  it('has one leader that writes, and another one at once when it stops', async () => {
    await using session = await startSession('election')
    const { client, env, namespace } = session
    const key = { namespace, name: 'counter' }
    await client.create(ConfigMap, { metadata: key })
    const counter = (identity: string) =>
      defineOperator('counter', operator => {
        operator
          .controller('counter')
          .for(ConfigMap)
          .reconcile(async ({ key: each, client: own }) => {
            if (each.name !== key.name) return
            const map = await own.get(ConfigMap, each)
            if (!map) return
            await own.update(ConfigMap, { ...map, data: { ...map.data, by: identity } })
            return requeueAfter(200)
          })
      })
    const start = (identity: string) => {
      const stop = new AbortController()
      const manager = new Manager(counter(identity), {
        client,
        env,
        namespaces: [namespace],
        leaderElection: {
          namespace,
          identity,
          leaseDuration: 3_000,
          renewDeadline: 2_000,
          retryPeriod: 500,
        },
      })
      return { identity, manager, running: manager.run(stop.signal), stop: () => stop.abort() }
    }
    const replicas = [start('one'), start('two')]
    try {
      const holder = async () =>
        (await client.get(Lease, { namespace, name: 'counter' }))?.spec?.holderIdentity
      const writer = async () => (await client.get(ConfigMap, key))?.data?.by
      const first = await eventually('a replica writes', writer)
      assert.equal(await holder(), first)
      const leader = replicas.find(({ identity }) => identity === first)!
      const other = replicas.find(replica => replica !== leader)!
      assert.deepEqual([leader.manager.isLeader, other.manager.isLeader], [true, false])
      leader.stop()
      await leader.running
      const begin = performance.now()
      await eventually('the other one writes', async () => (await writer()) === other.identity)
      assert.ok(performance.now() - begin < 5_000)
      assert.equal((await client.get(Lease, { namespace, name: 'counter' }))?.spec?.leaseTransitions, 1)
    } finally {
      for (const { stop } of replicas) stop()
      await Promise.all(replicas.map(({ running }) => running))
    }
  })
})
