import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ControllerRevision, DaemonSet } from '@coxswain/api/apps/v1'
import { Event, Node, Pod } from '@coxswain/api/core/v1'
import { createDaemonSetController } from '@coxswain/controllers'
import { createScheduler } from '@coxswain/scheduler'
import type { Cluster } from '@coxswain/testing'
import { addNode, setTaints } from '@coxswain/testing/test-support/add-node'
import { createObedientPods } from '@coxswain/testing/test-support/obedient-pods'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const key = { namespace, name: 'agent' }
const labels = { app: 'agent' }
const controllers = () => [createDaemonSetController()]
const nodes = ['n1', 'n2', 'n3']
const zone = 'example.com/zone'

async function create(
  cluster: Cluster,
  { spec = {}, pod = {}, image = 'one' }: { spec?: object; pod?: object; image?: string } = {},
): Promise<void> {
  await cluster.run(
    cluster.client.create(DaemonSet, {
      metadata: key,
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }], ...pod } },
        ...spec,
      },
    }),
  )
  await cluster.advance(10_000)
}

const setImage = (cluster: Cluster, image: string) =>
  cluster.run(
    cluster.client.patch(
      DaemonSet,
      key,
      { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } },
      { type: 'strategic' },
    ),
  )
const get = async (cluster: Cluster) => (await cluster.run(cluster.client.get(DaemonSet, key)))!
const podsOf = async (cluster: Cluster) => (await cluster.run(cluster.client.list(Pod, { namespace }))).items
const revisionsOf = async (cluster: Cluster) =>
  (await cluster.run(cluster.client.list(ControllerRevision, { namespace }))).items
const label = (cluster: Cluster, name: string, value: string | null) =>
  cluster.run(
    cluster.client.patch(Node, { name }, { metadata: { labels: { [zone]: value } } }, { type: 'merge' }),
  )
const isReady = ({ status, metadata }: Pod) =>
  !metadata.deletionTimestamp &&
  status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True')

/** Pods as `n1 one`; desired, current, ready, available, updated, misscheduled; revision numbers. */
async function outcome(cluster: Cluster) {
  const pods = (await podsOf(cluster))
    .map(({ spec }) => `${spec.nodeName} ${spec.containers[0]?.image}`)
    .sort()
  const status = (await get(cluster)).status!
  assert.equal(status.numberUnavailable ?? 0, status.desiredNumberScheduled - (status.numberAvailable ?? 0))
  assert.equal(status.observedGeneration, (await get(cluster)).metadata.generation)
  const counts = [
    status.desiredNumberScheduled,
    status.currentNumberScheduled,
    status.numberReady,
    status.numberAvailable ?? 0,
    status.updatedNumberScheduled ?? 0,
    status.numberMisscheduled,
  ]
  return { pods, counts, revisions: (await revisionsOf(cluster)).map(({ revision }) => revision).sort() }
}

const all = (image: string) => nodes.map(name => `${name} ${image}`)
const well = (count: number) => [count, count, count, count, count, 0]

const play = scenariosOf('daemonset-controller', {
  controllers,
  others: () => [createObedientPods(), createScheduler()],
  before: async cluster => {
    for (const name of nodes) await addNode(cluster, name)
  },
  look: outcome,
})
const scenario = (name: string, act: Scenario['act'], end: object) => play(name, { act, end })

describe('DaemonSets', () => {
  scenario('run one pod on each node', cluster => create(cluster), {
    pods: all('one'),
    counts: well(3),
    revisions: [1],
  })

  play('bind through affinity, tolerate node conditions, and label their revision', {
    act: cluster => create(cluster, { pod: { hostNetwork: true } }),
    look: async cluster => {
      const pod = (await podsOf(cluster)).find(({ spec }) => spec.nodeName === 'n2')!
      const [revision] = await revisionsOf(cluster)
      assert.deepEqual(
        pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms,
        [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }],
      )
      assert.deepEqual(pod.spec.tolerations?.map(({ key: taint, effect }) => `${taint}:${effect}`).sort(), [
        'node.kubernetes.io/disk-pressure:NoSchedule',
        'node.kubernetes.io/memory-pressure:NoSchedule',
        'node.kubernetes.io/network-unavailable:NoSchedule',
        'node.kubernetes.io/not-ready:NoExecute',
        'node.kubernetes.io/pid-pressure:NoSchedule',
        'node.kubernetes.io/unreachable:NoExecute',
        'node.kubernetes.io/unschedulable:NoSchedule',
      ])
      assert.deepEqual(pod.metadata.labels, {
        app: 'agent',
        'controller-revision-hash': revision?.metadata.labels?.['controller-revision-hash'],
        'pod-template-generation': '1',
      })
      assert.equal(pod.metadata.generateName, 'agent-')
      const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
      return items.some(({ message }) => message?.startsWith('Created pod: agent-'))
    },
    end: true,
  })

  scenario(
    'follow the labels of nodes',
    async cluster => {
      await label(cluster, 'n1', 'a')
      await create(cluster, { pod: { nodeSelector: { [zone]: 'a' } } })
      assert.deepEqual((await outcome(cluster)).pods, ['n1 one'])
      await label(cluster, 'n3', 'a')
      await cluster.advance(10_000)
      assert.deepEqual((await outcome(cluster)).pods, ['n1 one', 'n3 one'])
      await label(cluster, 'n1', null)
    },
    { pods: ['n3 one'], counts: well(1), revisions: [1] },
  )

  scenario(
    'respect node affinity',
    async cluster => {
      await label(cluster, 'n2', 'b')
      const matchExpressions = [{ key: zone, operator: 'DoesNotExist' }]
      const required = { nodeSelectorTerms: [{ matchExpressions }] }
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required }
      await create(cluster, { pod: { affinity: { nodeAffinity } } })
    },
    { pods: ['n1 one', 'n3 one'], counts: well(2), revisions: [1] },
  )

  scenario(
    'stay on a node with a new NoSchedule taint, and leave one with a NoExecute taint',
    async cluster => {
      await setTaints(cluster, 'n3', [{ key: 'gpu', effect: 'NoSchedule' }])
      await cluster.advance(20_000) // a controller that has not observed the taint creates a pod, which may stay
      await create(cluster)
      await setTaints(cluster, 'n1', [{ key: 'gpu', effect: 'NoSchedule' }])
      await setTaints(cluster, 'n2', [{ key: 'gpu', effect: 'NoExecute' }])
    },
    { pods: ['n1 one'], counts: [0, 0, 0, 0, 0, 1], revisions: [1] },
  )

  scenario(
    'run on nodes whose taints they tolerate, including cordoned ones',
    async cluster => {
      await setTaints(cluster, 'n1', [{ key: 'gpu', effect: 'NoSchedule' }])
      await setTaints(cluster, 'n2', [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }])
      await create(cluster, { pod: { tolerations: [{ key: 'gpu', operator: 'Exists' }] } })
    },
    { pods: all('one'), counts: well(3), revisions: [1] },
  )

  scenario(
    'start on a new node, and forget a deleted one',
    async cluster => {
      await create(cluster)
      await addNode(cluster, 'n4')
      await cluster.advance(10_000)
      assert.equal((await podsOf(cluster)).length, 4)
      await cluster.run(cluster.client.delete(Node, { name: 'n4' }))
      // As the pod garbage collector does.
      const lost = (await podsOf(cluster)).find(({ spec }) => spec.nodeName === 'n4')
      const of = { namespace, name: lost!.metadata.name }
      await cluster.run(cluster.client.delete(Pod, of, { gracePeriodSeconds: 0 }))
    },
    { pods: all('one'), counts: well(3), revisions: [1] },
  )

  scenario(
    'replace a deleted pod, and delete a surplus one',
    async cluster => {
      await create(cluster)
      const pods = await podsOf(cluster)
      const [first, second] = pods
      await cluster.run(cluster.client.delete(Pod, { namespace, name: first!.metadata.name }))
      const { labels: own, ownerReferences } = second!.metadata
      await cluster.run(
        cluster.client.create(Pod, {
          metadata: { name: 'agent-twin', namespace, labels: own, ownerReferences } as Pod['metadata'],
          spec: { nodeName: second!.spec.nodeName!, containers: [{ name: 'c', image: 'twin' }] },
        }),
      )
    },
    { pods: all('one'), counts: well(3), revisions: [1] },
  )

  scenario(
    'roll out node by node',
    async cluster => {
      await create(cluster)
      await setImage(cluster, 'two')
      for (let step = 0; step < 120; step++) {
        await cluster.advance(100)
        assert.ok((await podsOf(cluster)).filter(isReady).length >= 2, 'more than one node has no pod')
      }
    },
    { pods: all('two'), counts: well(3), revisions: [1, 2] },
  )

  scenario(
    'with surge start the new pod before the old one is deleted',
    async cluster => {
      await create(cluster, {
        spec: { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
      })
      await setImage(cluster, 'two')
      for (let step = 0; step < 120; step++) {
        await cluster.advance(100)
        const pods = (await podsOf(cluster)).filter(({ metadata }) => !metadata.deletionTimestamp)
        assert.ok(pods.filter(isReady).length >= 3, 'a node has no pod')
        assert.ok(pods.length <= 4, 'more than one node has two pods')
      }
    },
    { pods: all('two'), counts: well(3), revisions: [1, 2] },
  )

  scenario(
    'with OnDelete update pods only when they are deleted',
    async cluster => {
      await create(cluster, { spec: { updateStrategy: { type: 'OnDelete' } } })
      await setImage(cluster, 'two')
      await cluster.advance(10_000)
      const pod = (await podsOf(cluster)).find(({ spec }) => spec.nodeName === 'n2')!
      await cluster.run(cluster.client.delete(Pod, { namespace, name: pod.metadata.name }))
    },
    { pods: ['n1 one', 'n2 two', 'n3 one'], counts: [3, 3, 3, 3, 1, 0], revisions: [1, 2] },
  )

  scenario(
    'stop a broken update at maxUnavailable',
    async cluster => {
      await create(cluster)
      await setImage(cluster, 'broken')
      await cluster.advance(20_000)
      const broken = (await outcome(cluster)).pods.filter(pod => pod.endsWith('broken'))
      assert.equal(broken.length, 1)
      await setImage(cluster, 'one')
    },
    { pods: all('one'), counts: well(3), revisions: [2, 3] },
  )

  scenario(
    'replace failed pods with back-off',
    async cluster => {
      await create(cluster, { pod: { nodeSelector: { 'kubernetes.io/hostname': 'n1' } }, image: 'failing' })
      await cluster.advance(60_000)
      const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
      const failed = items.filter(({ reason }) => reason === 'FailedDaemonPod')
      const count = failed.reduce((sum, event) => sum + (event.count ?? 1), 0)
      assert.ok(count >= 4 && count <= 12, `${count} in a minute`)
      await setImage(cluster, 'one')
    },
    { pods: ['n1 one'], counts: well(1), revisions: [1, 2] },
  )

  scenario(
    'keep as many revisions as revisionHistoryLimit',
    async cluster => {
      await create(cluster, { spec: { revisionHistoryLimit: 1 } })
      for (const image of ['two', 'three', 'four']) {
        await setImage(cluster, image)
        await cluster.advance(20_000)
      }
    },
    { pods: all('four'), counts: well(3), revisions: [3, 4] },
  )

  scenario(
    'count pods as available after minReadySeconds',
    async (cluster, { isTroubled }) => {
      await create(cluster, { spec: { minReadySeconds: 30 } })
      if (!isTroubled) assert.deepEqual((await outcome(cluster)).counts, [3, 3, 3, 0, 3, 0])
    },
    { pods: all('one'), counts: well(3), revisions: [1] },
  )

  let before: string[] = []
  play('adopt the pods and revisions that another one orphaned', {
    act: async cluster => {
      await create(cluster)
      before = (await podsOf(cluster)).map(({ metadata }) => metadata.name).sort()
      await cluster.run(cluster.client.delete(DaemonSet, key, { propagationPolicy: 'Orphan' }))
      await cluster.advance(20_000)
      await create(cluster)
    },
    look: async cluster => {
      const pods = await podsOf(cluster)
      assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), before)
      const { uid } = (await get(cluster)).metadata
      const made = [...pods, ...(await revisionsOf(cluster))]
      return made.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid)
    },
    end: [true, true, true, true],
  })

  play('are deleted with their pods and revisions', {
    act: async cluster => {
      await create(cluster)
      await cluster.run(cluster.client.delete(DaemonSet, key, { propagationPolicy: 'Foreground' }))
    },
    look: async cluster => [...(await podsOf(cluster)), ...(await revisionsOf(cluster))].length,
    end: 0,
  })
})
