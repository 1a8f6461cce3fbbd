import type { SuccessPolicy } from '@coxswain/api/batch/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { countCommon, countIndexes, type Indexes, parseIndexes } from './indexes.ts'

/** Names the rule that the succeeded indexes meet; undefined if none. */
export function matchSuccessPolicy(
  policy: DeepReadonly<SuccessPolicy> | undefined,
  completions: number,
  succeeded: Indexes,
): string | undefined {
  if (!policy || succeeded.length === 0) return undefined
  const index = policy.rules.findIndex(({ succeededIndexes, succeededCount = Number.POSITIVE_INFINITY }) => {
    if (succeededIndexes === undefined) return countIndexes(succeeded) >= succeededCount
    const required = parseIndexes(succeededIndexes, completions)
    if (required.length === 0) return false
    const reached = countCommon(required, succeeded)
    return reached === countIndexes(required) || reached >= succeededCount
  })
  return index < 0 ? undefined : `Matched rules at index ${index}`
}
