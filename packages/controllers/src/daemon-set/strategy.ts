import { scaleIntOrPercent } from '@coxswain/kinds'
import type { SetView } from './placement.ts'

function rollingUpdateOf({ spec }: SetView) {
  const strategy = spec?.updateStrategy
  return strategy?.type === 'OnDelete' ? undefined : strategy?.rollingUpdate
}

/** Whether a node may have an old and a new pod at once. */
export function allowsSurge(set: SetView): boolean {
  return scaleIntOrPercent(rollingUpdateOf(set)?.maxSurge, 1, 'up') > 0
}

/** How many of so many nodes may have two pods, and how many none that is available. */
export function countsOf(
  set: SetView,
  nodes: number,
): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge, maxUnavailable } = rollingUpdateOf(set) ?? {}
  const surge = scaleIntOrPercent(maxSurge, nodes, 'up')
  const unavailable = scaleIntOrPercent(maxUnavailable, nodes, 'up')
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable }
}
