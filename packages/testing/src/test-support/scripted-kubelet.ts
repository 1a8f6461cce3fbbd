import { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  defineOperator,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'

/** How a pod ends: with this exit code. `runs`: it does not. */
export type Outcome = number | 'runs'

/** Says how a pod ends; `nth` counts pods as they were started, from zero. */
export type Script = (pod: DeepReadonly<Pod>, nth: number) => Outcome

export interface KubeletOptions {
  /** Milliseconds that containers run. @default 5000 */
  readonly runTime?: number
  /** Milliseconds that containers take to stop. @default 2000 */
  readonly stopTime?: number
}

/** Starts, ends and stops pods as a script says, on whatever node they are. */
export function createScriptedKubelet(script: Script, options: KubeletOptions = {}): Operator {
  const { runTime = 5_000, stopTime = 2_000 } = options
  return defineOperator('scripted-kubelet', operator => {
    const started = new Map<string, { readonly at: number; readonly outcome: Outcome }>()
    const stopping = new Map<string, number>()
    operator
      .controller('scripted-kubelet')
      .for(Pod)
      .reconcile(async (context): Promise<ReconcileResult> => {
        const { client, clock, key } = context
        const pod = await client.get(Pod, key)
        if (!pod?.spec.nodeName) return
        const { uid, deletionTimestamp } = pod.metadata
        const now = clock.now()
        const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
        if (deletionTimestamp) {
          if (!isOver) {
            const since = stopping.get(uid) ?? now
            stopping.set(uid, since)
            if (since + stopTime > now) return requeueAfter(since + stopTime - now)
            await report(context, 137)
          }
          const hasGrace = pod.metadata.deletionGracePeriodSeconds !== 0
          if (hasGrace)
            await ignoreMissing(client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid } }))
          return
        }
        if (isOver) return
        const known = started.get(uid)
        if (!known) {
          const outcome = script(pod, started.size)
          started.set(uid, { at: now, outcome })
          await report(context)
          return outcome === 'runs' ? undefined : requeueAfter(runTime)
        }
        if (known.outcome === 'runs') return
        if (known.at + runTime > now) return requeueAfter(known.at + runTime - now)
        await report(context, known.outcome)
      })
  })
}

/** Writes that the pod runs, or with which code its containers ended. */
async function report({ client, clock, key }: ReconcileContext, exitCode?: number): Promise<void> {
  const time = formatTime(clock.now())
  const isOver = exitCode !== undefined
  const pod = await client.get(Pod, key)
  const status = {
    phase: !isOver ? 'Running' : exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: [{ type: 'Ready', status: isOver ? 'False' : 'True', lastTransitionTime: time }],
    containerStatuses: pod!.spec.containers.map(({ name, image = '' }) => ({
      name,
      image,
      imageID: image,
      ready: !isOver,
      restartCount: 0,
      state: isOver
        ? { terminated: { exitCode, finishedAt: time, startedAt: time } }
        : { running: { startedAt: time } },
    })),
  }
  await ignoreMissing(client.patch(Pod, key, { status }, { type: 'strategic', subresource: 'status' }))
}

async function ignoreMissing(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
