import { field, type LabelSelector, validateLabelSelector } from '@coxswain/apimachinery'
import type { JsonObject } from '../../../json.ts'
import { validateLabelKeys } from './affinity.ts'
import { type Findings, textOf, validateOneOf, validatePositive } from './reading.ts'

export function* validateTopologySpread(constraints: readonly JsonObject[], path: field.Path): Findings {
  const keyOf = ({ topologyKey, whenUnsatisfiable }: JsonObject) =>
    `${textOf(whenUnsatisfiable)}\n${textOf(topologyKey)}`
  const last = new Map(constraints.map((constraint, index) => [keyOf(constraint), index]))
  for (const [index, constraint] of constraints.entries()) {
    const at = path.index(index)
    const key = textOf(constraint.topologyKey)
    const action = textOf(constraint.whenUnsatisfiable)
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
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
      if (constraint[policy] !== undefined)
        yield* validateOneOf(constraint[policy], ['Honor', 'Ignore'], at.child(policy))
    }
    yield* validateLabelKeys({ ...constraint, mismatchLabelKeys: undefined }, at)
    yield* validateLabelSelector(
      constraint.labelSelector as LabelSelector | undefined,
      at.child('labelSelector'),
    )
  }
}
