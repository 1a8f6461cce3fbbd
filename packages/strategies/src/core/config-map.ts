import type { ConfigMap } from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isConfigMapKey } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, countCell, nameCell } from '../shared/cells.ts'
import { type Findings, invalidBecause } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { decodedLength, maxDataBytes, textLength } from './data.ts'

const immutableMessage = 'field is immutable when `immutable` is set'

export const configMapStrategy: Strategy = defineStrategy<ConfigMap>({
  default(object) {
    const binaryData = object.binaryData ?? {}
    for (const [key, value] of Object.entries(binaryData)) if (value === null) binaryData[key] = ''
  },
  validate: object => validateConfigMap(object),
  validateUpdate: (object, old) => validateImmutableData(object, old, ['data', 'binaryData']),
  cells: (object, now) => ({
    Name: nameCell(object),
    Data: countCell(object.data) + countCell(object.binaryData),
    Age: ageCell(object, now),
  }),
})

function* validateConfigMap(object: Decoded<ConfigMap>): Findings {
  const data = object.data ?? {}
  const binaryData = object.binaryData ?? {}
  let size = 0
  for (const [key, value] of Object.entries(data)) {
    const path = field.Path.of('data').key(key)
    yield* invalidBecause(path, key, isConfigMapKey(key))
    if (Object.hasOwn(binaryData, key))
      yield field.invalid(path, key, 'duplicate of key present in binaryData')
    size += textLength(value)
  }
  for (const [key, value] of Object.entries(binaryData)) {
    yield* invalidBecause(field.Path.of('binaryData').key(key), key, isConfigMapKey(key))
    size += decodedLength(value)
  }
  if (size > maxDataBytes) yield field.tooLong(field.Path.of(''), maxDataBytes)
}

/** An object that was declared immutable stays so, and keeps `members`. */
export function validateImmutableData<T extends { readonly immutable?: boolean }>(
  object: T,
  old: T,
  members: readonly (keyof T & string)[],
): FieldError[] {
  if (old.immutable !== true) return []
  const errors =
    object.immutable === true ? [] : [field.forbidden(field.Path.of('immutable'), immutableMessage)]
  for (const member of members) {
    if (!deepEqual(object[member], old[member]))
      errors.push(field.forbidden(field.Path.of(member), immutableMessage))
  }
  return errors
}
