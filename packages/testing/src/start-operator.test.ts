import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { isForbidden, newServiceUnavailable } from '@coxswain/apimachinery/status'
import { silentLogger, VirtualWorld } from '@coxswain/kit'
import { defineOperator } from '@coxswain/runtime'
import { startCluster } from './cluster.ts'
import { createFaultyTransport, noTransportFaults, type TransportFaults } from './faults/faulty-transport.ts'
import { PausableProcess } from './faults/pausable-process.ts'

const namespace = 'default'
const key = { namespace, name: 'a' }
const copyKey = { namespace, name: 'a-copy' }

/** Copies the ConfigMap `a`. */
const copier = defineOperator('copier', operator => {
  operator
    .controller('copy')
    .for(ConfigMap)
    .reconcile(async ({ key: each, client }) => {
      if (each.name !== 'a' || !(await client.get(ConfigMap, each))) return
      if (!(await client.get(ConfigMap, copyKey))) await client.create(ConfigMap, { metadata: copyKey })
    })
})

const serviceAccount = `${namespace}/copier`
const rights = (verbs: string) => `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: copier }
rules:
- { apiGroups: [""], resources: [configmaps], verbs: [${verbs}] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: copier }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: copier }
subjects:
- { kind: ServiceAccount, namespace: default, name: copier }
`

describe('an operator that is started in a cluster', () => {
  it('may have a connection on which things go wrong, for itself alone', async () => {
    const world = new VirtualWorld({ seed: 7 })
    await using cluster = await startCluster({ env: world, log: silentLogger })
    let faults: TransportFaults = { ...noTransportFaults, refuse: 1 }
    cluster.start(copier, { transport: inner => createFaultyTransport(inner, world, () => faults) })
    await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
    await cluster.expect(ConfigMap, copyKey).consistently({ during: 10_000 }).toBeMissing()
    faults = noTransportFaults
    await cluster.expect(ConfigMap, copyKey).eventually({ within: 120_000 }).toHave({})
  })

  it('may run in a process that is paused', async () => {
    const world = new VirtualWorld({ seed: 7 })
    await using cluster = await startCluster({ env: world, log: silentLogger })
    const paused = new PausableProcess(world)
    cluster.start(copier, { env: paused.env, transport: inner => paused.transport(inner) })
    await cluster.settle()
    paused.pause()
    await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
    await cluster.expect(ConfigMap, copyKey).consistently({ during: 10_000 }).toBeMissing()
    paused.resume()
    await cluster.expect(ConfigMap, copyKey).eventually().toHave({})
  })

  it('may be a service account, whose rights decide what it can do', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld(), log: silentLogger })
    await cluster.apply(rights('get, list, watch'))
    cluster.start(copier, { as: { serviceAccount } })
    await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
    await cluster.eventually(() => {
      const calls = cluster.reconciles({ kind: 'ConfigMap', metadata: key }).flatMap(record => record.calls)
      assert.equal(calls[0]?.error, 'Forbidden')
    })
    await cluster.apply(rights('get, list, watch, create'))
    await cluster.expect(ConfigMap, copyKey).eventually().toHave({})
  })

  it('can be stopped from an interceptor, on the virtual clock too', async () => {
    for (const env of [new VirtualWorld({ seed: 2 }), undefined]) {
      await using cluster = await startCluster({ log: silentLogger, ...(env && { env }) })
      const stop = cluster.start(copier)
      const stopped = Promise.withResolvers<void>()
      using _ = cluster.intercept(async (request, next) => {
        if (request.method !== 'POST' || !/copier/.test(String(request.headers['user-agent'])))
          return await next(request)
        stop().then(stopped.resolve, stopped.reject)
        const body = new TextEncoder().encode(JSON.stringify(newServiceUnavailable('stopped').status))
        return { status: 503, headers: { 'content-type': 'application/json' }, body }
      })
      await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
      await cluster.run(stopped.promise)
      await cluster.expect(ConfigMap, copyKey).toBeMissing()
    }
  })
})

describe('a client as another user', () => {
  it('may do what RBAC grants its name, its groups or its service account', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld() })
    const { run } = cluster
    await cluster.apply(rights('get'))
    await run(cluster.client.create(ConfigMap, { metadata: key }))
    const account = cluster.as({ serviceAccount })
    assert.ok(await run(account.get(ConfigMap, key)))
    await assert.rejects(run(account.delete(ConfigMap, key)), isForbidden)
    await assert.rejects(run(cluster.as('jane').get(ConfigMap, key)), error => {
      assert.match((error as Error).message, /User "jane" cannot get resource "configmaps"/)
      return isForbidden(error)
    })
    assert.ok(await run(cluster.as({ name: 'jane', groups: ['system:masters'] }).get(ConfigMap, key)))
    assert.throws(
      () => cluster.as({ serviceAccount: 'copier' }),
      /"copier" is not of the form namespace\/name/,
    )
  })
})

describe('run', () => {
  it('can be called several times at once on a virtual clock', async () => {
    const world = new VirtualWorld()
    await using cluster = await startCluster({ env: world })
    const sleep = async (ms: number) => {
      await world.clock.sleep(ms)
      return world.clock.now()
    }
    const start = world.clock.now()
    const times = await Promise.all([10, 3_000, 500].map(ms => cluster.run(sleep(ms))))
    assert.deepEqual(
      times.map(time => time - start),
      [10, 3_000, 500],
    )
    await assert.rejects(cluster.run(cluster.run(Promise.reject(new Error('inner')))), /inner/)
  })
})
