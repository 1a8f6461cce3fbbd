import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { isValidLabelValue, nameIsDNSSubdomain, validateLabelName } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { type Findings, invalidBecause } from '../shared/reading.ts'

const operatorMessage = 'not a valid selector operator'

export function* validateNodeSelector(selector: Decoded<NodeSelector>, path: field.Path): Findings {
  const terms = selector.nodeSelectorTerms ?? []
  const at = path.child('nodeSelectorTerms')
  if (terms.length === 0) yield field.required(at, 'must have at least one node selector term')
  for (const [index, term] of terms.entries()) yield* validateTerm(term, at.index(index))
}

function* validateTerm(term: Decoded<NodeSelectorTerm>, path: field.Path): Findings {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries())
    yield* validateExpression(requirement, path.child('matchExpressions').index(index))
  for (const [index, requirement] of (term.matchFields ?? []).entries())
    yield* validateFieldRequirement(requirement, path.child('matchFields').index(index))
}

function* validateExpression(requirement: Decoded<NodeSelectorRequirement>, path: field.Path): Findings {
  const values = requirement.values ?? []
  const valuesPath = path.child('values')
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0)
        yield field.required(valuesPath, "must be specified when `operator` is 'In' or 'NotIn'")
      break
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        const message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield field.forbidden(valuesPath, message)
      }
      break
    case 'Gt':
    case 'Lt':
      if (values.length !== 1)
        yield field.required(valuesPath, "must be specified single value when `operator` is 'Lt' or 'Gt'")
      break
    default:
      yield field.invalid(path.child('operator'), requirement.operator ?? '', operatorMessage)
  }
  yield* validateLabelName(requirement.key ?? '', path.child('key'))
  for (const [index, value] of values.entries())
    yield* invalidBecause(valuesPath.index(index), value, isValidLabelValue(value))
}

/** Nodes are selected by one field, their name. */
function* validateFieldRequirement(
  requirement: Decoded<NodeSelectorRequirement>,
  path: field.Path,
): Findings {
  const values = requirement.values ?? []
  if (requirement.operator === 'In' || requirement.operator === 'NotIn') {
    if (values.length !== 1) {
      const message = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
      yield field.required(path.child('values'), message)
    }
  } else {
    yield field.invalid(path.child('operator'), requirement.operator ?? '', operatorMessage)
  }
  if (requirement.key !== 'metadata.name') {
    yield field.invalid(path.child('key'), requirement.key ?? '', 'not a valid field selector key')
    return
  }
  for (const [index, value] of values.entries())
    yield* invalidBecause(path.child('values').index(index), value, nameIsDNSSubdomain(value, false))
}

const deprecatedLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods':
    'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
}

/** What is wrong with using a node label; undefined when nothing is. */
export function nodeLabelDeprecation(label: string): string | undefined {
  return Object.hasOwn(deprecatedLabels, label) ? deprecatedLabels[label] : undefined
}

export function warnAboutNodeSelector(selector: Decoded<NodeSelector>, path: field.Path): string[] {
  const terms = selector.nodeSelectorTerms ?? []
  return terms.flatMap((term, i) =>
    (term.matchExpressions ?? []).flatMap((requirement, j) => {
      const label = requirement.key ?? ''
      const message = nodeLabelDeprecation(label)
      if (message === undefined) return []
      const at = path.child('nodeSelectorTerms').index(i).child('matchExpressions').index(j).child('key')
      return [`${at}: ${label} is ${message}`]
    }),
  )
}
