import { Pod } from '@coxswain/api/core/v1'
import { formatTime, isNotFound } from '@coxswain/apimachinery'
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
    this.#events.normal(pod, 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`)
  }

  /** Never rejects: a pod whose status cannot be written is tried again like any other. */
  async unscheduled(pod: PodView, { reason, message, nominatedNode }: Unscheduled): Promise<void> {
    this.#events.warning(pod, 'FailedScheduling', message)
    const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    const isNews = known?.status !== 'False' || known.reason !== reason || known.message !== message
    const isPromise = nominatedNode !== undefined && nominatedNode !== pod.status?.nominatedNodeName
    if (!isNews && !isPromise) return
    await this.#patch(pod, {
      ...(isPromise && { nominatedNodeName: nominatedNode }),
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
    await this.#client.delete(Pod, keyOf(victim), { preconditions: { uid: victim.metadata.uid } })
    this.#events.normal(victim, 'Preempted', `Preempted by pod ${preemptor.metadata.uid} on node ${node}`)
  }

  async #patch(pod: PodView, status: object): Promise<void> {
    try {
      const patch = { metadata: { uid: pod.metadata.uid }, status }
      await this.#client.patch(Pod, keyOf(pod), patch, { type: 'strategic', subresource: 'status' })
    } catch (error) {
      if (isNotFound(error)) return
      this.#events.warning(pod, 'FailedScheduling', `status not written: ${(error as Error).message}`)
    }
  }
}
