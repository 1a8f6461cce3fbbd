import type { JsonObject } from '@coxswain/apimachinery/json'
import { listOf } from '../../shared/reading.ts'

/** What is to be known about a pod: a condition without its times. */
export interface PodCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
}

/** Replaces the condition of the same type, or adds it. The time of the last transition stays while the status does. */
export function setPodCondition(status: JsonObject, condition: PodCondition, now: string): void {
  const conditions = listOf(status.conditions)
  const index = conditions.findIndex(({ type }) => type === condition.type)
  const old = conditions[index]
  const { type, status: value, ...rest } = condition
  const next: JsonObject = {
    type,
    status: value,
    lastProbeTime: null,
    lastTransitionTime: old?.status === value ? old.lastTransitionTime : now,
    ...rest,
  }
  status.conditions = old ? conditions.with(index, next) : [...conditions, next]
}

export function isPodReady(pod: JsonObject): boolean {
  const { conditions } = (pod.status ?? {}) as { conditions?: unknown }
  return listOf(conditions).some(({ type, status }) => type === 'Ready' && status === 'True')
}
