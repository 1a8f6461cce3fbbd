import type { DeploymentCondition } from '@coxswain/api/apps/v1'
import { type DeepReadonly, findStatusCondition } from '@coxswain/apimachinery/meta'
import { keepTransitionTime } from '@coxswain/kinds'

export type ConditionView = DeepReadonly<DeploymentCondition>

export interface ConditionUpdate {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** Keeps the present condition if status and reason are unchanged, and its transition time if only the reason changes. */
export function setCondition(
  conditions: readonly ConditionView[],
  update: ConditionUpdate,
  now: string,
): ConditionView[] {
  const known = findStatusCondition(conditions, update.type)
  if (known?.status === update.status && known.reason === update.reason) return [...conditions]
  const next = { ...update, lastUpdateTime: now, lastTransitionTime: now }
  return [...removeCondition(conditions, update.type), keepTransitionTime(conditions, next)]
}

export function removeCondition(conditions: readonly ConditionView[], removed: string): ConditionView[] {
  return conditions.filter(({ type }) => type !== removed)
}
