import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { listOf, objectOf, recordOf, stringsOf } from '../../shared/reading.ts'

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

/** Terms that name labels by key alone get the pod's own values into their selectors. */
export function applyLabelKeys(pod: JsonObject): void {
  const labels = recordOf(objectOf(pod.metadata).labels)
  const spec = objectOf(pod.spec)
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const affinity = objectOf(objectOf(spec.affinity)[kind])
    for (const weighted of listOf(affinity[preferred])) extend(objectOf(weighted.podAffinityTerm), labels)
    for (const term of listOf(affinity[required])) extend(term, labels)
  }
  for (const constraint of listOf(spec.topologySpreadConstraints)) extend(constraint, labels)
}

function extend(term: JsonObject, labels: Readonly<Record<string, string>>): void {
  const selector = term.labelSelector
  if (!isObject(selector)) return
  const added = [
    ...stringsOf(term.matchLabelKeys).map(key => ({ key, operator: 'In' })),
    ...stringsOf(term.mismatchLabelKeys).map(key => ({ key, operator: 'NotIn' })),
  ].filter(({ key }) => labels[key] !== undefined)
  if (added.length === 0) return
  selector.matchExpressions = [
    ...listOf(selector.matchExpressions),
    ...added.map(requirement => ({ ...requirement, values: [labels[requirement.key]!] })),
  ]
}
