import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '@coxswain/api/apps/v1'
import { HorizontalPodAutoscaler } from '@coxswain/api/autoscaling/v2'
import { CronJob, Job } from '@coxswain/api/batch/v1'
import {
  ConfigMap,
  Endpoints,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from '@coxswain/api/core/v1'
import { EndpointSlice } from '@coxswain/api/discovery/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import { ClusterRole } from '@coxswain/api/rbac/v1'
import { isTooManyRequests } from '@coxswain/apimachinery/status'
import { type Client, type DynamicKind, kindFor } from '@coxswain/client'
import { eventually } from './eventually.ts'

/** A server with controllers, a scheduler and nodes, whichever implementation they are. */
export interface ClusterUnderTest {
  /** The administrator's. */
  readonly client: Client
  readonly nodes: number
}

const labels = { app: 'web' }
const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m', memory: '16Mi' } } }]
const template = { metadata: { labels }, spec: { containers } }
const workload = (replicas: number) => ({ replicas, selector: { matchLabels: labels }, template })
const oneShot = { template: { spec: { restartPolicy: 'Never', containers } } }

const Ship = kindFor({
  group: 'plane.example.com',
  version: 'v1',
  kind: 'Ship',
  resource: 'ships',
  namespaced: true,
})
const PodMetrics = kindFor({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  kind: 'PodMetrics',
  resource: 'pods',
  namespaced: true,
})

/** A namespace of its own; the controllers run once it has its account. */
export async function makeNamespace(client: Client, generateName: string): Promise<string> {
  const { name } = (await client.create(Namespace, { metadata: { generateName } })).metadata
  await eventually('the namespace has its account', () =>
    client.get(ServiceAccount, { namespace: name, name: 'default' }),
  )
  return name
}

async function podsOf(client: Client, namespace: string): Promise<readonly Pod[]> {
  return (await client.list(Pod, { namespace })).items
}

function running(client: Client, namespace: string, count: number): Promise<readonly Pod[]> {
  return eventually(`${count} pods run in ${namespace}`, async () => {
    const pods = await podsOf(client, namespace)
    return pods.length === count && pods.every(({ status }) => status?.phase === 'Running') && pods
  })
}

/** Custom resources of any shape. */
async function serve(client: Client, { group, version, kind, resource }: DynamicKind): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const definition = {
    metadata: {
      name: `${resource}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural: resource },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  }
  await client.apply(CustomResourceDefinition, definition as never, { fieldManager: 'test', force: true })
}

/** The life of a cluster: to be called in a `describe`. What it makes is in namespaces with a generated name. */
export function describeClusterLife(cluster: () => ClusterUnderTest): void {
  describe('in the cluster', { concurrency: true }, () => {
    it('a Deployment of 10 becomes running pods, is rolled out, scaled and deleted', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'deployment-')
      const key = { namespace, name: 'web' }
      await client.create(Deployment, { metadata: key, spec: workload(10) as never })
      const pods = await running(client, namespace, 10)
      assert.equal(new Set(pods.map(({ spec }) => spec.nodeName)).size, cluster().nodes)
      const image = { spec: { template: { spec: { containers: [{ name: 'c', image: 'two' }] } } } }
      await client.patch(Deployment, key, image, { type: 'strategic' })
      await eventually('it has rolled out', async () => {
        const found = await client.get(Deployment, key)
        const { updatedReplicas, replicas, availableReplicas } = found?.status ?? {}
        return updatedReplicas === 10 && replicas === 10 && availableReplicas === 10
      })
      await client.patch(Deployment, key, { spec: { replicas: 2 } }, { type: 'merge' })
      await running(client, namespace, 2)
      await client.delete(Deployment, key, { propagationPolicy: 'Foreground' })
      await eventually('all of it is deleted', async () => {
        const sets = await client.list(ReplicaSet, { namespace })
        return sets.items.length === 0 && (await podsOf(client, namespace)).length === 0
      })
    })

    it('StatefulSets and DaemonSets come up', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'sets-')
      await client.create(StatefulSet, {
        metadata: { namespace, name: 'db' },
        spec: { ...workload(2), serviceName: 'db' } as never,
      })
      const pods = await running(client, namespace, 2)
      assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), ['db-0', 'db-1'])
      await client.create(DaemonSet, {
        metadata: { namespace, name: 'agent' },
        spec: {
          selector: { matchLabels: { app: 'agent' } },
          template: { metadata: { labels: { app: 'agent' } }, spec: { containers } },
        },
      })
      await running(client, namespace, 2 + cluster().nodes)
    })

    it('a namespace with objects goes', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'going-')
      await client.create(Deployment, { metadata: { namespace, name: 'web' }, spec: workload(2) as never })
      await client.create(ConfigMap, { metadata: { namespace, name: 'a', finalizers: ['example.com/wait'] } })
      await running(client, namespace, 2)
      await client.delete(Namespace, { name: namespace })
      await eventually('it says what holds it', async () => {
        const found = await client.get(Namespace, { name: namespace })
        return found?.status?.conditions?.some(
          ({ type, status }) => type === 'NamespaceFinalizersRemaining' && status === 'True',
        )
      })
      await client.patch(ConfigMap, { namespace, name: 'a' }, { metadata: { finalizers: null } })
      await eventually(
        'it is deleted',
        async () => (await client.get(Namespace, { name: namespace })) === undefined,
      )
    })

    it('garbage of built-in and custom kinds is collected', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'gc-')
      await serve(client, Ship)
      const ship = await eventually('the kind is served', () =>
        client.create(Ship, { metadata: { namespace, name: 'ship' } }),
      )
      const { name, uid } = ship.metadata
      const ownerReferences = [{ apiVersion: 'plane.example.com/v1', kind: 'Ship', name, uid }]
      await client.create(Secret, { metadata: { namespace, name: 'cargo', ownerReferences } })
      await client.delete(Ship, { namespace, name })
      // The collector looks for new kinds every thirty seconds.
      await eventually(
        'the cargo is deleted',
        async () => (await client.get(Secret, { namespace, name: 'cargo' })) === undefined,
        90_000,
      )
    })

    it('quota is counted and held', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'quota-')
      const key = { namespace, name: 'small' }
      await client.create(ResourceQuota, {
        metadata: key,
        spec: { hard: { pods: '2', configmaps: '5', 'requests.cpu': '250m' } },
      })
      // Before it is counted for the first time nothing is let in.
      await eventually('it is counted', async () => (await client.get(ResourceQuota, key))?.status?.used)
      await client.create(Deployment, { metadata: { namespace, name: 'web' }, spec: workload(3) as never })
      await running(client, namespace, 2)
      const quota = await eventually('the pods are counted', async () => {
        const found = await client.get(ResourceQuota, key)
        return found?.status?.used?.pods === '2' && found
      })
      assert.deepEqual(quota.status?.used, { pods: '2', configmaps: '1', 'requests.cpu': '200m' })
      await eventually('the deployment says why', async () => {
        const found = await client.get(Deployment, { namespace, name: 'web' })
        const failure = found?.status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
        return /exceeded quota: small/.test(failure?.message ?? '')
      })
    })

    it('services have endpoints and slices', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'service-')
      await client.create(Deployment, { metadata: { namespace, name: 'web' }, spec: workload(2) as never })
      const ports = [{ name: 'http', port: 80, targetPort: 8080 }]
      await client.create(Service, {
        metadata: { namespace, name: 'web' },
        spec: { selector: labels, ports },
      })
      await running(client, namespace, 2)
      const addresses = (await podsOf(client, namespace)).map(({ status }) => status?.podIP ?? '').sort()
      await eventually('slices are there', async () => {
        const { items } = await client.list(EndpointSlice, { namespace })
        const found = items.flatMap(({ endpoints = [] }) => endpoints.filter(each => each.conditions?.ready))
        return (
          found
            .flatMap(each => each.addresses)
            .sort()
            .join() === addresses.join()
        )
      })
      await eventually('endpoints are there', async () => {
        const found = await client.get(Endpoints, { namespace, name: 'web' })
        const all = found?.subsets?.flatMap(subset => subset.addresses ?? []).map(({ ip }) => ip)
        return all?.sort().join() === addresses.join()
      })
    })

    it('a horizontal autoscaler follows the metrics', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'scaled-')
      await client.create(Deployment, { metadata: { namespace, name: 'web' }, spec: workload(1) as never })
      const [pod] = await running(client, namespace, 1)
      await client.create(HorizontalPodAutoscaler, {
        metadata: { namespace, name: 'web' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          maxReplicas: 3,
          metrics: [
            {
              type: 'Resource',
              resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
            },
          ],
        },
      })
      const condition = async (type: string) => {
        const found = await client.get(HorizontalPodAutoscaler, { namespace, name: 'web' })
        return found?.status?.conditions?.find(each => each.type === type)
      }
      await eventually('it misses the metrics', async () => {
        const active = await condition('ScalingActive')
        return (
          active?.reason === 'FailedGetResourceMetric' &&
          /the server could not find the requested resource/.test(active.message ?? '')
        )
      })
      // Where no metrics server runs, a custom resource of the same shape will do.
      await serve(client, PodMetrics)
      const usage = { cpu: '150m', memory: '1Mi' }
      await eventually('the metrics are served', () =>
        client.create(PodMetrics, {
          metadata: { namespace, name: pod!.metadata.name, labels },
          // Only what was measured after the pod got ready counts.
          timestamp: new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, ''),
          window: '30s',
          containers: [{ name: 'c', usage }],
        } as never),
      )
      await running(client, namespace, 3)
      assert.equal((await condition('AbleToScale'))?.status, 'True')
    })

    it('Jobs complete, CronJobs make them, and what is done goes', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'batch-')
      await client.create(CronJob, {
        metadata: { namespace, name: 'tick' },
        spec: { schedule: '* * * * *', jobTemplate: { spec: oneShot } } as never,
      })
      await client.create(Job, {
        metadata: { namespace, name: 'work' },
        spec: { ...oneShot, completions: 3, parallelism: 2, ttlSecondsAfterFinished: 1 } as never,
      })
      await eventually('it is done and gone', async () => {
        const jobs = await client.list(Job, { namespace })
        return jobs.items.every(({ metadata }) => metadata.name !== 'work')
      })
      await eventually(
        'the clock has struck',
        async () => {
          const jobs = await client.list(Job, { namespace })
          return jobs.items.some(({ status }) => status?.succeeded === 1)
        },
        100_000,
      )
      await eventually('it is noted', async () => {
        const tick = await client.get(CronJob, { namespace, name: 'tick' })
        return tick?.status?.lastSuccessfulTime
      })
    })

    it('volumes are bound, protected and released', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'volume-')
      const volume = { name: `${namespace}-pv` }
      await client.create(PersistentVolume, {
        metadata: volume,
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/tmp/nothing' },
          persistentVolumeReclaimPolicy: 'Retain',
          storageClassName: '',
        },
      })
      const key = { namespace, name: 'data' }
      await client.create(PersistentVolumeClaim, {
        metadata: key,
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: '',
          volumeName: volume.name,
          resources: { requests: { storage: '1Gi' } },
        },
      })
      await eventually(
        'they are bound',
        async () => (await client.get(PersistentVolumeClaim, key))?.status?.phase === 'Bound',
      )
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
      await client.create(Pod, { metadata: { namespace, name: 'user' }, spec: { containers, volumes } })
      await running(client, namespace, 1)
      await client.delete(PersistentVolumeClaim, key)
      assert.deepEqual((await client.get(PersistentVolumeClaim, key))?.metadata.finalizers, [
        'kubernetes.io/pvc-protection',
      ])
      await client.delete(Pod, { namespace, name: 'user' })
      await eventually(
        'the claim is deleted',
        async () => (await client.get(PersistentVolumeClaim, key)) === undefined,
      )
      await eventually(
        'the volume is released',
        async () => (await client.get(PersistentVolume, volume))?.status?.phase === 'Released',
      )
    })

    it('budgets hold evictions back', async () => {
      const { client } = cluster()
      const namespace = await makeNamespace(client, 'budget-')
      await client.create(Deployment, { metadata: { namespace, name: 'web' }, spec: workload(2) as never })
      await client.create(PodDisruptionBudget, {
        metadata: { namespace, name: 'web' },
        spec: { minAvailable: 2, selector: { matchLabels: labels } },
      })
      const [pod] = await running(client, namespace, 2)
      await eventually('it is counted', async () => {
        const found = await client.get(PodDisruptionBudget, { namespace, name: 'web' })
        return found?.status?.currentHealthy === 2 && found.status.disruptionsAllowed === 0
      })
      const { name } = pod!.metadata
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } }
      await assert.rejects(
        client.subresource(Pod, { namespace, name }, 'eviction').create(eviction),
        isTooManyRequests,
      )
    })

    it('roles are aggregated', async () => {
      const { client } = cluster()
      const metadata = {
        generateName: 'plane-part-',
        labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
      }
      const rules = [{ apiGroups: ['plane.example.com'], resources: ['boats'], verbs: ['get'] }]
      await client.create(ClusterRole, { metadata, rules })
      await eventually('view has it', async () => {
        const view = await client.get(ClusterRole, { name: 'view' })
        return view?.rules?.some(rule => rule.resources?.includes('boats'))
      })
    })

    it('a node that falls silent is tainted, and its pods are marked', async () => {
      const { client } = cluster()
      const name = 'silent'
      const taints = [{ key: 'example.com/silent', effect: 'NoSchedule' as const }]
      await client.create(Node, { metadata: { name }, spec: { taints } })
      const now = new Date().toISOString().replace(/\.\d+/, '')
      const ready = {
        type: 'Ready',
        status: 'True' as const,
        lastHeartbeatTime: now,
        lastTransitionTime: now,
        reason: 'r',
      }
      const status = { conditions: [ready] }
      await client.patch(Node, { name }, { status }, { type: 'strategic', subresource: 'status' })
      const tainted = await eventually(
        'it is tainted',
        async () => {
          const found = await client.get(Node, { name })
          return found?.spec?.taints?.some(({ effect }) => effect === 'NoExecute') && found
        },
        120_000,
      )
      assert.equal(tainted.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'Unknown')
      await client.delete(Node, { name })
    })
  })
}
