import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Job } from '@coxswain/api/batch/v1'
import { Event, Node, Pod } from '@coxswain/api/core/v1'
import {
  createJobController,
  createPodGarbageCollector,
  createTaintEvictionController,
  createTtlAfterFinishedController,
} from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import type { Operator } from '@coxswain/runtime'
import { type Cluster, startCluster } from '@coxswain/testing'
import { scenariosOf } from '@coxswain/testing/test-support/play'
import { createScriptedKubelet } from '@coxswain/testing/test-support/scripted-kubelet'

const namespace = 'default'
type Taints = { key: string; effect: 'NoExecute' | 'NoSchedule'; value?: string }[]

const createNode = (cluster: Cluster, name: string, taints: Taints = []) =>
  cluster.run(cluster.client.create(Node, { metadata: { name }, spec: { taints } } as never))

const taint = (cluster: Cluster, name: string, taints: Taints) =>
  cluster.run(cluster.client.patch(Node, { name }, { spec: { taints } }, { type: 'merge' }))

interface PodOptions {
  readonly nodeName?: string
  readonly tolerations?: readonly object[]
  readonly finalizers?: readonly string[]
}

const createPod = (cluster: Cluster, name: string, { finalizers, ...spec }: PodOptions = {}) =>
  cluster.run(
    cluster.client.create(Pod, {
      metadata: { name, namespace, ...(finalizers && { finalizers }) },
      spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 30, ...spec },
    } as never),
  )

const setStatus = (cluster: Cluster, name: string, status: object) =>
  cluster.run(
    cluster.client.patch(Pod, { namespace, name }, { status }, { type: 'strategic', subresource: 'status' }),
  )

/** The pods' names, phases, disruption reasons, and whether they are terminating. */
async function look(cluster: Cluster): Promise<string[]> {
  const { items } = await cluster.run(cluster.client.list(Pod, { namespace }))
  return items
    .map(({ metadata, status }) => {
      const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
      const terminating = metadata.deletionTimestamp ? ' terminating' : ''
      return `${metadata.name} ${status?.phase}${target ? ` ${target.reason}` : ''}${terminating}`
    })
    .sort()
}

async function withOperators(
  operators: readonly Operator[],
  body: (cluster: Cluster) => Promise<void>,
): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
  for (const operator of operators) cluster.start(operator)
  await cluster.advance(1_000)
  await body(cluster)
}

const eventsOf = async (cluster: Cluster) => {
  const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
  return items.map(({ reason, message }) => `${reason} ${message}`)
}

const runs = () => createScriptedKubelet(() => 'runs')
const finalizers = ['example.com/hold']

describe('the pod garbage collector', () => {
  const scenario = scenariosOf('pod-garbage-collector-controller', {
    controllers: () => [createPodGarbageCollector()],
    look,
  })

  scenario('deletes pods of deleted nodes, with a reason', {
    act: async cluster => {
      await createNode(cluster, 'there')
      await createPod(cluster, 'stays', { nodeName: 'there' })
      await createPod(cluster, 'goes', { nodeName: 'gone' })
      await createPod(cluster, 'held', { nodeName: 'gone', finalizers })
      await cluster.advance(200_000)
    },
    end: ['held Failed DeletionByPodGC terminating', 'stays Pending'],
  })

  scenario('waits forty seconds for a node to come back', {
    act: async cluster => {
      await createPod(cluster, 'waits', { nodeName: 'late' })
      await cluster.advance(35_000)
      await createNode(cluster, 'late')
      await cluster.advance(120_000)
    },
    end: ['waits Pending'],
  })

  scenario('deletes terminating pods that were never scheduled', {
    act: async cluster => {
      await createPod(cluster, 'held', { finalizers })
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'held' }))
      await createPod(cluster, 'stays')
      await cluster.advance(30_000)
    },
    end: ['held Failed terminating', 'stays Pending'],
  })

  scenario('deletes terminating pods on nodes that are out of service', {
    act: async cluster => {
      await createNode(cluster, 'out', [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }])
      await createNode(cluster, 'slow')
      for (const [name, nodeName] of [
        ['a', 'out'],
        ['b', 'slow'],
      ] as const) {
        await createPod(cluster, name, { nodeName })
        await cluster.run(cluster.client.delete(Pod, { namespace, name }))
      }
      await createPod(cluster, 'c', { nodeName: 'out' })
      await cluster.advance(30_000)
    },
    end: ['b Pending terminating', 'c Pending'],
  })

  scenario('limits the number of finished pods: evicted ones are deleted first, then the oldest', {
    controllers: () => [createPodGarbageCollector({ terminatedPodThreshold: 2 })],
    act: async cluster => {
      for (const name of ['a', 'b', 'c', 'd']) {
        await createPod(cluster, name)
        await setStatus(cluster, name, {
          phase: name === 'a' ? 'Succeeded' : 'Failed',
          ...(name === 'c' && { reason: 'Evicted' }),
        })
        await cluster.advance(1_000)
      }
      await createPod(cluster, 'runs')
      await cluster.advance(30_000)
    },
    end: ['b Failed', 'd Failed', 'runs Pending'],
  })
})

const noExecute: Taints = [{ key: 'maintenance', effect: 'NoExecute' }]
const tolerating = (tolerationSeconds?: number) => [
  {
    key: 'maintenance',
    operator: 'Exists',
    effect: 'NoExecute',
    ...(tolerationSeconds !== undefined && { tolerationSeconds }),
  },
]

describe('taint eviction', () => {
  const scenario = scenariosOf('taint-eviction-controller', {
    controllers: () => [createTaintEvictionController()],
    others: () => [runs()],
    look,
  })

  scenario('evicts pods that do not tolerate a taint, at once or after a while', {
    act: async cluster => {
      await createNode(cluster, 'node')
      await createNode(cluster, 'other')
      await createPod(cluster, 'at-once', { nodeName: 'node', finalizers })
      await createPod(cluster, 'later', { nodeName: 'node', tolerations: tolerating(20) })
      await createPod(cluster, 'never', { nodeName: 'node', tolerations: tolerating() })
      await createPod(cluster, 'elsewhere', { nodeName: 'other' })
      await cluster.advance(2_000)
      await taint(cluster, 'node', [...noExecute, { key: 'full', effect: 'NoSchedule' }])
      await cluster.advance(60_000)
    },
    end: ['at-once Failed DeletionByTaintManager terminating', 'elsewhere Running', 'never Running'],
  })

  it('waits for the shortest toleration, and records events', () =>
    withOperators([createTaintEvictionController()], async cluster => {
      await createNode(cluster, 'node', [...noExecute, { key: 'fire', effect: 'NoExecute' }])
      const tolerations = [
        ...tolerating(100),
        { key: 'fire', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
      ]
      await createPod(cluster, 'p', { nodeName: 'node', tolerations })
      await cluster.advance(29_000)
      assert.deepEqual(await look(cluster), ['p Pending'])
      await cluster.advance(2_000)
      assert.deepEqual(await look(cluster), ['p Pending DeletionByTaintManager terminating'])
      assert.deepEqual(await eventsOf(cluster), ['TaintManagerEviction Marking for deletion Pod default/p'])
    }))

  scenario('cancels the eviction when the taint is removed in time', {
    others: () => [],
    act: async cluster => {
      await createNode(cluster, 'node', noExecute)
      await createPod(cluster, 'p', { nodeName: 'node', tolerations: tolerating(30) })
      await cluster.advance(20_000)
      await taint(cluster, 'node', [])
      await cluster.advance(60_000)
      assert.deepEqual(await eventsOf(cluster), ['TaintManagerEviction Cancelling deletion of Pod default/p'])
    },
    end: ['p Pending'],
  })

  it('sets the reason also on a terminating pod', () =>
    withOperators([createTaintEvictionController()], async cluster => {
      await createNode(cluster, 'node')
      await createPod(cluster, 'p', { nodeName: 'node' })
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'p' }))
      await taint(cluster, 'node', noExecute)
      await cluster.advance(2_000)
      assert.deepEqual(await look(cluster), ['p Pending DeletionByTaintManager terminating'])
    }))

  it('evicts a pod that is bound to a node with a taint', () =>
    withOperators([createTaintEvictionController()], async cluster => {
      await createNode(cluster, 'node', noExecute)
      await cluster.advance(5_000)
      await createPod(cluster, 'p', { nodeName: 'node' })
      await cluster.advance(2_000)
      assert.deepEqual(await look(cluster), ['p Pending DeletionByTaintManager terminating'])
    }))
})

describe('TTL after finishing', () => {
  const key = { namespace, name: 'work' }
  const createJob = (cluster: Cluster, ttlSecondsAfterFinished: number) =>
    cluster.run(
      cluster.client.create(Job, {
        metadata: key,
        spec: {
          ttlSecondsAfterFinished,
          template: {
            spec: { restartPolicy: 'Never', nodeName: 'node', containers: [{ name: 'c', image: 'i' }] },
          },
        },
      } as never),
    )
  const operators = () => [createJobController(), createTtlAfterFinishedController()]
  const succeeds = () => createScriptedKubelet(() => 0)

  const scenario = scenariosOf('ttl-after-finished-controller', {
    controllers: operators,
    others: () => [succeeds()],
  })

  scenario('deletes the job and its pods when it expires', {
    act: async cluster => {
      await createJob(cluster, 30)
      await cluster.advance(20_000)
      assert.ok(await cluster.run(cluster.client.get(Job, key)))
      await cluster.advance(60_000)
    },
    look: async cluster => [await cluster.run(cluster.client.get(Job, key)), await look(cluster)],
    end: [undefined, []],
  })

  scenario('can be extended, or be zero', {
    act: async cluster => {
      await createJob(cluster, 30)
      await cluster.advance(20_000)
      const longer = { spec: { ttlSecondsAfterFinished: 1_000 } }
      await cluster.run(cluster.client.patch(Job, key, longer, { type: 'merge' }))
      await cluster.advance(600_000)
      assert.ok(await cluster.run(cluster.client.get(Job, key)))
      const none = { spec: { ttlSecondsAfterFinished: 0 } }
      await cluster.run(cluster.client.patch(Job, key, none, { type: 'merge' }))
    },
    look: cluster => cluster.run(cluster.client.get(Job, key)),
    end: undefined,
  })
})
