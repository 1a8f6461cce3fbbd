import type { Pod, PodAffinityTerm } from '@coxswain/api/core/v1'
import type { Decoded } from '../../decoded.ts'

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

/** Terms that name labels by key alone get the pod's own values into their selectors. */
export function applyLabelKeys(pod: Decoded<Pod>): void {
  const labels = pod.metadata.labels ?? {}
  const spec = pod.spec ?? {}
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const affinity = spec.affinity?.[kind] ?? {}
    for (const weighted of affinity[preferred] ?? []) extend(weighted.podAffinityTerm ?? {}, labels)
    for (const term of affinity[required] ?? []) extend(term, labels)
  }
  for (const constraint of spec.topologySpreadConstraints ?? []) extend(constraint, labels)
}

function extend(term: Decoded<PodAffinityTerm>, labels: Readonly<Record<string, string>>): void {
  const selector = term.labelSelector
  if (!selector) return
  const added = [
    ...(term.matchLabelKeys ?? []).map(key => ({ key, operator: 'In' })),
    ...(term.mismatchLabelKeys ?? []).map(key => ({ key, operator: 'NotIn' })),
  ].filter(({ key }) => labels[key] !== undefined)
  if (added.length === 0) return
  selector.matchExpressions = [
    ...(selector.matchExpressions ?? []),
    ...added.map(requirement => ({ ...requirement, values: [labels[requirement.key]!] })),
  ]
}
