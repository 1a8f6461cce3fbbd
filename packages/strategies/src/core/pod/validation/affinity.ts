import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import {
  isValidLabelValue,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  validateLabelName,
  validateLabelSelector,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import { type Findings, invalidBecause } from '../../../shared/reading.ts'

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

export function* validateAffinity(
  affinity: Decoded<Affinity> | null | undefined,
  path: field.Path,
): Findings {
  if (!affinity) return
  if (affinity.nodeAffinity) yield* validateNodeAffinity(affinity.nodeAffinity, path.child('nodeAffinity'))
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const)
    if (affinity[kind]) yield* validatePodAffinity(affinity[kind], path.child(kind))
}

function* validateNodeAffinity(affinity: Decoded<NodeAffinity>, path: field.Path): Findings {
  if (affinity[required]) yield* validateNodeSelector(affinity[required], path.child(required))
  for (const [index, term] of (affinity[preferred] ?? []).entries()) {
    const at = path.child(preferred).index(index)
    yield* validateWeight(term.weight, at)
    yield* validateNodeSelectorTerm(term.preference ?? {}, at.child('preference'), false)
  }
}

function* validateWeight(weight: number | null | undefined, path: field.Path): Findings {
  const value = Number(weight ?? 0)
  if (value <= 0 || value > 100)
    yield field.invalid(path.child('weight'), value, 'must be in the range 1-100')
}

export function* validateNodeSelector(selector: Decoded<NodeSelector>, path: field.Path): Findings {
  const terms = selector.nodeSelectorTerms ?? []
  const at = path.child('nodeSelectorTerms')
  if (terms.length === 0) yield field.required(at, 'must have at least one node selector term')
  for (const [index, term] of terms.entries()) yield* validateNodeSelectorTerm(term, at.index(index), true)
}

function* validateNodeSelectorTerm(
  term: Decoded<NodeSelectorTerm>,
  path: field.Path,
  strictValues: boolean,
): Findings {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries())
    yield* validateRequirement(requirement, path.child('matchExpressions').index(index), strictValues)
  for (const [index, requirement] of (term.matchFields ?? []).entries())
    yield* validateFieldRequirement(requirement, path.child('matchFields').index(index))
}

function* validateRequirement(
  requirement: Decoded<NodeSelectorRequirement>,
  path: field.Path,
  strictValues: boolean,
): Findings {
  const values = requirement.values ?? []
  const at = path.child('values')
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0)
        yield field.required(at, "must be specified when `operator` is 'In' or 'NotIn'")
      break
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0)
        yield field.forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
      break
    case 'Gt':
    case 'Lt':
      if (values.length !== 1)
        yield field.required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'")
      break
    default:
      yield field.invalid(path.child('operator'), requirement.operator ?? '', 'not a valid selector operator')
  }
  yield* validateLabelName(requirement.key ?? '', path.child('key'))
  if (!strictValues) return
  for (const [index, value] of values.entries())
    yield* invalidBecause(at.index(index), value, isValidLabelValue(value))
}

/** Only one field of a Node can be selected, its name. */
function* validateFieldRequirement(
  requirement: Decoded<NodeSelectorRequirement>,
  path: field.Path,
): Findings {
  const values = requirement.values ?? []
  const { operator } = requirement
  const key = requirement.key ?? ''
  if (operator !== 'In' && operator !== 'NotIn') {
    yield field.invalid(path.child('operator'), operator ?? '', 'not a valid selector operator')
  } else if (values.length !== 1) {
    const message = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    yield field.required(path.child('values'), message)
  }
  if (key !== 'metadata.name') {
    yield field.invalid(path.child('key'), key, 'not a valid field selector key')
    return
  }
  for (const [index, value] of values.entries())
    yield* invalidBecause(path.child('values').index(index), value, nameIsDNSSubdomain(value, false))
}

function* validatePodAffinity(affinity: Decoded<PodAffinity>, path: field.Path): Findings {
  for (const [index, term] of (affinity[required] ?? []).entries())
    yield* validatePodTerm(term, path.child(required).index(index))
  for (const [index, weighted] of (affinity[preferred] ?? []).entries()) {
    const at = path.child(preferred).index(index)
    yield* validateWeight(weighted.weight, at)
    yield* validatePodTerm(weighted.podAffinityTerm ?? {}, at.child('podAffinityTerm'))
  }
}

function* validatePodTerm(term: Decoded<PodAffinityTerm>, path: field.Path): Findings {
  for (const member of ['labelSelector', 'namespaceSelector'] as const)
    yield* validateLabelSelector(term[member] as LabelSelector | undefined, path.child(member))
  for (const namespace of term.namespaces ?? [])
    yield* invalidBecause(path.child('namespace'), namespace, nameIsDNSLabel(namespace, false))
  yield* validateLabelKeys(term, path)
  const key = term.topologyKey ?? ''
  if (key === '') yield field.required(path.child('topologyKey'), 'can not be empty')
  yield* validateLabelName(key, path.child('topologyKey'))
}

/** Keys whose value the pod itself gives: in `matchLabelKeys`, `mismatchLabelKeys`, and not in the selector too. */
export function* validateLabelKeys(term: Decoded<PodAffinityTerm>, path: field.Path): Findings {
  const selector = term.labelSelector ? term.labelSelector : undefined
  const matched = term.matchLabelKeys ?? []
  const mismatched = new Set(term.mismatchLabelKeys ?? [])
  for (const member of ['matchLabelKeys', 'mismatchLabelKeys'] as const) {
    const keys = term[member] ?? []
    if (keys.length === 0) continue
    const at = path.child(member)
    if (!selector) yield field.forbidden(at, 'must not be specified when labelSelector is not set')
    else for (const [index, key] of keys.entries()) yield* validateLabelName(key, at.index(index))
  }
  if (selector) {
    const seen = new Set(Object.keys(selector.matchLabels ?? {}))
    const lastIndex = new Map(matched.map((key, index) => [key, index]))
    for (const { key } of selector.matchExpressions ?? []) {
      const index = lastIndex.get(key ?? '')
      if (index !== undefined && seen.has(key ?? ''))
        yield field.invalid(path.index(index), key, 'exists in both matchLabelKeys and labelSelector')
      seen.add(key ?? '')
    }
  }
  for (const [index, key] of matched.entries()) {
    if (mismatched.has(key)) {
      const message = 'exists in both matchLabelKeys and mismatchLabelKeys'
      yield field.invalid(path.child('matchLabelKeys').index(index), key, message)
    }
  }
}
