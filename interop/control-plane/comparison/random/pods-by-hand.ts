import { Pod } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import type { Stage } from '../stage.ts'
import type { Action, Draw } from './draw.ts'

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(each => each.type === 'Ready' && each.status === 'True') ?? false

/** What a pod is, apart from what chance has given it. */
function keyOf(pod: Pod): string {
  const { labels = {}, annotations = {}, ownerReferences = [] } = pod.metadata
  const known = Object.entries(labels).filter(([key]) => !key.includes('hash') && !key.includes('uid'))
  return JSON.stringify([
    ownerReferences.map(({ kind, name }) => [kind, kind === 'ReplicaSet' ? '' : name]),
    pod.spec.containers[0]?.image,
    known.sort(),
    annotations['batch.kubernetes.io/job-completion-index'],
    pod.spec.nodeName,
    pod.status?.phase,
    isReady(pod),
    labels['apps.kubernetes.io/pod-index'],
  ])
}

/** The pod that is meant on either side, of those that are not stopping. */
export async function choosePod(stage: Stage, nth: number): Promise<Pod | undefined> {
  const pods = (await stage.list(Pod)).filter(({ metadata }) => !metadata.deletionTimestamp)
  const sorted = pods.toSorted((a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)]
    return left < right ? -1 : left > right ? 1 : a.metadata.name < b.metadata.name ? -1 : 1
  })
  return sorted[nth % Math.max(1, sorted.length)]
}

const withPod =
  (say: string, run: (stage: Stage, pod: Pod) => Promise<unknown>) =>
  (draw: Draw): Action => {
    const nth = draw.below(12)
    return {
      say: `pod ${nth}: ${say}`,
      run: async stage => {
        const pod = await choosePod(stage, nth)
        if (pod) await run(stage, pod)
      },
    }
  }

const setStatus = (stage: Stage, { metadata: { name } }: Pod, status: object) =>
  stage.client.patch(Pod, { namespace: stage.namespace, name }, { status } as never, {
    type: 'strategic',
    subresource: 'status',
  })
const conditions = (status: string) =>
  ['Ready', 'ContainersReady'].map(type => ({ type, status, lastTransitionTime: new Date().toISOString() }))

export const deletePod = withPod('deleted', (stage, { metadata }) => stage.remove(Pod, metadata.name))
/** The real controllers of endpoints do not look when a pod that is not ready fails: labels make them. */
const fail = async (stage: Stage, pod: Pod, status: object) => {
  const { name, uid } = pod.metadata
  await setStatus(stage, pod, { phase: 'Failed', ...status })
  // It may be gone by now, or another.
  await stage.patch(Pod, name, { metadata: { uid, labels: { failed: 'true' } } }).catch(() => {})
}
export const failPod = withPod('failed', (stage, pod) =>
  fail(stage, pod, { reason: 'Evicted', message: 'by hand', conditions: conditions('False') }),
)
export const disruptPod = withPod('failed, disrupted', (stage, pod) =>
  fail(stage, pod, {
    conditions: [
      ...conditions('False'),
      { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' },
    ],
  }),
)
export const unreadyPod = withPod('not ready', (stage, pod) =>
  pod.status?.phase === 'Running'
    ? setStatus(stage, pod, { conditions: conditions('False') })
    : Promise.resolve(),
)
export const readyPod = withPod('ready', (stage, pod) =>
  pod.status?.phase === 'Running'
    ? setStatus(stage, pod, { conditions: conditions('True') })
    : Promise.resolve(),
)
/** The real controller of budgets does not look at those that a Pod has left: an annotation makes it look. */
const label = async (stage: Stage, name: string, app: string) => {
  await stage.patch(Pod, name, { metadata: { labels: { app } } })
  await stage.settle(1_500)
  const touched = { metadata: { annotations: { touched: app } } }
  if (await stage.get(PodDisruptionBudget, 'web')) await stage.patch(PodDisruptionBudget, 'web', touched)
}
export const releasePod = withPod('label taken', (stage, { metadata }) =>
  label(stage, metadata.name, 'stray'),
)
export const returnPod = withPod('label given', (stage, { metadata }) => label(stage, metadata.name, 'web'))
export const evictPod = withPod('evicted', (stage, { metadata: { name } }) =>
  stage.client.subresource(Pod, { namespace: stage.namespace, name }, 'eviction').create({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: stage.namespace },
  }),
)
/** What can be done to any pod. */
export const podActions: readonly ((draw: Draw) => Action)[] = [
  deletePod,
  failPod,
  unreadyPod,
  readyPod,
  releasePod,
  returnPod,
  evictPod,
]
