import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { type Findings, listOf, objectOf, textOf } from '../shared/reading.ts'

/** Conditions of both kinds: one of each type. */
export function* validateStatus(object: JsonObject): Findings {
  const path = field.Path.of('status', 'conditions')
  const types = new Set<string>()
  for (const [index, condition] of listOf(objectOf(object.status).conditions).entries()) {
    const at = path.index(index).child('type')
    const type = textOf(condition.type)
    if (types.has(type)) yield field.duplicate(at, type)
    types.add(type)
    if (type === '') yield field.required(at)
  }
}
