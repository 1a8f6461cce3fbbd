/** What all condition types of built-in kinds have in common. */
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

/** Whether a condition says the same already: its status, reason and message. */
export function isSameCondition(
  a: (ConditionLike & { readonly reason?: string; readonly message?: string }) | undefined,
  b: ConditionLike & { readonly reason?: string; readonly message?: string },
): boolean {
  return a?.status === b.status && a.reason === b.reason && a.message === b.message
}
