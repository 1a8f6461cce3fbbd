import type { DeploymentCondition } from '@coxswain/api/apps/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

export type ConditionView = DeepReadonly<DeploymentCondition>

export interface ConditionNews {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export function findCondition(
  conditions: readonly ConditionView[] | undefined,
  wanted: string,
): ConditionView | undefined {
  return conditions?.find(({ type }) => type === wanted)
}

/** The condition as it is when status and reason are the same; the time of the transition stays with the status. */
export function setCondition(
  conditions: readonly ConditionView[],
  news: ConditionNews,
  now: string,
): ConditionView[] {
  const known = findCondition(conditions, news.type)
  if (known?.status === news.status && known.reason === news.reason) return [...conditions]
  const lastTransitionTime = known?.status === news.status ? (known.lastTransitionTime ?? now) : now
  return [
    ...removeCondition(conditions, news.type),
    { ...news, lastUpdateTime: now, lastTransitionTime } as ConditionView,
  ]
}

export function removeCondition(conditions: readonly ConditionView[], unwanted: string): ConditionView[] {
  return conditions.filter(({ type }) => type !== unwanted)
}
