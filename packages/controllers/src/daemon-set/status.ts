import { DaemonSet } from '@coxswain/api/apps/v1'
import { isPodAvailable, isPodReady } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'
import { isUpdated, placementOn } from './placement.ts'
import { byAge, groupByNode, type PlanInput } from './plan.ts'

type DaemonCount =
  | 'currentNumberScheduled'
  | 'desiredNumberScheduled'
  | 'numberAvailable'
  | 'numberMisscheduled'
  | 'numberReady'
  | 'numberUnavailable'
  | 'updatedNumberScheduled'

/** For each node that should run a pod, its oldest pod counts. */
export function computeStatus({
  set,
  nodes,
  pods,
  hash,
  now,
}: PlanInput): Readonly<Record<DaemonCount, number>> {
  const groups = groupByNode(pods)
  const minReady = set.spec?.minReadySeconds ?? 0
  const counts = {
    desiredNumberScheduled: 0,
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
    updatedNumberScheduled: 0,
    numberAvailable: 0,
  }
  for (const node of nodes) {
    const pod = [...(groups.get(node.metadata.name) ?? [])].sort(byAge)[0]
    if (!placementOn(set, node).shouldRun) {
      if (pod) counts.numberMisscheduled++
      continue
    }
    counts.desiredNumberScheduled++
    if (!pod) continue
    counts.currentNumberScheduled++
    if (isPodReady(pod)) counts.numberReady++
    if (isPodAvailable(pod, minReady, now)) counts.numberAvailable++
    if (isUpdated(set, pod, hash)) counts.updatedNumberScheduled++
  }
  return { ...counts, numberUnavailable: counts.desiredNumberScheduled - counts.numberAvailable }
}

export async function writeStatus(client: OperatorClient, input: PlanInput): Promise<void> {
  const { set } = input
  const counts = computeStatus(input)
  const before: Readonly<Record<string, unknown>> = { ...set.status }
  const generation = set.metadata.generation ?? 0
  const isSame =
    Object.entries(counts).every(([name, count]) => (before[name] ?? 0) === count) &&
    (set.status?.observedGeneration ?? 0) >= generation
  if (isSame) return
  const status = { ...set.status, ...counts, observedGeneration: generation }
  await client.updateStatus(DaemonSet, { ...set, status })
}
