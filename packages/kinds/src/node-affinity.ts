import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from '@coxswain/api/core/v1'
import { parseInt64 } from '@coxswain/apimachinery/go'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { NodeView } from './node.ts'

/** The value of a label. Inherited properties such as `constructor` are not labels. */
export function labelOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}

/** Whether a Node satisfies a Pod's `nodeSelector` and required node affinity. */
export function matchesRequiredNodeAffinity(
  { nodeSelector, affinity }: Pick<DeepReadonly<PodSpec>, 'nodeSelector' | 'affinity'>,
  node: NodeView,
): boolean {
  const labels = node.metadata.labels ?? {}
  for (const [key, value] of Object.entries(nodeSelector ?? {}))
    if (labelOf(labels, key) !== value) return false
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return !required || matchesNodeSelector(required, node)
}

/** Whether a Node matches any of the terms. */
export function matchesNodeSelector(selector: DeepReadonly<NodeSelector>, node: NodeView): boolean {
  return selector.nodeSelectorTerms.some(term => matchesNodeSelectorTerm(term, node))
}

/** Whether a Node meets all requirements of a term. An empty term matches nothing. */
export function matchesNodeSelectorTerm(term: DeepReadonly<NodeSelectorTerm>, node: NodeView): boolean {
  const { matchExpressions = [], matchFields = [] } = term
  if (matchExpressions.length === 0 && matchFields.length === 0) return false
  const { name, labels = {} } = node.metadata
  return (
    matchExpressions.every(requirement => matches(requirement, labelOf(labels, requirement.key))) &&
    matchFields.every(requirement => requirement.key === 'metadata.name' && matches(requirement, name))
  )
}

function matches(
  { operator, values = [] }: DeepReadonly<NodeSelectorRequirement>,
  value: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
    case 'Lt': {
      const [left, right] = [parseInt64(value ?? ''), parseInt64(values[0] ?? '')]
      if (left === undefined || right === undefined) return false
      return operator === 'Gt' ? left > right : left < right
    }
  }
}
