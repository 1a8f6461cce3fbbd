import type { MatchCondition, ValidatingWebhook } from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { Decoded } from '../decoded.ts'
import { type Findings, validateQualifiedName } from '../shared/reading.ts'
import { compileAdmissionExpression } from './expressions/compile.ts'
import { validateExpression } from './expressions/validate.ts'

const maxConditions = 64

/** `hasParams`: expressions may use the parameters of a policy. */
export function* validateMatchConditions(
  conditions: Decoded<MatchCondition[]> | null | undefined,
  path: field.Path,
  hasParams = false,
): Findings {
  const found = conditions ?? []
  if (found.length > maxConditions) yield field.tooMany(path, found.length, maxConditions)
  const names = new Set<string>()
  for (const [index, condition] of found.entries()) {
    const at = path.index(index)
    const name = condition.name ?? ''
    const expression = (condition.expression ?? '').trim()
    if (expression === '') yield field.required(at.child('expression'))
    else {
      const options = { params: hasParams, authorizer: true }
      const compiled = compileAdmissionExpression(expression, 'bool', options)
      yield* validateExpression(compiled, at.child('expression'))
    }
    if (name === '') {
      yield field.required(at.child('name'))
      continue
    }
    yield* validateQualifiedName(name, at.child('name'))
    if (names.has(name)) yield field.duplicate(at.child('name'), name)
    names.add(name)
  }
}

/** Conditions that have not changed are not validated again: the rules may be stricter now. */
export function haveSameConditions(
  objects: readonly Decoded<ValidatingWebhook>[],
  old: readonly Decoded<ValidatingWebhook>[],
): boolean {
  return (
    objects.length === old.length &&
    objects.every((object, index) => deepEqual(object.matchConditions, old[index]?.matchConditions))
  )
}
