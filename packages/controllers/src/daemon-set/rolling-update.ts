import { isPodAvailable, type PodView } from '@coxswain/kinds'
import { isUpdated, placementOn } from './placement.ts'
import { groupByNode, isLive, type Plan, type PlanInput } from './plan.ts'
import { countsOf } from './strategy.ts'

/** The pods of a node that are not terminating; undefined if there are more than one old and one new. */
function pairOn(input: PlanInput, group: readonly PodView[]) {
  const live = group.filter(isLive)
  const updated = live.filter(pod => isUpdated(input.set, pod, input.hash))
  const old = live.filter(pod => !updated.includes(pod))
  return updated.length > 1 || old.length > 1 ? undefined : { updated: updated[0], old: old[0] }
}

/** Replaces pods of old templates, within `maxUnavailable` and `maxSurge`. */
export function planRollingUpdate(input: PlanInput): Plan {
  const { set, nodes, pods } = input
  const groups = groupByNode(pods)
  const selected = new Set<string>()
  for (const node of nodes) {
    if (!placementOn(set, node).shouldRun) continue
    const { name } = node.metadata
    selected.add(name)
    if (!groups.has(name)) groups.set(name, [])
  }
  const { surge, unavailable } = countsOf(set, selected.size)
  return surge === 0
    ? planReplacement(input, groups, unavailable)
    : planSurge(input, groups, { surge, selected })
}

/** Chooses the old pods to delete; the next reconciliation creates new ones in their place. */
function planReplacement(
  input: PlanInput,
  groups: ReadonlyMap<string, readonly PodView[]>,
  maxUnavailable: number,
): Plan {
  const minReady = input.set.spec?.minReadySeconds ?? 0
  const unavailable: PodView[] = []
  const available: PodView[] = []
  let missing = 0
  for (const group of groups.values()) {
    const { updated, old } = pairOn(input, group) ?? {}
    const only = updated && old ? undefined : (updated ?? old)
    const isAvailable = only !== undefined && isPodAvailable(only, minReady, input.now)
    if (!isAvailable) missing++
    if (only && only === old) (isAvailable ? available : unavailable).push(only)
  }
  const allowed = Math.max(0, maxUnavailable - missing)
  return { create: [], delete: [...unavailable, ...available.slice(0, allowed)] }
}

/** Creates new pods beside old ones, and deletes old ones whose replacements are available. */
function planSurge(
  input: PlanInput,
  groups: ReadonlyMap<string, readonly PodView[]>,
  { surge, selected }: { readonly surge: number; readonly selected: ReadonlySet<string> },
): Plan {
  const minReady = input.set.spec?.minReadySeconds ?? 0
  const isAvailable = (pod: PodView) => isPodAvailable(pod, minReady, input.now)
  const known = new Set(input.nodes.map(({ metadata }) => metadata.name))
  const plan: Plan = { create: [], delete: [] }
  const candidates: string[] = []
  const unselected: PodView[] = []
  let surging = 0
  let available = 0
  for (const [name, group] of groups) {
    const pair = pairOn(input, group)
    if (!pair) {
      surging++
      continue
    }
    const { updated, old } = pair
    const counted = old ?? updated
    if (counted && isAvailable(counted)) available++
    if (!old || !known.has(name)) continue
    if (updated) {
      if (isAvailable(updated)) plan.delete.push(old)
      else surging++
    } else if (selected.has(name)) (isAvailable(old) ? candidates : plan.create).push(name)
    else (isAvailable(old) ? unselected : plan.delete).push(old)
  }
  // A pod on a node that is no longer selected stays until enough others are available.
  for (const item of unselected.slice(0, Math.max(0, available - selected.size))) plan.delete.push(item)
  for (const item of candidates.slice(0, Math.max(0, surge - surging))) plan.create.push(item)
  return plan
}
