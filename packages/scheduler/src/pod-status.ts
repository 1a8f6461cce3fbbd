import { Pod } from '@coxswain/api/core/v1'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import type { Client } from '@coxswain/client'
import { isSameCondition, type PodView, podCondition } from '@coxswain/kinds'
import { type Clock, decodeText, encodeText } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import type { Evict } from './evict.ts'

export interface Unscheduled {
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  readonly nominatedNode: string | undefined
}

const mostAttempts = 3
/** Bytes that a server takes for the note of an event. */
const longestNote = 1_024

const keyOf = ({ metadata }: PodView) => ({ namespace: metadata.namespace ?? '', name: metadata.name })

/** Tells the world what became of a pod: conditions and events, in upstream's words. */
export class PodStatusWriter {
  readonly #client: Client
  readonly #clock: Clock
  readonly #events: EventRecorder

  constructor(client: Client, clock: Clock, events: EventRecorder) {
    this.#client = client
    this.#clock = clock
    this.#events = events
  }

  scheduled(pod: PodView, node: string): void {
    const { namespace, name } = pod.metadata
    const note = `Successfully assigned ${namespace}/${name} to ${node}`
    recorderOf(this.#events, pod).withAction('Binding').normal(pod, 'Scheduled', note)
  }

  /** It was to be scheduled, but goes. */
  skipped(pod: PodView): void {
    const { namespace, name } = pod.metadata
    this.#failed(pod, `skip schedule deleting pod: ${namespace}/${name}`)
  }

  #failed(pod: PodView, message: string): void {
    recorderOf(this.#events, pod).withAction('Scheduling').warning(pod, 'FailedScheduling', cut(message))
  }

  /** Gives what was written. Never rejects: a pod whose status cannot be written is tried again like any other. */
  async unscheduled(
    pod: PodView,
    { reason, message, nominatedNode }: Unscheduled,
  ): Promise<PodView | undefined> {
    this.#failed(pod, message)
    const known = podCondition(pod, 'PodScheduled')
    const isNews = !isSameCondition(known, { type: 'PodScheduled', status: 'False', reason, message })
    const isPromise = nominatedNode !== undefined && nominatedNode !== (pod.status?.nominatedNodeName ?? '')
    if (!isNews && !isPromise) return undefined
    return await this.#patch(pod, {
      ...(isPromise && { nominatedNodeName: nominatedNode || null }),
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason,
          message,
          observedGeneration: pod.metadata.generation,
          ...(known?.status !== 'False' && { lastTransitionTime: formatTime(this.#clock.now()) }),
        },
      ],
    })
  }

  /** Tells where the pod is about to go. */
  async expected(pod: PodView, node: string): Promise<PodView | undefined> {
    if (pod.status?.nominatedNodeName === node) return undefined
    return await this.#patch(pod, { nominatedNodeName: node })
  }

  readonly evict: Evict = async (victim, preemptor, node) => {
    await this.#patch(victim, {
      conditions: [
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'PreemptionByScheduler',
          message: `${preemptor.spec.schedulerName}: preempting to accommodate a higher priority pod`,
          observedGeneration: victim.metadata.generation,
          lastTransitionTime: formatTime(this.#clock.now()),
        },
      ],
    })
    try {
      await this.#client.delete(Pod, keyOf(victim), { preconditions: { uid: victim.metadata.uid } })
    } catch (error) {
      if (isNotFound(error)) return
      throw error
    }
    tellPreempted(this.#events, { victim, preemptor, node })
  }

  async #patch(pod: PodView, status: object): Promise<PodView | undefined> {
    const patch = { metadata: { uid: pod.metadata.uid }, status }
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#client.patch(Pod, keyOf(pod), patch, { type: 'strategic', subresource: 'status' })
      } catch (error) {
        if (isNotFound(error)) return undefined
        if (isConflict(error) && attempt < mostAttempts) continue // it names no version
        this.#failed(pod, `status not written: ${(error as Error).message}`)
        return undefined
      }
  }
}

/** Each profile tells of its own pods. */
export function recorderOf(events: EventRecorder, { spec }: PodView): EventRecorder {
  return events.from({ component: spec.schedulerName ?? 'default-scheduler' })
}

export interface Preempted {
  readonly victim: PodView
  readonly preemptor: PodView
  readonly node: string
  /** It had not got to the node yet, and looks for another. @default false */
  readonly isWaiting?: boolean
}

export function tellPreempted(
  events: EventRecorder,
  { victim, preemptor, node, isWaiting = false }: Preempted,
): void {
  const note = `Preempted by pod ${preemptor.metadata.uid} on node ${node}`
  // Upstream means to relate the two pods, but its events name the other one in the note only.
  recorderOf(events, preemptor)
    .withAction('Preempting')
    .normal(victim, 'Preempted', isWaiting ? `${note} (in kube-scheduler memory).` : note)
}

function cut(message: string): string {
  const bytes = encodeText(message)
  return bytes.length <= longestNote ? message : `${decodeText(bytes.subarray(0, longestNote - 4))} ...`
}
