/** Conditions of a status: at most one of each type. */

import { formatTime } from '../time/time.ts'
import type { Condition } from './meta.ts'

/** A condition as a controller sets it; lastTransitionTime is computed. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'> & { lastTransitionTime?: string }

/**
 * Sets or adds a condition and returns whether anything changed. `lastTransitionTime` moves only with `status`: to the
 * one given, or to the clock's time.
 */
export function setStatusCondition(
  conditions: Condition[],
  update: ConditionUpdate,
  clock: { now(): number },
): boolean {
  const existing = findStatusCondition(conditions, update.type)
  const transition = (): string => update.lastTransitionTime ?? formatTime(clock.now())
  if (!existing) {
    conditions.push({ ...update, lastTransitionTime: transition() })
    return true
  }
  let changed = false
  if (existing.status !== update.status) {
    existing.status = update.status
    existing.lastTransitionTime = transition()
    changed = true
  }
  for (const name of ['reason', 'message'] as const) {
    if (existing[name] === update[name]) continue
    existing[name] = update[name]
    changed = true
  }
  if ((existing.observedGeneration ?? 0) !== (update.observedGeneration ?? 0)) {
    if (update.observedGeneration === undefined) delete existing.observedGeneration
    else existing.observedGeneration = update.observedGeneration
    changed = true
  }
  return changed
}

/** Returns whether there was one. */
export function removeStatusCondition(conditions: Condition[], type: string): boolean {
  let kept = 0
  for (const condition of conditions) if (condition.type !== type) conditions[kept++] = condition
  const removed = kept !== conditions.length
  conditions.length = kept
  return removed
}

export function findStatusCondition<T extends { readonly type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find(condition => condition.type === type)
}

type ReadCondition = { readonly type: string; readonly status: string }

export function isStatusConditionTrue(
  conditions: readonly ReadCondition[] | undefined,
  type: string,
): boolean {
  return isStatusConditionPresentAndEqual(conditions, type, 'True')
}

/** An absent condition is neither true nor false. */
export function isStatusConditionFalse(
  conditions: readonly ReadCondition[] | undefined,
  type: string,
): boolean {
  return isStatusConditionPresentAndEqual(conditions, type, 'False')
}

export function isStatusConditionPresentAndEqual(
  conditions: readonly ReadCondition[] | undefined,
  type: string,
  status: Condition['status'],
): boolean {
  return findStatusCondition(conditions, type)?.status === status
}
