import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import type { Schema } from '@coxswain/apimachinery/schema'
import { eachSchema } from './crd.ts'

/** The schema member with the rules. */
export const rulesKey = 'x-kubernetes-validations'

const known = new WeakMap<Schema, boolean>()

/** Whether a schema has rules at any level. */
export function hasRules(schema: Schema): boolean {
  let found = known.get(schema)
  if (found === undefined) {
    found = false
    for (const node of eachSchema(schema)) if (node[rulesKey]?.length) found = true
    known.set(schema, found)
  }
  return found
}

/** Errors after which an object does not have the shape that rules expect. */
const blocking: ReadonlySet<string> = new Set<FieldError['type']>([
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueNotSupported',
  'FieldValueTypeInvalid',
])

/** Reports that rules are not evaluated for an object that does not match its schema. */
export function findSkippedRules(schema: Schema, errors: readonly FieldError[]): FieldError | undefined {
  if (!hasRules(schema) || !errors.some(({ type }) => blocking.has(type))) return undefined
  const detail =
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
  return field.invalid(field.Path.root, null, detail)
}
