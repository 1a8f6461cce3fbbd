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
/** The maximum length of an event's note in bytes. */
const longestNote = 1_024

const keyOf = ({ metadata }: PodView) => ({ namespace: metadata.namespace ?? '', name: metadata.name })

/** Reports the result of scheduling in conditions and events, in upstream's words. */
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

  /** The pod is terminating and is skipped. */
  skipped(pod: PodView): void {
    const { namespace, name } = pod.metadata
    this.#failed(pod, `skip schedule deleting pod: ${namespace}/${name}`)
  }

  #failed(pod: PodView, message: string): void {
    recorderOf(this.#events, pod).withAction('Scheduling').warning(pod, 'FailedScheduling', cut(message))
  }

  /** Resolves with the written pod. Never rejects: a pod whose status cannot be written is retried like any other. */
  async unscheduled(
    pod: PodView,
    { reason, message, nominatedNode }: Unscheduled,
  ): Promise<PodView | undefined> {
    this.#failed(pod, message)
    const known = podCondition(pod, 'PodScheduled')
    const isChanged = !isSameCondition(known, { type: 'PodScheduled', status: 'False', reason, message })
    const isNomination =
      nominatedNode !== undefined && nominatedNode !== (pod.status?.nominatedNodeName ?? '')
    if (!isChanged && !isNomination) return undefined
    return await this.#patch(pod, {
      ...(isNomination && { nominatedNodeName: nominatedNode || null }),
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

  /** Reports the node that the pod is about to be bound to. */
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
    recordPreempted(this.#events, { victim, preemptor, node })
  }

  async #patch(pod: PodView, status: object): Promise<PodView | undefined> {
    const patch = { metadata: { uid: pod.metadata.uid }, status }
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#client.patch(Pod, keyOf(pod), patch, { type: 'strategic', subresource: 'status' })
      } catch (error) {
        if (isNotFound(error)) return undefined
        if (isConflict(error) && attempt < mostAttempts) continue // the patch has no resource version
        this.#failed(pod, `status not written: ${(error as Error).message}`)
        return undefined
      }
  }
}

/** Each profile records events of its own pods. */
export function recorderOf(events: EventRecorder, { spec }: PodView): EventRecorder {
  return events.from({ component: spec.schedulerName ?? 'default-scheduler' })
}

export interface Preempted {
  readonly victim: PodView
  readonly preemptor: PodView
  readonly node: string
  /** It was not bound yet, and is scheduled again. @default false */
  readonly isWaiting?: boolean
}

export function recordPreempted(
  events: EventRecorder,
  { victim, preemptor, node, isWaiting = false }: Preempted,
): void {
  const note = `Preempted by pod ${preemptor.metadata.uid} on node ${node}`
  // Upstream intends to set the related object, but its events name the other pod only in the note.
  recorderOf(events, preemptor)
    .withAction('Preempting')
    .normal(victim, 'Preempted', isWaiting ? `${note} (in kube-scheduler memory).` : note)
}

function cut(message: string): string {
  const bytes = encodeText(message)
  return bytes.length <= longestNote ? message : `${decodeText(bytes.subarray(0, longestNote - 4))} ...`
}
