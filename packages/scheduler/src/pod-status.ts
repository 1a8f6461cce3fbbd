import { Pod } from '@coxswain/api/core/v1'
import { formatTime, isConflict, isNotFound } from '@coxswain/apimachinery'
import type { Client } from '@coxswain/client'
import type { Clock } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import type { PodView } from './pod-info.ts'
import type { Evict } from './preemption.ts'

export interface Unscheduled {
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  readonly nominatedNode: string | undefined
}

const mostAttempts = 3

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

  /** Each profile tells of its own pods. */
  #eventsOf({ spec }: PodView): EventRecorder {
    return this.#events.from({ component: spec.schedulerName ?? 'default-scheduler' })
  }

  scheduled(pod: PodView, node: string): void {
    const { namespace, name } = pod.metadata
    this.#eventsOf(pod).normal(pod, 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`)
  }

  /** Gives what was written. Never rejects: a pod whose status cannot be written is tried again like any other. */
  async unscheduled(
    pod: PodView,
    { reason, message, nominatedNode }: Unscheduled,
  ): Promise<PodView | undefined> {
    this.#eventsOf(pod).warning(pod, 'FailedScheduling', message)
    const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    const isNews = known?.status !== 'False' || known.reason !== reason || known.message !== message
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
      if (!isNotFound(error)) throw error
    }
    this.#eventsOf(preemptor).normal(
      victim,
      'Preempted',
      `Preempted by pod ${preemptor.metadata.uid} on node ${node}`,
    )
  }

  async #patch(pod: PodView, status: object): Promise<PodView | undefined> {
    const patch = { metadata: { uid: pod.metadata.uid }, status }
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#client.patch(Pod, keyOf(pod), patch, { type: 'strategic', subresource: 'status' })
      } catch (error) {
        if (isNotFound(error)) return undefined
        if (isConflict(error) && attempt < mostAttempts) continue // it names no version
        const text = `status not written: ${(error as Error).message}`
        this.#eventsOf(pod).warning(pod, 'FailedScheduling', text)
        return undefined
      }
  }
}
