import { scaleIntOrPercent } from '@coxswain/kinds'
import type { DaemonSetView } from './placement.ts'

function rollingUpdateOf({ spec }: DaemonSetView) {
  const strategy = spec?.updateStrategy
  return strategy?.type === 'OnDelete' ? undefined : strategy?.rollingUpdate
}

/** Whether a node may have an old and a new pod at once. */
export function allowsSurge(set: DaemonSetView): boolean {
  return scaleIntOrPercent(rollingUpdateOf(set)?.maxSurge, 1, 'up') > 0
}

/** `maxSurge` and `maxUnavailable` as numbers of nodes. */
export function countsOf(
  set: DaemonSetView,
  nodes: number,
): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge, maxUnavailable } = rollingUpdateOf(set) ?? {}
  const surge = scaleIntOrPercent(maxSurge, nodes, 'up')
  const unavailable = scaleIntOrPercent(maxUnavailable, nodes, 'up')
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable }
}
