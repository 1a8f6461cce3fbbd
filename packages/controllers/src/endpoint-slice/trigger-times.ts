import { formatKey, keyOf } from '@coxswain/apimachinery/meta'
import { formatTime } from '@coxswain/apimachinery/time'
import { type PodView, podCondition, type ServiceView } from '@coxswain/kinds'
import { minOf } from '@coxswain/kit'

/** When the last change of an object was triggered; proxies use it to measure programming latency. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

/** Remembers observed changes of services and pods, to determine the trigger time of the next one. */
export class TriggerTimes {
  /** By service, then by pod, with '' for the service itself. */
  readonly #seen = new Map<string, ReadonlyMap<string, number>>()

  /** The time of the oldest change since the last call for this service; its creation at first; undefined if none. */
  next(service: ServiceView, pods: readonly PodView[]): string | undefined {
    const key = formatKey(keyOf(service))
    const created = Date.parse(service.metadata.creationTimestamp)
    const times = new Map<string, number>([['', created]])
    for (const pod of pods) {
      const since = podCondition(pod, 'Ready')?.lastTransitionTime
      if (since) times.set(pod.metadata.name, Date.parse(since))
    }
    const before = this.#seen.get(key)
    this.#seen.set(key, times)
    if (!before) return formatTime(created)
    const changed = [...times]
      .filter(([name, time]) => time > (before.get(name) ?? 0))
      .map(([, time]) => time)
    return changed.length === 0 ? undefined : formatTime(minOf(changed))
  }

  forget(key: string): void {
    this.#seen.delete(key)
  }
}
