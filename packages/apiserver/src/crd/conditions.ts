import type { JsonObject } from '../json.ts'

export interface CrdCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

interface StoredCondition extends CrdCondition {
  readonly lastTransitionTime: string
}

/** Sets a condition; the time of transition changes only with its status. */
export function setCondition(status: JsonObject, condition: CrdCondition, now: string): void {
  const conditions = ((status.conditions ?? []) as StoredCondition[]).slice()
  const index = conditions.findIndex(({ type }) => type === condition.type)
  const before = conditions[index]
  const lastTransitionTime = before && before.status === condition.status ? before.lastTransitionTime : now
  const { type, status: value, reason, message } = condition
  const next = { type, status: value, lastTransitionTime, reason, message }
  if (index < 0) conditions.push(next)
  else conditions[index] = next
  status.conditions = conditions
}

export function isConditionTrue(status: JsonObject | undefined, type: string): boolean {
  return ((status?.conditions ?? []) as StoredCondition[]).some(
    found => found.type === type && found.status === 'True',
  )
}
