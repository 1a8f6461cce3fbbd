import { deepEqual, field } from '@coxswain/apimachinery'
import type { JsonObject } from '../../json.ts'
import { type Findings, listOf, textOf, validateQualifiedName } from '../pod/validation/reading.ts'

const maxConditions = 64

/** Expressions are required here; what they say is judged by whoever compiles them. */
export function* validateMatchConditions(conditions: unknown, path: field.Path): Findings {
  const found = listOf(conditions)
  if (found.length > maxConditions) yield field.tooMany(path, found.length, maxConditions)
  const names = new Set<string>()
  for (const [index, condition] of found.entries()) {
    const at = path.index(index)
    const name = textOf(condition.name)
    if (textOf(condition.expression).trim() === '') yield field.required(at.child('expression'))
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
