import type { Taint } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { NodeView } from './node.ts'

/** A toleration of a Pod, or of a request for devices. */
export interface TolerationLike {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
}

/** A taint of a Node, or of a device. */
export interface TaintLike {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

/** Whether a toleration matches a taint: an empty key or effect matches all of them. Lt and Gt are off by default. */
export function tolerates({ key, operator, value, effect }: TolerationLike, taint: TaintLike): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  switch (operator || 'Equal') {
    case 'Equal':
      return (value ?? '') === (taint.value ?? '')
    case 'Exists':
      return true
    default:
      return false
  }
}

/** The first taint with one of the effects that no toleration matches. */
export function findUntoleratedTaint<T extends TaintLike>(
  taints: readonly T[] | undefined,
  tolerations: readonly TolerationLike[] | undefined,
  effects: readonly T['effect'][],
): T | undefined {
  return taints?.find(
    taint => effects.includes(taint.effect) && !tolerations?.some(toleration => tolerates(toleration, taint)),
  )
}

/** The first taint that keeps Pods with these tolerations from being scheduled to a Node. */
export function findTaintAgainstScheduling(
  { spec }: NodeView,
  tolerations: readonly TolerationLike[] | undefined,
): DeepReadonly<Taint> | undefined {
  return findUntoleratedTaint(spec?.taints, tolerations, ['NoSchedule', 'NoExecute'])
}
