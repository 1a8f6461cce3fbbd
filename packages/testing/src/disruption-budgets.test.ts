import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { ConfigMap, Event, Pod } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import { formatTime, isTooManyRequests } from '@coxswain/apimachinery'
import {
  createDeploymentController,
  createDisruptionController,
  createReplicaSetController,
} from '@coxswain/controllers'
import { type Play, playWorkload, type WorkloadStage } from './test-support/play-workload.ts'

const namespace = 'default'
const key = { namespace, name: 'budget' }
const labels = { app: 'web' }
const operators = () => [
  createDisruptionController(),
  createDeploymentController(),
  createReplicaSetController(),
]

async function createBudget(stage: WorkloadStage, spec: object, name = 'budget'): Promise<void> {
  await stage.run(
    stage.client.create(PodDisruptionBudget, {
      metadata: { namespace, name },
      spec: { selector: { matchLabels: labels }, ...spec },
    }),
  )
  await stage.later(5_000)
}

async function createDeployment(stage: WorkloadStage, replicas: number, image = 'one'): Promise<void> {
  await stage.run(
    stage.client.create(Deployment, {
      metadata: { namespace, name: 'web' },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
      },
    }),
  )
  await stage.later(10_000)
}

const createPod = (stage: WorkloadStage, name: string, metadata: object = {}) =>
  stage.run(
    stage.client.create(Pod, {
      metadata: { namespace, name, labels, ...metadata },
      spec: { containers: [{ name: 'c', image: 'one' }] },
    }),
  )

const podsOf = async (stage: WorkloadStage) => (await stage.run(stage.client.list(Pod, { namespace }))).items
const evict = (stage: WorkloadStage, name: string) =>
  stage.run(
    stage.client
      .subresource(Pod, { namespace, name }, 'eviction')
      .create({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } }),
  )
const messages = async (stage: WorkloadStage, wanted: string) => {
  const { items } = await stage.run(stage.client.list(Event, { namespace }))
  return [...new Set(items.filter(({ reason }) => reason === wanted).map(({ message }) => message))]
}

/** Expected, desired, healthy, allowed, and the condition's reason. */
async function outcome(stage: WorkloadStage) {
  const { status, metadata } = (await stage.run(stage.client.get(PodDisruptionBudget, key)))!
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

const scenario = (name: string, act: Play['act'], expected: readonly unknown[]) =>
  it(name, () => playWorkload({ operators, act, end: outcome }, expected))

describe('PodDisruptionBudgets', () => {
  scenario(
    'allow nothing without pods, and say so',
    async stage => {
      await createBudget(stage, { minAvailable: 0 })
      assert.deepEqual(await messages(stage, 'NoPods'), ['No matching pods found'])
    },
    [0, 0, 0, 0, 'InsufficientPods'],
  )

  scenario(
    'count pods for a number of minAvailable',
    async stage => {
      await createBudget(stage, { minAvailable: 2 })
      for (const name of ['a', 'b', 'c']) await createPod(stage, name)
    },
    [3, 2, 3, 1, 'SufficientPods'],
  )

  scenario(
    'round a share of minAvailable up',
    async stage => {
      await createDeployment(stage, 5)
      await createBudget(stage, { minAvailable: '50%' })
    },
    [5, 3, 5, 2, 'SufficientPods'],
  )

  scenario(
    'subtract maxUnavailable from what the deployment wants',
    async stage => {
      await createDeployment(stage, 4)
      await createBudget(stage, { maxUnavailable: 1 })
    },
    [4, 3, 4, 1, 'SufficientPods'],
  )

  scenario(
    'round a share of maxUnavailable up',
    async stage => {
      await createDeployment(stage, 3)
      await createBudget(stage, { maxUnavailable: '30%' })
    },
    [3, 2, 3, 1, 'SufficientPods'],
  )

  scenario(
    'count a deployment once while it rolls out',
    async stage => {
      await createDeployment(stage, 3)
      await createBudget(stage, { maxUnavailable: 1 })
      const template = { spec: { containers: [{ name: 'c', image: 'broken' }] } }
      const of = { namespace, name: 'web' }
      await stage.run(stage.client.patch(Deployment, of, { spec: { template } }, { type: 'strategic' }))
    },
    [3, 2, 3, 1, 'SufficientPods'],
  )

  scenario(
    'allow nothing when too few are ready',
    async stage => {
      await createDeployment(stage, 3, 'broken')
      await createBudget(stage, { maxUnavailable: 1 })
    },
    [3, 2, 0, 0, 'InsufficientPods'],
  )

  scenario(
    'follow a deployment that is scaled, and a budget that is changed',
    async stage => {
      await createDeployment(stage, 2)
      await createBudget(stage, { maxUnavailable: 1 })
      const of = { namespace, name: 'web' }
      await stage.run(stage.client.patch(Deployment, of, { spec: { replicas: 6 } }, { type: 'merge' }))
      await stage.later(10_000)
      assert.deepEqual(await outcome(stage), [6, 5, 6, 1, 'SufficientPods'])
      await stage.run(
        stage.client.patch(PodDisruptionBudget, key, { spec: { maxUnavailable: 3 } }, { type: 'merge' }),
      )
    },
    [6, 3, 6, 3, 'SufficientPods'],
  )

  scenario(
    'fail closed for pods whose controller has no size',
    async stage => {
      const owner = await stage.run(
        stage.client.create(ConfigMap, { metadata: { namespace, name: 'owner' } }),
      )
      const { uid } = owner.metadata
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, controller: true }
      await createPod(stage, 'a', { ownerReferences: [reference] })
      await createBudget(stage, { maxUnavailable: 1 })
      const problem = 'configmaps does not implement the scale subresource'
      assert.deepEqual(await messages(stage, 'CalculateExpectedPodCountFailed'), [
        `Failed to calculate the number of expected pods: ${problem}`,
      ])
      const budget = await stage.run(stage.client.get(PodDisruptionBudget, key))
      const [condition] = budget?.status?.conditions ?? []
      assert.deepEqual([condition?.reason, condition?.message], ['SyncFailed', problem])
      await stage.run(stage.client.delete(Pod, { namespace, name: 'a' }, { gracePeriodSeconds: 0 }))
    },
    [0, 0, 0, 0, 'InsufficientPods'],
  )

  scenario(
    'leave pods of nobody out of account, and say so',
    async stage => {
      await createPod(stage, 'a')
      await createBudget(stage, { maxUnavailable: 1 })
      const [message] = await messages(stage, 'UnmanagedPods')
      assert.ok(
        message?.includes(
          '(selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},})',
        ),
      )
    },
    [0, 0, 1, 0, 'InsufficientPods'],
  )

  scenario(
    'let the server evict one pod, then none until another has taken its place',
    async stage => {
      await createDeployment(stage, 3)
      await createBudget(stage, { maxUnavailable: 1 })
      const [first, second] = await podsOf(stage)
      await evict(stage, first!.metadata.name)
      await assert.rejects(evict(stage, second!.metadata.name), isTooManyRequests)
      await stage.later(10_000)
      await evict(stage, second!.metadata.name)
    },
    [3, 2, 3, 1, 'SufficientPods'],
  )

  scenario(
    'believe an eviction for two minutes',
    async stage => {
      await createDeployment(stage, 2)
      await createBudget(stage, { maxUnavailable: 1 })
      const [pod] = await podsOf(stage)
      const budget = (await stage.run(stage.client.get(PodDisruptionBudget, key)))!
      const disruptedPods = { [pod!.metadata.name]: formatTime(stage.cluster.env.clock.now()) }
      await stage.run(
        stage.client.updateStatus(PodDisruptionBudget, {
          ...budget,
          status: { ...budget.status, disruptedPods },
        }),
      )
      await stage.later(60_000)
      const during = await stage.run(stage.client.get(PodDisruptionBudget, key))
      assert.equal(during?.status?.disruptionsAllowed ?? 0, 0)
      assert.equal(during?.status?.currentHealthy, 1)
      await stage.later(65_000)
      assert.deepEqual(await messages(stage, 'NotDeleted'), [
        "Pod was expected by PDB default/budget to be deleted but it wasn't",
      ])
    },
    [2, 1, 2, 1, 'SufficientPods'],
  )

  scenario(
    'tell of pods that two of them select',
    async stage => {
      await createPod(stage, 'a')
      await createBudget(stage, { minAvailable: 1 })
      await createBudget(stage, { minAvailable: 0 }, 'other')
      const patch = { metadata: { annotations: { touched: 'yes' } } }
      await stage.run(stage.client.patch(Pod, { namespace, name: 'a' }, patch, { type: 'merge' }))
      await stage.later(5_000)
      assert.deepEqual(await messages(stage, 'MultiplePodDisruptionBudgets'), [
        'Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "budget" arbitrarily.',
      ])
    },
    [1, 1, 1, 0, 'InsufficientPods'],
  )
})

describe('Pods that were to be disrupted', () => {
  const marked = (
    name: string,
    act: (stage: WorkloadStage) => Promise<void>,
    reason: string,
    expected: string,
  ) =>
    it(name, async () => {
      const mark = async (stage: WorkloadStage) => {
        await createPod(stage, 'a')
        await stage.later(5_000)
        const pod = (await stage.run(stage.client.get(Pod, { namespace, name: 'a' })))!
        const condition = {
          type: 'DisruptionTarget',
          status: 'True' as const,
          reason,
          lastTransitionTime: formatTime(stage.cluster.env.clock.now()),
        }
        const conditions = [...(pod.status?.conditions ?? []), condition]
        await stage.run(stage.client.updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } }))
        await act(stage)
      }
      const end = async (stage: WorkloadStage) => {
        const pod = await stage.run(stage.client.get(Pod, { namespace, name: 'a' }))
        return pod?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.status
      }
      await playWorkload({ operators, act: mark, end }, expected)
    })
  marked(
    'lose the mark after two minutes',
    async stage => {
      await stage.later(110_000)
      const pod = await stage.run(stage.client.get(Pod, { namespace, name: 'a' }))
      assert.equal(pod?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.status, 'True')
      await stage.later(11_000)
    },
    'EvictionByEvictionAPI',
    'False',
  )
  marked('keep what a kubelet says', stage => stage.later(600_000), 'TerminationByKubelet', 'True')
})
