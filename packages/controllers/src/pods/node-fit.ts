import type { Node, NodeSelectorRequirement, PodSpec, Taint, Toleration } from '@coxswain/api/core/v1'
import { parseInt64 } from '@coxswain/apimachinery/go'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

type NodeView = DeepReadonly<Node>
type SpecView = DeepReadonly<PodSpec>
type TaintView = DeepReadonly<Taint>
type TolerationView = DeepReadonly<Toleration>

export function tolerates(toleration: TolerationView, taint: TaintView): boolean {
  const { key, operator = 'Equal', value = '', effect } = toleration
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  if (operator === 'Exists') return true
  return operator === 'Equal' && Boolean(key) && value === (taint.value ?? '')
}

/** Whether all taints with one of these effects are tolerated. */
export function toleratesNode(
  tolerations: readonly TolerationView[],
  { spec }: NodeView,
  effects: readonly TaintView['effect'][],
): boolean {
  return (spec?.taints ?? []).every(
    taint => !effects.includes(taint.effect) || tolerations.some(toleration => tolerates(toleration, taint)),
  )
}

/** Whether a node has what a pod's `nodeSelector` and required node affinity ask for. */
export function fitsAffinity({ nodeSelector = {}, affinity }: SpecView, { metadata }: NodeView): boolean {
  const { name, labels = {} } = metadata
  if (Object.entries(nodeSelector).some(([key, value]) => labelOf(labels, key) !== value)) return false
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  if (!terms) return true
  return terms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false
    return (
      matchExpressions.every(requirement => meets(requirement, labelOf(labels, requirement.key))) &&
      matchFields.every(requirement => requirement.key === 'metadata.name' && meets(requirement, name))
    )
  })
}

/** Keys such as `constructor` are in every object and on no node. */
function labelOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}

function meets(
  { operator, values = [] }: DeepReadonly<NodeSelectorRequirement>,
  value: string | undefined,
): boolean {
  const isGiven = value !== undefined
  switch (operator) {
    case 'In':
      return isGiven && values.includes(value)
    case 'NotIn':
      return !isGiven || !values.includes(value)
    case 'Exists':
      return isGiven
    case 'DoesNotExist':
      return !isGiven
    case 'Gt':
    case 'Lt': {
      const [left, right] = [parseInt64(value ?? ''), parseInt64(values[0] ?? '')]
      if (left === undefined || right === undefined) return false
      return operator === 'Gt' ? left > right : left < right
    }
  }
}
