import type {
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Taint,
  Toleration,
} from '@coxswain/api/core/v1'
import { parseInt64 } from '@coxswain/apimachinery/go'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { NodeView } from './node-info.ts'
import type { PodView } from './pod-view.ts'

type TaintView = DeepReadonly<Taint>
type TolerationView = DeepReadonly<Toleration>

export function tolerates(toleration: TolerationView, taint: TaintView): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false
  if (toleration.key && toleration.key !== taint.key) return false
  switch (toleration.operator ?? 'Equal') {
    case 'Equal':
      return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '')
    case 'Exists':
      return true
    case 'Lt':
    case 'Gt':
      return false // off by default
  }
}

/** The first taint with one of these effects that the pod does not tolerate. */
export function findUntolerated(
  node: NodeView,
  pod: PodView,
  effects: readonly TaintView['effect'][] = ['NoSchedule', 'NoExecute'],
): TaintView | undefined {
  const tolerations = pod.spec.tolerations ?? []
  return node.spec?.taints?.find(
    taint => effects.includes(taint.effect) && !tolerations.some(toleration => tolerates(toleration, taint)),
  )
}

/** The value of a label; keys such as `constructor` are in every object and on no node. */
export function labelOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}

/** Whether the node has what the pod's `nodeSelector` and required node affinity ask for. */
export function matchesRequiredAffinity(pod: PodView, node: NodeView): boolean {
  const labels = node.metadata.labels ?? {}
  for (const [key, value] of Object.entries(pod.spec.nodeSelector ?? {}))
    if (labelOf(labels, key) !== value) return false
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return !required || matchesNodeSelector(required, node)
}

/** Any of the terms. */
export function matchesNodeSelector(selector: DeepReadonly<NodeSelector>, node: NodeView): boolean {
  return selector.nodeSelectorTerms.some(term => matchesTerm(term, node))
}

/** An empty term matches nothing. */
export function matchesTerm(term: DeepReadonly<NodeSelectorTerm>, node: NodeView): boolean {
  const { matchExpressions = [], matchFields = [] } = term
  if (matchExpressions.length === 0 && matchFields.length === 0) return false
  const labels = node.metadata.labels ?? {}
  return (
    matchExpressions.every(requirement =>
      matchesRequirement(requirement, labelOf(labels, requirement.key)),
    ) &&
    matchFields.every(
      requirement =>
        requirement.key === 'metadata.name' && matchesRequirement(requirement, node.metadata.name),
    )
  )
}

function matchesRequirement(
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
