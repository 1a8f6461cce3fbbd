import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deployment, StatefulSet } from '@coxswain/api/apps/v1'
import { Job } from '@coxswain/api/batch/v1'
import { ResourceQuota, Service } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import {
  createDeploymentController,
  createDisruptionController,
  createEndpointSliceController,
  createEndpointSliceMirroringController,
  createEndpointsController,
  createJobController,
  createReplicaSetController,
  createResourceQuotaController,
  createStatefulSetController,
} from '@coxswain/controllers'
import { createLogger, VirtualWorld } from '@coxswain/kit'
import { startCluster } from '@coxswain/testing'

const namespace = 'default'
const replicas = 30

const workload = (app: string, image: string, spec: object = {}) => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image }] } },
  ...spec,
})

describe('the hot-loop detector', () => {
  it('reports no built-in controller while workloads start and roll out', async () => {
    const warnings: string[] = []
    const log = () =>
      createLogger(({ message, fields }) => {
        if (message.startsWith('hot loop')) warnings.push(`${fields.controller} ${fields.key}`)
      })
    await using cluster = await startCluster({
      env: new VirtualWorld({ seed: 4, log }),
      controllers: true,
      nodes: 3,
    })
    for (const operator of [
      createDeploymentController(),
      createReplicaSetController(),
      createStatefulSetController(),
      createJobController(),
      createDisruptionController(),
      createEndpointSliceController(),
      createEndpointsController(),
      createEndpointSliceMirroringController(),
      createResourceQuotaController(),
    ])
      cluster.start(operator)
    await cluster.advance(3_000)
    const { client } = cluster
    await cluster.run(
      client.create(ResourceQuota, {
        metadata: { namespace, name: 'all' },
        spec: { hard: { pods: '1000' } },
      }),
    )
    for (const app of ['web', 'db', 'work']) {
      const metadata = { namespace, name: app }
      const ports = [{ port: 80 }]
      await cluster.run(client.create(Service, { metadata, spec: { selector: { app }, ports } }))
      const selector = { matchLabels: { app } }
      await cluster.run(
        client.create(PodDisruptionBudget, { metadata, spec: { selector, maxUnavailable: 1 } }),
      )
    }
    const web = { namespace, name: 'web' }
    const db = { namespace, name: 'db' }
    await cluster.run(
      client.create(Deployment, { metadata: web, spec: workload('web', 'one', { replicas }) } as never),
    )
    const parallel = { replicas, podManagementPolicy: 'Parallel', serviceName: 'db' }
    await cluster.run(
      client.create(StatefulSet, { metadata: db, spec: workload('db', 'one', parallel) } as never),
    )
    const containers = [{ name: 'c', image: 'one' }]
    const template = { metadata: { labels: { app: 'work' } }, spec: { restartPolicy: 'Never', containers } }
    await cluster.run(
      client.create(Job, {
        metadata: { namespace, name: 'work' },
        spec: { completions: 60, parallelism: 20, template },
      } as never),
    )
    await cluster.advance(30_000)
    const change = { spec: { template: { spec: { containers: [{ name: 'c', image: 'two' }] } } } }
    await cluster.run(client.patch(Deployment, web, change, { type: 'strategic' }))
    await cluster.run(client.patch(StatefulSet, db, change, { type: 'strategic' }))
    await cluster.advance(120_000)
    const deployment = await cluster.run(client.get(Deployment, web))
    assert.equal(deployment?.status?.updatedReplicas, replicas)
    assert.deepEqual(warnings, [])
  })
})
