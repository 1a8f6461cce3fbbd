/** Conditions of a status: at most one of each type. */

import { formatTime } from '../time/time.ts'
import type { Condition } from './meta.ts'

/** A condition as a controller reports it. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'> & { lastTransitionTime?: string }

/** What the conditions of all kinds have in common. */
export interface ConditionLike {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string | null | undefined
}

/**
 * `next`, whose `lastTransitionTime` is the current time, with the time of the present condition of its type while the status
 * stays the same.
 */
export function keepTransitionTime<C extends ConditionLike>(
  conditions: readonly ConditionLike[] | undefined,
  next: C,
): C {
  const present = conditions?.find(({ type }) => type === next.type)
  return present?.status === next.status && present.lastTransitionTime
    ? { ...next, lastTransitionTime: present.lastTransitionTime }
    : next
}

/**
 * The conditions with `next` in place of the one of its type, or at the end. `lastTransitionTime` of `next` is the current
 * time; it takes effect only when the status changes.
 */
export function setCondition<C extends ConditionLike>(conditions: readonly C[] | undefined, next: C): C[] {
  const present = conditions ?? []
  const index = present.findIndex(({ type }) => type === next.type)
  const kept = keepTransitionTime(present, next)
  return index < 0 ? [...present, kept] : present.with(index, kept)
}

/** Whether two conditions have the same status, reason and message. */
export function isSameCondition(
  a: (ConditionLike & { readonly reason?: string; readonly message?: string }) | undefined,
  b: ConditionLike & { readonly reason?: string; readonly message?: string },
): boolean {
  return a?.status === b.status && a.reason === b.reason && a.message === b.message
}

/**
 * `setCondition` in place, for metav1.Condition; returns whether anything changed. A condition whose status changes gets
 * the `lastTransitionTime` of the update, or the clock's time.
 */
export function setStatusCondition(
  conditions: Condition[],
  update: ConditionUpdate,
  clock: { now(): number },
): boolean {
  const next = { ...update, lastTransitionTime: update.lastTransitionTime ?? formatTime(clock.now()) }
  const after = setCondition(conditions, next)
  const index = after.findIndex(({ type }) => type === update.type)
  const existing = conditions[index]
  const isSame =
    isSameCondition(existing, next) && (existing?.observedGeneration ?? 0) === (next.observedGeneration ?? 0)
  if (!isSame) conditions[index] = after[index]!
  return !isSame
}

/** Returns whether there was one. */
export function removeStatusCondition(conditions: Condition[], type: string): boolean {
  let kept = 0
  for (const condition of conditions) if (condition.type !== type) conditions[kept++] = condition
  const removed = kept !== conditions.length
  conditions.length = kept
  return removed
}

/** The condition of this type. */
export function findStatusCondition<T extends { readonly type: string }>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find(condition => condition.type === type)
}

type ReadCondition = { readonly type: string; readonly status: string }

/** Whether a condition of this type exists and is `True`. */
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

/** Whether a condition of this type exists and has this status. */
export function isStatusConditionPresentAndEqual(
  conditions: readonly ReadCondition[] | undefined,
  type: string,
  status: Condition['status'],
): boolean {
  return findStatusCondition(conditions, type)?.status === status
}
