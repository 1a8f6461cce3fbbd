import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Condition, LabelSelector } from '@coxswain/apimachinery/meta'
import {
  nameIsPathSegment,
  validateConditions,
  validateLabelSelector,
} from '@coxswain/apimachinery/validation'
import { disruptionBudgetCells } from '../apps/cells.ts'
import { specOf } from '../apps/defaults.ts'
import { validateAtMostAll, validateIntOrPercent } from '../apps/rollout.ts'
import { validateNonnegatives } from '../apps/template.ts'
import { type Findings, listOf, objectOf, printed, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const specPath = field.Path.of('spec')
const statusPath = field.Path.of('status')
const policies = ['AlwaysAllow', 'IfHealthyBudget']

export const podDisruptionBudgetStrategy: Strategy = {
  cells: disruptionBudgetCells,
  generation: true,
  unconditionalUpdate: false,
  validateName: nameIsPathSegment,
  validate: object => validateBudget(specOf(object)),
  validateStatusUpdate(object) {
    const status = objectOf(object.status)
    const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']
    return [
      ...validateConditions(
        listOf(status.conditions) as unknown as Condition[],
        statusPath.child('conditions'),
      ),
      ...validateNonnegatives(status, counts, statusPath),
    ]
  },
}

function* validateBudget(spec: JsonObject): Findings {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = printed({
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
    })
    yield field.invalid(specPath, shown, 'minAvailable and maxUnavailable cannot be both set')
  }
  for (const member of ['minAvailable', 'maxUnavailable']) {
    if (spec[member] === undefined) continue
    yield* validateIntOrPercent(spec[member], specPath.child(member))
    yield* validateAtMostAll(spec[member], specPath.child(member))
  }
  yield* validateLabelSelector(selector as LabelSelector | undefined, specPath.child('selector'))
  if (unhealthyPodEvictionPolicy !== undefined && !policies.includes(textOf(unhealthyPodEvictionPolicy))) {
    const at = specPath.child('unhealthyPodEvictionPolicy')
    yield field.notSupported(at, unhealthyPodEvictionPolicy, policies)
  }
}
