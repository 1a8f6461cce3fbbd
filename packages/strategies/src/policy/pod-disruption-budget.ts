import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '@coxswain/api/policy/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Condition, LabelSelector } from '@coxswain/apimachinery/meta'
import {
  nameIsPathSegment,
  validateConditions,
  validateLabelSelector,
} from '@coxswain/apimachinery/validation'
import { specOf } from '../apps/defaults.ts'
import { validateAtMostAll, validateIntOrPercent } from '../apps/rollout.ts'
import { validateNonnegatives } from '../apps/template.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, numberOf, printed } from '../shared/reading.ts'
import type { Strategy, TableCells } from '../strategy.ts'

const specPath = field.Path.of('spec')
const statusPath = field.Path.of('status')
const policies = ['AlwaysAllow', 'IfHealthyBudget']

export const podDisruptionBudgetStrategy: Strategy = defineStrategy<PodDisruptionBudget>({
  cells: printBudget,
  generation: true,
  unconditionalUpdate: false,
  validateName: nameIsPathSegment,
  validate: object => validateBudget(specOf(object)),
  validateStatusUpdate(object) {
    const status = object.status ?? {}
    const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const
    return [
      ...validateConditions(
        (status.conditions ?? []) as unknown as Condition[],
        statusPath.child('conditions'),
      ),
      ...validateNonnegatives(status, counts, statusPath),
    ]
  },
})

function* validateBudget(spec: Decoded<PodDisruptionBudgetSpec>): Findings {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = printed(goValue('policy.PodDisruptionBudgetSpec', spec))
    yield field.invalid(specPath, shown, 'minAvailable and maxUnavailable cannot be both set')
  }
  for (const member of ['minAvailable', 'maxUnavailable'] as const) {
    if (spec[member] === undefined) continue
    yield* validateIntOrPercent(spec[member], specPath.child(member))
    yield* validateAtMostAll(spec[member], specPath.child(member))
  }
  yield* validateLabelSelector(selector as LabelSelector | undefined, specPath.child('selector'))
  if (unhealthyPodEvictionPolicy !== undefined && !policies.includes(unhealthyPodEvictionPolicy)) {
    const at = specPath.child('unhealthyPodEvictionPolicy')
    yield field.notSupported(at, unhealthyPodEvictionPolicy, policies)
  }
}

function printBudget(object: Decoded<PodDisruptionBudget>, now: number): TableCells {
  const { minAvailable, maxUnavailable } = object.spec ?? {}
  return {
    Name: nameCell(object),
    'Min Available': minAvailable === undefined ? 'N/A' : String(minAvailable),
    'Max Unavailable': maxUnavailable === undefined ? 'N/A' : String(maxUnavailable),
    'Allowed Disruptions': numberOf(object.status?.disruptionsAllowed),
    Age: ageCell(object, now),
  }
}
