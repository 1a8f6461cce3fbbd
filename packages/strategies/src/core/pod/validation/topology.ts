import type { TopologySpreadConstraint } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { validateLabelSelector } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import { type Findings, validateOneOf, validatePositive } from '../../../shared/reading.ts'
import { validateLabelKeys } from './affinity.ts'

export function* validateTopologySpread(
  constraints: readonly Decoded<TopologySpreadConstraint>[],
  path: field.Path,
): Findings {
  const keyOf = ({ topologyKey, whenUnsatisfiable }: Decoded<TopologySpreadConstraint>) =>
    `${whenUnsatisfiable ?? ''}\n${topologyKey ?? ''}`
  const last = new Map(constraints.map((constraint, index) => [keyOf(constraint), index]))
  for (const [index, constraint] of constraints.entries()) {
    const at = path.index(index)
    const key = constraint.topologyKey ?? ''
    const action = constraint.whenUnsatisfiable ?? ''
    yield* validatePositive(constraint.maxSkew, at.child('maxSkew'))
    if (key === '') yield field.required(at.child('topologyKey'), 'can not be empty')
    yield* validateOneOf(action, ['DoNotSchedule', 'ScheduleAnyway'], at.child('whenUnsatisfiable'))
    if (last.get(keyOf(constraint))! > index)
      yield field.duplicate(at.child('{topologyKey, whenUnsatisfiable}'), `{${key}, ${action}}`)
    if (constraint.minDomains !== undefined) {
      yield* validatePositive(constraint.minDomains, at.child('minDomains'))
      if (action !== 'DoNotSchedule') {
        const message = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`
        yield field.invalid(at.child('minDomains'), constraint.minDomains, message)
      }
    }
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      if (constraint[policy] !== undefined)
        yield* validateOneOf(constraint[policy], ['Honor', 'Ignore'], at.child(policy))
    }
    yield* validateLabelKeys(constraint, at)
    yield* validateLabelSelector(
      constraint.labelSelector as LabelSelector | undefined,
      at.child('labelSelector'),
    )
  }
}
