import type { DeploymentCondition } from '@coxswain/api/apps/v1'
import { type DeepReadonly, findStatusCondition } from '@coxswain/apimachinery/meta'
import { keepTransitionTime } from '@coxswain/kinds'

export type ConditionView = DeepReadonly<DeploymentCondition>

export interface ConditionNews {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** The condition as it is when status and reason are the same; the time of the transition stays with the status. */
export function setCondition(
  conditions: readonly ConditionView[],
  news: ConditionNews,
  now: string,
): ConditionView[] {
  const known = findStatusCondition(conditions, news.type)
  if (known?.status === news.status && known.reason === news.reason) return [...conditions]
  const next = { ...news, lastUpdateTime: now, lastTransitionTime: now }
  return [...removeCondition(conditions, news.type), keepTransitionTime(conditions, next)]
}

export function removeCondition(conditions: readonly ConditionView[], unwanted: string): ConditionView[] {
  return conditions.filter(({ type }) => type !== unwanted)
}
