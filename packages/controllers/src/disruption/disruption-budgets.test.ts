import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Event, Pod } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import { isTooManyRequests } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  createDeploymentController,
  createDisruptionController,
  createReplicaSetController,
} from '@coxswain/controllers'
import type { Cluster } from '@coxswain/testing'
import { createObedientPods } from '@coxswain/testing/test-support/obedient-pods'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const key = { namespace, name: 'budget' }
const labels = { app: 'web' }
const controllers = () => [
  createDisruptionController(),
  createDeploymentController(),
  createReplicaSetController(),
]

async function createBudget(cluster: Cluster, spec: object, name = 'budget'): Promise<void> {
  await cluster.run(
    cluster.client.create(PodDisruptionBudget, {
      metadata: { namespace, name },
      spec: { selector: { matchLabels: labels }, ...spec },
    }),
  )
  await cluster.advance(5_000)
}

async function createDeployment(cluster: Cluster, replicas: number, image = 'one'): Promise<void> {
  await cluster.run(
    cluster.client.create(Deployment, {
      metadata: { namespace, name: 'web' },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
      },
    }),
  )
  await cluster.advance(10_000)
}

const createPod = (cluster: Cluster, name: string, metadata: object = {}) =>
  cluster.run(
    cluster.client.create(Pod, {
      metadata: { namespace, name, labels, ...metadata },
      spec: { containers: [{ name: 'c', image: 'one' }] },
    }),
  )

const podsOf = async (cluster: Cluster) => (await cluster.run(cluster.client.list(Pod, { namespace }))).items
const evict = (cluster: Cluster, name: string) =>
  cluster.run(
    cluster.client
      .subresource(Pod, { namespace, name }, 'eviction')
      .create({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } }),
  )
const messages = async (cluster: Cluster, wanted: string) => {
  const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
  return [...new Set(items.filter(({ reason }) => reason === wanted).map(({ message }) => message))]
}

/** Expected, desired and healthy pods, allowed disruptions, and the condition's reason. */
async function outcome(cluster: Cluster) {
  const { status, metadata } = (await cluster.run(cluster.client.get(PodDisruptionBudget, key)))!
  const condition = status?.conditions?.find(({ type }) => type === 'DisruptionAllowed')
  const allowed = status?.disruptionsAllowed ?? 0
  assert.equal(condition?.status, allowed > 0 ? 'True' : 'False')
  if (condition?.reason !== 'SyncFailed') assert.equal(status?.observedGeneration, metadata.generation)
  assert.deepEqual(status?.disruptedPods ?? {}, {})
  return [
    status?.expectedPods ?? 0,
    status?.desiredHealthy ?? 0,
    status?.currentHealthy ?? 0,
    allowed,
    condition?.reason,
  ]
}

const play = scenariosOf('disruption-controller', {
  controllers,
  others: () => [createObedientPods()],
  look: outcome,
})
const scenario = (name: string, act: Scenario['act'], end: readonly unknown[]) => play(name, { act, end })

describe('PodDisruptionBudgets', () => {
  scenario(
    'allow no disruptions without pods, and report that',
    async cluster => {
      await createBudget(cluster, { minAvailable: 0 })
      assert.deepEqual(await messages(cluster, 'NoPods'), ['No matching pods found'])
    },
    [0, 0, 0, 0, 'InsufficientPods'],
  )

  scenario(
    'count pods for an integer minAvailable',
    async cluster => {
      await createBudget(cluster, { minAvailable: 2 })
      for (const name of ['a', 'b', 'c']) await createPod(cluster, name)
    },
    [3, 2, 3, 1, 'SufficientPods'],
  )

  scenario(
    'round a percentage of minAvailable up',
    async cluster => {
      await createDeployment(cluster, 5)
      await createBudget(cluster, { minAvailable: '50%' })
    },
    [5, 3, 5, 2, 'SufficientPods'],
  )

  scenario(
    'subtract maxUnavailable from the replicas of the Deployment',
    async cluster => {
      await createDeployment(cluster, 4)
      await createBudget(cluster, { maxUnavailable: 1 })
    },
    [4, 3, 4, 1, 'SufficientPods'],
  )

  scenario(
    'round a percentage of maxUnavailable up',
    async cluster => {
      await createDeployment(cluster, 3)
      await createBudget(cluster, { maxUnavailable: '30%' })
    },
    [3, 2, 3, 1, 'SufficientPods'],
  )

  scenario(
    'count a Deployment once during a rollout',
    async cluster => {
      await createDeployment(cluster, 3)
      await createBudget(cluster, { maxUnavailable: 1 })
      const template = { spec: { containers: [{ name: 'c', image: 'broken' }] } }
      const of = { namespace, name: 'web' }
      await cluster.run(cluster.client.patch(Deployment, of, { spec: { template } }, { type: 'strategic' }))
    },
    [3, 2, 3, 1, 'SufficientPods'],
  )

  scenario(
    'allow no disruptions if too few pods are ready',
    async cluster => {
      await createDeployment(cluster, 3, 'broken')
      await createBudget(cluster, { maxUnavailable: 1 })
    },
    [3, 2, 0, 0, 'InsufficientPods'],
  )

  scenario(
    'follow a Deployment that is scaled, and a changed budget',
    async cluster => {
      await createDeployment(cluster, 2)
      await createBudget(cluster, { maxUnavailable: 1 })
      const of = { namespace, name: 'web' }
      await cluster.run(cluster.client.patch(Deployment, of, { spec: { replicas: 6 } }, { type: 'merge' }))
      await cluster.advance(10_000)
      assert.deepEqual(await outcome(cluster), [6, 5, 6, 1, 'SufficientPods'])
      await cluster.run(
        cluster.client.patch(PodDisruptionBudget, key, { spec: { maxUnavailable: 3 } }, { type: 'merge' }),
      )
    },
    [6, 3, 6, 3, 'SufficientPods'],
  )

  scenario(
    'fail closed for pods whose controller has no scale',
    async cluster => {
      const owner = await cluster.run(
        cluster.client.create(ConfigMap, { metadata: { namespace, name: 'owner' } }),
      )
      const { uid } = owner.metadata
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, controller: true }
      // It outlives its owner.
      await createPod(cluster, 'a', { ownerReferences: [reference], finalizers: ['example.com/hold'] })
      await createBudget(cluster, { maxUnavailable: 1 })
      const problem = 'configmaps does not implement the scale subresource'
      const expected = [`Failed to calculate the number of expected pods: ${problem}`]
      assert.deepEqual(await messages(cluster, 'CalculateExpectedPodCountFailed'), expected)
      // The owner's existence does not matter: its kind has no scale subresource.
      await cluster.run(cluster.client.delete(ConfigMap, { namespace, name: 'owner' }))
      await cluster.run(
        cluster.client.patch(PodDisruptionBudget, key, { spec: { maxUnavailable: 2 } }, { type: 'merge' }),
      )
      await cluster.advance(1_000)
      assert.deepEqual(await messages(cluster, 'CalculateExpectedPodCountFailed'), expected)
      const budget = await cluster.run(cluster.client.get(PodDisruptionBudget, key))
      const [condition] = budget?.status?.conditions ?? []
      assert.deepEqual([condition?.reason, condition?.message], ['SyncFailed', problem])
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'a' }, { gracePeriodSeconds: 0 }))
      const released = { metadata: { finalizers: null } }
      await cluster.run(cluster.client.patch(Pod, { namespace, name: 'a' }, released, { type: 'merge' }))
    },
    [0, 0, 0, 0, 'InsufficientPods'],
  )

  scenario(
    'ignore unmanaged pods, and report them',
    async cluster => {
      await createPod(cluster, 'a')
      await createBudget(cluster, { maxUnavailable: 1 })
      const [message] = await messages(cluster, 'UnmanagedPods')
      assert.ok(
        message?.includes(
          '(selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},})',
        ),
      )
    },
    [0, 0, 1, 0, 'InsufficientPods'],
  )

  scenario(
    'let the server evict one pod, then none until it is replaced',
    async cluster => {
      await createDeployment(cluster, 3)
      await createBudget(cluster, { maxUnavailable: 1 })
      const [first, second] = await podsOf(cluster)
      await evict(cluster, first!.metadata.name)
      await assert.rejects(evict(cluster, second!.metadata.name), isTooManyRequests)
      await cluster.advance(10_000)
      await evict(cluster, second!.metadata.name)
    },
    [3, 2, 3, 1, 'SufficientPods'],
  )

  scenario(
    'expect an evicted pod to be deleted for two minutes',
    async cluster => {
      await createDeployment(cluster, 2)
      await createBudget(cluster, { maxUnavailable: 1 })
      const [pod] = await podsOf(cluster)
      const budget = (await cluster.run(cluster.client.get(PodDisruptionBudget, key)))!
      const disruptedPods = { [pod!.metadata.name]: formatTime(cluster.env.clock.now()) }
      await cluster.run(
        cluster.client.updateStatus(PodDisruptionBudget, {
          ...budget,
          status: { ...budget.status, disruptedPods },
        }),
      )
      await cluster.advance(60_000)
      const during = await cluster.run(cluster.client.get(PodDisruptionBudget, key))
      assert.equal(during?.status?.disruptionsAllowed ?? 0, 0)
      assert.equal(during?.status?.currentHealthy, 1)
      await cluster.advance(65_000)
      assert.deepEqual(await messages(cluster, 'NotDeleted'), [
        "Pod was expected by PDB default/budget to be deleted but it wasn't",
      ])
    },
    [2, 1, 2, 1, 'SufficientPods'],
  )

  scenario(
    'report pods that match two of them',
    async cluster => {
      await createPod(cluster, 'a')
      await createBudget(cluster, { minAvailable: 1 })
      await createBudget(cluster, { minAvailable: 0 }, 'other')
      const patch = { metadata: { annotations: { touched: 'yes' } } }
      await cluster.run(cluster.client.patch(Pod, { namespace, name: 'a' }, patch, { type: 'merge' }))
      await cluster.advance(5_000)
      assert.deepEqual(await messages(cluster, 'MultiplePodDisruptionBudgets'), [
        'Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "budget" arbitrarily.',
      ])
    },
    [1, 1, 1, 0, 'InsufficientPods'],
  )
})

describe('Pods marked for disruption', () => {
  const marked = (name: string, act: (cluster: Cluster) => Promise<void>, reason: string, end: string) =>
    play(name, {
      act: async cluster => {
        await createPod(cluster, 'a')
        await cluster.advance(5_000)
        const pod = (await cluster.run(cluster.client.get(Pod, { namespace, name: 'a' })))!
        const condition = {
          type: 'DisruptionTarget',
          status: 'True' as const,
          reason,
          lastTransitionTime: formatTime(cluster.env.clock.now()),
        }
        const conditions = [...(pod.status?.conditions ?? []), condition]
        await cluster.run(cluster.client.updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } }))
        await act(cluster)
      },
      look: async cluster => {
        const pod = await cluster.run(cluster.client.get(Pod, { namespace, name: 'a' }))
        return pod?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.status
      },
      end,
    })
  marked(
    'lose the condition after two minutes',
    async cluster => {
      await cluster.advance(110_000)
      const pod = await cluster.run(cluster.client.get(Pod, { namespace, name: 'a' }))
      assert.equal(pod?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.status, 'True')
      await cluster.advance(11_000)
    },
    'EvictionByEvictionAPI',
    'False',
  )
  marked(
    'keep a condition set by a kubelet',
    cluster => cluster.advance(600_000),
    'TerminationByKubelet',
    'True',
  )
})
