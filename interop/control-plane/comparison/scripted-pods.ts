import { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  defineOperator,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'

/** What becomes of a pod: it ends with this exit code, gets ready, or never does. */
export type Outcome = number | 'ready' | 'unready'

/** Says what becomes of a pod; `nth` counts those of the namespace as they were started, from zero. */
export type Script = (pod: DeepReadonly<Pod>, nth: number) => Outcome

/** Milliseconds that a pod takes to start, to end by itself, and to stop. */
const startTime = 200
const runTime = 700
const stopTime = 500

/** A kubelet for pods on whatever node they say: every namespace has a script. Two of them on equal pods write the same. */
export function createScriptedPods(scriptOf: (namespace: string) => Script): Operator {
  return defineOperator('scripted-pods', operator => {
    const started = new Map<string, { readonly at: number; readonly outcome: Outcome }>()
    const stopping = new Map<string, number>()
    const counts = new Map<string, number>()
    const begin = (pod: DeepReadonly<Pod>, now: number) => {
      const { uid, namespace = '' } = pod.metadata
      const nth = counts.get(namespace) ?? 0
      counts.set(namespace, nth + 1)
      const begun = { at: now, outcome: scriptOf(namespace)(pod, nth) }
      started.set(uid, begun)
      return begun
    }
    const reconcile = async (context: ReconcileContext): Promise<ReconcileResult> => {
      const { client, clock, key } = context
      const pod = await client.get(Pod, key)
      if (!pod) return
      if (!pod.spec.nodeName) return await bind(client, pod)
      const { uid, deletionTimestamp } = pod.metadata
      const now = clock.now()
      const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
      if (deletionTimestamp) {
        if (!isOver) {
          const since = stopping.get(uid) ?? now
          stopping.set(uid, since)
          if (since + stopTime > now) return requeueAfter(since + stopTime - now)
          await report(context, pod, 137)
        }
        if (pod.metadata.deletionGracePeriodSeconds !== 0)
          await client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid } })
        return
      }
      if (isOver) return
      const { at, outcome } = started.get(uid) ?? begin(pod, now)
      const isRunning = pod.status?.phase === 'Running'
      const next = at + startTime + (isRunning ? runTime : 0)
      if (isRunning && typeof outcome === 'string') return
      if (next > now) return requeueAfter(next - now)
      await report(context, pod, isRunning ? outcome : outcome === 'unready' ? 'unready' : 'ready')
    }
    operator
      .controller('scripted-pods')
      .for(Pod)
      .options({ concurrency: 10 })
      .reconcile(async context => {
        try {
          return await reconcile(context)
        } catch (error) {
          if (isConflict(error) || isNotFound(error)) return requeueAfter(50)
          throw error
        }
      })
  })
}

/** A pod of a DaemonSet says where it wants to be. */
async function bind(
  client: ReconcileContext['client'],
  { metadata, spec }: DeepReadonly<Pod>,
): Promise<void> {
  const wanted = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const node = wanted?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0]
  if (node === undefined || metadata.deletionTimestamp) return
  const { name, namespace = '', uid } = metadata
  await client.direct.subresource(Pod, { name, namespace }, 'binding').create({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, namespace, uid },
    target: { kind: 'Node', name: node },
  })
}

/** An address in 10.1.0.0/16 that is unlikely to be taken. */
function addressOf(uid: string): string {
  const number = Number.parseInt(uid.slice(0, 4), 16)
  return `10.1.${number >> 8}.${number & 255}`
}

/** Writes that the pod runs, or with which code its containers ended. */
async function report(
  { client, clock, key }: ReconcileContext,
  { metadata, spec }: DeepReadonly<Pod>,
  outcome: Outcome,
): Promise<void> {
  const time = formatTime(clock.now())
  const isOver = typeof outcome === 'number'
  const isReady = outcome === 'ready'
  const condition = (type: string) => ({ type, status: isReady ? 'True' : 'False', lastTransitionTime: time })
  const status = {
    phase: !isOver ? 'Running' : outcome === 0 ? 'Succeeded' : 'Failed',
    startTime: metadata.creationTimestamp,
    ...(!isOver && { podIP: addressOf(metadata.uid), podIPs: [{ ip: addressOf(metadata.uid) }] }),
    conditions: [condition('Ready'), condition('ContainersReady')],
    containerStatuses: spec.containers.map(({ name, image = '' }) => ({
      name,
      image,
      imageID: image,
      ready: isReady,
      restartCount: 0,
      state: isOver
        ? { terminated: { exitCode: outcome, finishedAt: time, startedAt: time } }
        : { running: { startedAt: time } },
    })),
  }
  await client.patch(
    Pod,
    key,
    { metadata: { uid: metadata.uid }, status },
    { type: 'strategic', subresource: 'status' },
  )
}
