import { formatKey, formatTime, keyOf } from '@coxswain/apimachinery'
import { minOf } from '@coxswain/kit'
import { type PodView, podCondition } from '../pods/pod-state.ts'
import type { ServiceView } from './service-pods.ts'

/** When what an object shows was caused: what proxies measure their delay by. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

/** Remembers which changes of services and pods have been seen, to tell when the next one was caused. */
export class TriggerTimes {
  /** By service; then by pod, with '' for the service itself. */
  readonly #seen = new Map<string, ReadonlyMap<string, number>>()

  /** The time of the oldest change since the last call for this service; its creation at first; undefined for none. */
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
