import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ControllerRevision, DaemonSet } from '@coxswain/api/apps/v1'
import { Event, Node, Pod } from '@coxswain/api/core/v1'
import { createDaemonSetController } from '@coxswain/controllers'
import { type Play, playWorkload, type WorkloadStage } from './test-support/play-workload.ts'

const namespace = 'default'
const key = { namespace, name: 'agent' }
const labels = { app: 'agent' }
const operators = () => [createDaemonSetController()]
const nodes = ['n1', 'n2', 'n3']
const zone = 'example.com/zone'

async function create(
  stage: WorkloadStage,
  { spec = {}, pod = {}, image = 'one' }: { spec?: object; pod?: object; image?: string } = {},
): Promise<void> {
  await stage.run(
    stage.client.create(DaemonSet, {
      metadata: key,
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }], ...pod } },
        ...spec,
      },
    }),
  )
  await stage.later(10_000)
}

const setImage = (stage: WorkloadStage, image: string) =>
  stage.run(
    stage.client.patch(
      DaemonSet,
      key,
      { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } },
      { type: 'strategic' },
    ),
  )
const get = async (stage: WorkloadStage) => (await stage.run(stage.client.get(DaemonSet, key)))!
const podsOf = async (stage: WorkloadStage) => (await stage.run(stage.client.list(Pod, { namespace }))).items
const revisionsOf = async (stage: WorkloadStage) =>
  (await stage.run(stage.client.list(ControllerRevision, { namespace }))).items
const label = (stage: WorkloadStage, name: string, value: string | null) =>
  stage.run(
    stage.client.patch(Node, { name }, { metadata: { labels: { [zone]: value } } }, { type: 'merge' }),
  )
const isReady = ({ status, metadata }: Pod) =>
  !metadata.deletionTimestamp &&
  status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True')

/** Pods as `n1 one`; desired, current, ready, available, updated, misscheduled; numbers of revisions. */
async function outcome(stage: WorkloadStage) {
  const pods = (await podsOf(stage)).map(({ spec }) => `${spec.nodeName} ${spec.containers[0]?.image}`).sort()
  const status = (await get(stage)).status!
  assert.equal(status.numberUnavailable ?? 0, status.desiredNumberScheduled - (status.numberAvailable ?? 0))
  assert.equal(status.observedGeneration, (await get(stage)).metadata.generation)
  const counts = [
    status.desiredNumberScheduled,
    status.currentNumberScheduled,
    status.numberReady,
    status.numberAvailable ?? 0,
    status.updatedNumberScheduled ?? 0,
    status.numberMisscheduled,
  ]
  return { pods, counts, revisions: (await revisionsOf(stage)).map(({ revision }) => revision).sort() }
}

const all = (image: string) => nodes.map(name => `${name} ${image}`)
const well = (count: number) => [count, count, count, count, count, 0]

const scenario = (name: string, act: Play['act'], expected: object) =>
  it(name, () => playWorkload({ operators, nodes, act, end: outcome }, expected))

describe('DaemonSets', () => {
  scenario('have one pod on each node', stage => create(stage), {
    pods: all('one'),
    counts: well(3),
    revisions: [1],
  })

  it('bind through affinity, tolerate what ails a node, and mark their revision', async () => {
    const end = async (stage: WorkloadStage) => {
      const pod = (await podsOf(stage)).find(({ spec }) => spec.nodeName === 'n2')!
      const [revision] = await revisionsOf(stage)
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
      const { items } = await stage.run(stage.client.list(Event, { namespace }))
      return items.some(({ message }) => message?.startsWith('Created pod: agent-'))
    }
    const act = (stage: WorkloadStage) => create(stage, { pod: { hostNetwork: true } })
    await playWorkload({ operators, nodes, act, end }, true)
  })

  scenario(
    'follow the labels of nodes',
    async stage => {
      await label(stage, 'n1', 'a')
      await create(stage, { pod: { nodeSelector: { [zone]: 'a' } } })
      assert.deepEqual((await outcome(stage)).pods, ['n1 one'])
      await label(stage, 'n3', 'a')
      await stage.later(10_000)
      assert.deepEqual((await outcome(stage)).pods, ['n1 one', 'n3 one'])
      await label(stage, 'n1', null)
    },
    { pods: ['n3 one'], counts: well(1), revisions: [1] },
  )

  scenario(
    'keep to node affinity',
    async stage => {
      await label(stage, 'n2', 'b')
      const matchExpressions = [{ key: zone, operator: 'DoesNotExist' }]
      const required = { nodeSelectorTerms: [{ matchExpressions }] }
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required }
      await create(stage, { pod: { affinity: { nodeAffinity } } })
    },
    { pods: ['n1 one', 'n3 one'], counts: well(2), revisions: [1] },
  )

  scenario(
    'stay where a NoSchedule taint comes, and go where a NoExecute one does',
    async stage => {
      await stage.setTaints('n3', [{ key: 'gpu', effect: 'NoSchedule' }])
      await stage.later(1_000)
      await create(stage)
      await stage.setTaints('n1', [{ key: 'gpu', effect: 'NoSchedule' }])
      await stage.setTaints('n2', [{ key: 'gpu', effect: 'NoExecute' }])
    },
    { pods: ['n1 one'], counts: [0, 0, 0, 0, 0, 1], revisions: [1] },
  )

  scenario(
    'run on nodes whose taints they tolerate, cordoned ones too',
    async stage => {
      await stage.setTaints('n1', [{ key: 'gpu', effect: 'NoSchedule' }])
      await stage.setTaints('n2', [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }])
      await create(stage, { pod: { tolerations: [{ key: 'gpu', operator: 'Exists' }] } })
    },
    { pods: all('one'), counts: well(3), revisions: [1] },
  )

  scenario(
    'come to a node that joins, and forget one that leaves',
    async stage => {
      await create(stage)
      await stage.addNode('n4')
      await stage.later(10_000)
      assert.equal((await podsOf(stage)).length, 4)
      await stage.run(stage.client.delete(Node, { name: 'n4' }))
      // What the pod collector does.
      const lost = (await podsOf(stage)).find(({ spec }) => spec.nodeName === 'n4')
      const of = { namespace, name: lost!.metadata.name }
      await stage.run(stage.client.delete(Pod, of, { gracePeriodSeconds: 0 }))
    },
    { pods: all('one'), counts: well(3), revisions: [1] },
  )

  scenario(
    'replace a pod that is deleted, and delete one too many',
    async stage => {
      await create(stage)
      const pods = await podsOf(stage)
      const [first, second] = pods
      await stage.run(stage.client.delete(Pod, { namespace, name: first!.metadata.name }))
      const { labels: own, ownerReferences } = second!.metadata
      await stage.run(
        stage.client.create(Pod, {
          metadata: { name: 'agent-twin', namespace, labels: own, ownerReferences } as Pod['metadata'],
          spec: { nodeName: second!.spec.nodeName!, containers: [{ name: 'c', image: 'twin' }] },
        }),
      )
    },
    { pods: all('one'), counts: well(3), revisions: [1] },
  )

  scenario(
    'roll out node by node',
    async stage => {
      await create(stage)
      await setImage(stage, 'two')
      for (let step = 0; step < 120; step++) {
        await stage.later(100)
        assert.ok((await podsOf(stage)).filter(isReady).length >= 2, 'more than one node is without')
      }
    },
    { pods: all('two'), counts: well(3), revisions: [1, 2] },
  )

  scenario(
    'with surge start the new pod before the old one goes',
    async stage => {
      await create(stage, { spec: { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } } })
      await setImage(stage, 'two')
      for (let step = 0; step < 120; step++) {
        await stage.later(100)
        const pods = (await podsOf(stage)).filter(({ metadata }) => !metadata.deletionTimestamp)
        assert.ok(pods.filter(isReady).length >= 3, 'a node is without')
        assert.ok(pods.length <= 4, 'more than one node has two')
      }
    },
    { pods: all('two'), counts: well(3), revisions: [1, 2] },
  )

  scenario(
    'update on deletion when they say so',
    async stage => {
      await create(stage, { spec: { updateStrategy: { type: 'OnDelete' } } })
      await setImage(stage, 'two')
      await stage.later(10_000)
      const pod = (await podsOf(stage)).find(({ spec }) => spec.nodeName === 'n2')!
      await stage.run(stage.client.delete(Pod, { namespace, name: pod.metadata.name }))
    },
    { pods: ['n1 one', 'n2 two', 'n3 one'], counts: [3, 3, 3, 3, 1, 0], revisions: [1, 2] },
  )

  scenario(
    'stop a broken update at maxUnavailable',
    async stage => {
      await create(stage)
      await setImage(stage, 'broken')
      await stage.later(20_000)
      const broken = (await outcome(stage)).pods.filter(pod => pod.endsWith('broken'))
      assert.equal(broken.length, 1)
      await setImage(stage, 'one')
    },
    { pods: all('one'), counts: well(3), revisions: [2, 3] },
  )

  scenario(
    'replace failed pods at longer and longer intervals',
    async stage => {
      await create(stage, { pod: { nodeSelector: { 'kubernetes.io/hostname': 'n1' } }, image: 'failing' })
      await stage.later(60_000)
      const { items } = await stage.run(stage.client.list(Event, { namespace }))
      const failed = items.filter(({ reason }) => reason === 'FailedDaemonPod')
      const count = failed.reduce((sum, event) => sum + (event.count ?? 1), 0)
      assert.ok(count >= 4 && count <= 12, `${count} in a minute`)
      await setImage(stage, 'one')
    },
    { pods: ['n1 one'], counts: well(1), revisions: [1, 2] },
  )

  scenario(
    'keep no more revisions than they may',
    async stage => {
      await create(stage, { spec: { revisionHistoryLimit: 1 } })
      for (const image of ['two', 'three', 'four']) {
        await setImage(stage, image)
        await stage.later(20_000)
      }
    },
    { pods: all('four'), counts: well(3), revisions: [3, 4] },
  )

  scenario(
    'count pods as available after minReadySeconds',
    async stage => {
      await create(stage, { spec: { minReadySeconds: 30 } })
      assert.deepEqual((await outcome(stage)).counts, [3, 3, 3, 0, 3, 0])
    },
    { pods: all('one'), counts: well(3), revisions: [1] },
  )

  it('take over the pods and revisions that another left as orphans', async () => {
    let before: string[] = []
    const act = async (stage: WorkloadStage) => {
      await create(stage)
      before = (await podsOf(stage)).map(({ metadata }) => metadata.name).sort()
      await stage.run(stage.client.delete(DaemonSet, key, { propagationPolicy: 'Orphan' }))
      await stage.later(20_000)
      await create(stage)
    }
    const end = async (stage: WorkloadStage) => {
      const pods = await podsOf(stage)
      assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), before)
      const { uid } = (await get(stage)).metadata
      const made = [...pods, ...(await revisionsOf(stage))]
      return made.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid)
    }
    await playWorkload({ operators, nodes, act, end }, [true, true, true, true])
  })

  it('take their pods and revisions along', async () => {
    const act = async (stage: WorkloadStage) => {
      await create(stage)
      await stage.run(stage.client.delete(DaemonSet, key, { propagationPolicy: 'Foreground' }))
    }
    const end = async (stage: WorkloadStage) =>
      [...(await podsOf(stage)), ...(await revisionsOf(stage))].length
    await playWorkload({ operators, nodes, act, end }, 0)
  })
})
