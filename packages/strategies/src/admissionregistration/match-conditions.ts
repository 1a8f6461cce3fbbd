import * as field from '@coxswain/apimachinery/field'
import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { type Findings, listOf, textOf, validateQualifiedName } from '../shared/reading.ts'
import { compileAdmissionExpression } from './expressions/compile.ts'
import { validateExpression } from './expressions/validate.ts'

const maxConditions = 64

/** `hasParams`: expressions may use the parameters of a policy. */
export function* validateMatchConditions(conditions: unknown, path: field.Path, hasParams = false): Findings {
  const found = listOf(conditions)
  if (found.length > maxConditions) yield field.tooMany(path, found.length, maxConditions)
  const names = new Set<string>()
  for (const [index, condition] of found.entries()) {
    const at = path.index(index)
    const name = textOf(condition.name)
    const expression = textOf(condition.expression).trim()
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

/** Conditions that have not changed are not looked at again: rules may have become stricter since. */
export function haveSameConditions(objects: readonly JsonObject[], old: readonly JsonObject[]): boolean {
  return (
    objects.length === old.length &&
    objects.every((object, index) => deepEqual(object.matchConditions, old[index]?.matchConditions))
  )
}
