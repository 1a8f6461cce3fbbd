import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap, PersistentVolumeClaim, Pod, ResourceQuota, Service } from '@coxswain/api/core/v1'
import { createResourceQuotaController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const key = { namespace, name: 'q' }
const controllers = () => [createResourceQuotaController()]

const createQuota = (cluster: Cluster, spec: object) =>
  cluster.run(cluster.client.create(ResourceQuota, { metadata: key, spec: spec as never }))

const createPod = (cluster: Cluster, name: string, cpu?: string, spec: object = {}) =>
  cluster.run(
    cluster.client.create(Pod, {
      metadata: { name, namespace },
      spec: {
        containers: [
          { name: 'c', image: 'i', ...(cpu && { resources: { requests: { cpu }, limits: { cpu: '2' } } }) },
        ],
        ...spec,
      },
    }),
  )

const deletePod = (cluster: Cluster, name: string) =>
  cluster.run(cluster.client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 }))

const usedOf = async (cluster: Cluster) =>
  (await cluster.run(cluster.client.get(ResourceQuota, key)))?.status?.used

const plays: readonly (Pick<Scenario, 'act' | 'look' | 'end'> & { readonly name: string })[] = [
  {
    name: 'pod requests are added up, and subtracted when pods are deleted',
    act: async cluster => {
      await createQuota(cluster, { hard: { pods: '5', 'requests.cpu': '4', 'limits.cpu': '10' } })
      await cluster.advance(1_000)
      for (const [name, cpu] of Object.entries({ a: '250m', b: '500m', c: '1' }))
        await createPod(cluster, name, cpu)
      await cluster.advance(1_000)
      await deletePod(cluster, 'b')
    },
    look: usedOf,
    end: { pods: '2', 'requests.cpu': '1250m', 'limits.cpu': '4' },
  },
  {
    name: 'objects of any resource are counted',
    act: async cluster => {
      for (const name of ['x', 'y'])
        await cluster.run(cluster.client.create(ConfigMap, { metadata: { name, namespace } }))
      await createQuota(cluster, {
        hard: {
          configmaps: '9',
          'count/configmaps': '9',
          'count/deployments.apps': '3',
          'count/things.example.com': '1',
        },
      })
      await cluster.advance(1_000)
      await cluster.run(cluster.client.delete(ConfigMap, { namespace, name: 'x' }))
    },
    look: usedOf,
    end: { configmaps: '1', 'count/configmaps': '1', 'count/deployments.apps': '0' },
  },
  {
    name: 'services are counted by type, claims by class',
    act: async cluster => {
      await createQuota(cluster, {
        hard: {
          services: '9',
          'services.nodeports': '9',
          'services.loadbalancers': '2',
          persistentvolumeclaims: '9',
          'requests.storage': '1Ti',
          'fast.storageclass.storage.k8s.io/requests.storage': '1Ti',
        },
      })
      await cluster.advance(1_000)
      const ports = [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ]
      for (const type of ['ClusterIP', 'NodePort', 'LoadBalancer'] as const)
        await cluster.run(
          cluster.client.create(Service, {
            metadata: { name: type.toLowerCase(), namespace },
            spec: { type, ports, selector: { a: 'b' } },
          }),
        )
      for (const storageClassName of ['fast', 'slow'])
        await cluster.run(
          cluster.client.create(PersistentVolumeClaim, {
            metadata: { name: storageClassName, namespace },
            spec: {
              storageClassName,
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: '10Gi' } },
            },
          }),
        )
      await cluster.advance(1_000)
      const toClusterIp = {
        spec: { type: 'ClusterIP', ports: ports.map(port => ({ ...port, nodePort: null })) },
      }
      await cluster.run(
        cluster.client.patch(Service, { namespace, name: 'nodeport' }, toClusterIp, { type: 'merge' }),
      )
    },
    look: usedOf,
    end: {
      services: '4', // including the server's own
      'services.nodeports': '2',
      'services.loadbalancers': '1',
      persistentvolumeclaims: '2',
      'requests.storage': '20Gi',
      'fast.storageclass.storage.k8s.io/requests.storage': '10Gi',
    },
  },
  {
    name: 'a finished pod uses only its object count',
    act: async cluster => {
      await createQuota(cluster, { hard: { pods: '5', 'count/pods': '5', 'requests.cpu': '4' } })
      await cluster.advance(1_000)
      await createPod(cluster, 'a', '1')
      await cluster.advance(1_000)
      await cluster.run(
        cluster.client.patch(
          Pod,
          { namespace, name: 'a' },
          { status: { phase: 'Succeeded' } },
          { type: 'merge', subresource: 'status' },
        ),
      )
    },
    look: usedOf,
    end: { pods: '0', 'count/pods': '1', 'requests.cpu': '0' },
  },
]

const scoped: readonly [string, object, string][] = [
  ['BestEffort', { scopes: ['BestEffort'] }, '1'],
  ['NotBestEffort', { scopes: ['NotBestEffort'] }, '2'],
  ['Terminating', { scopes: ['Terminating'] }, '1'],
  ['NotTerminating', { scopes: ['NotTerminating'] }, '2'],
  ['NotTerminating and NotBestEffort', { scopes: ['NotTerminating', 'NotBestEffort'] }, '1'],
  [
    'priority classes',
    {
      scopeSelector: {
        matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
      },
    },
    '0',
  ],
]

describe('resource quotas', () => {
  const scenario = scenariosOf('resourcequota-controller', { controllers })
  for (const { name, ...play } of plays) scenario(name, play)

  for (const [name, spec, pods] of scoped) {
    it(`count only pods in scope: ${name}`, async () => {
      await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
      for (const controller of controllers()) cluster.start(controller)
      await cluster.advance(1_000)
      await createPod(cluster, 'besteffort')
      await createPod(cluster, 'burstable', '1')
      await createPod(cluster, 'limited', '1', { activeDeadlineSeconds: 60, restartPolicy: 'Never' })
      await createQuota(cluster, { hard: { pods: '10' }, ...spec })
      await cluster.advance(1_000)
      assert.deepEqual(await usedOf(cluster), { pods })
    })
  }

  it('are not recalculated for new objects, which admission has counted, but for deleted ones', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
    for (const controller of controllers()) cluster.start(controller)
    await createQuota(cluster, { hard: { pods: '9' } })
    await cluster.advance(1_000)
    await createPod(cluster, 'a')
    // It was counted before its name was found to be taken.
    await assert.rejects(createPod(cluster, 'a'), /already exists/)
    await createPod(cluster, 'b')
    await cluster.advance(1_000)
    assert.deepEqual(await usedOf(cluster), { pods: '3' })
    await deletePod(cluster, 'b')
    await cluster.advance(1_000)
    assert.deepEqual(await usedOf(cluster), { pods: '1' })
  })

  it('follow a changed limit at once', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
    for (const controller of controllers()) cluster.start(controller)
    await createQuota(cluster, { hard: { pods: '1' } })
    await cluster.advance(1_000)
    await cluster.run(
      cluster.client.patch(ResourceQuota, key, { spec: { hard: { pods: '3' } } }, { type: 'merge' }),
    )
    await cluster.advance(1_000)
    const quota = await cluster.run(cluster.client.get(ResourceQuota, key))
    assert.deepEqual(quota?.status, { hard: { pods: '3' }, used: { pods: '0' } })
  })
})
