import { type FieldError, forbidden, invalid, required } from '../field/error.ts'
import type { Path } from '../field/path.ts'
import { deepEqual } from '../json/value.ts'
import { checkPattern } from './pattern.ts'
import type { Schema } from './schema.ts'

/** The two places where alternatives may name types: the forms of an int-or-string. */
interface Exceptions {
  readonly skipAnyOf: boolean
  readonly skipFirstAllOfAnyOf: boolean
}

const noExceptions: Exceptions = { skipAnyOf: false, skipFirstAllOfAnyOf: false }

export function isIntOrStringAnyOf(schemas: readonly Schema[] | undefined): boolean {
  return schemas !== undefined && deepEqual(schemas, [{ type: 'integer' }, { type: 'string' }])
}

/** What stands inside of `allOf`, `anyOf`, `oneOf` and `not` may only restrict values. */
export function checkNested(schema: Schema, exceptions: Exceptions, path: Path, errors: FieldError[]): void {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema
  if (!exceptions.skipAnyOf) {
    for (const [i, nested] of anyOf.entries()) {
      checkAlternative(nested, noExceptions, path.child('anyOf').index(i), errors)
    }
  }
  for (const [i, nested] of allOf.entries()) {
    const skipAnyOf = exceptions.skipFirstAllOfAnyOf && i === 0
    checkAlternative(nested, { ...noExceptions, skipAnyOf }, path.child('allOf').index(i), errors)
  }
  for (const [i, nested] of oneOf.entries()) {
    checkAlternative(nested, noExceptions, path.child('oneOf').index(i), errors)
  }
  if (not !== undefined) checkAlternative(not, noExceptions, path.child('not'), errors)
  if (pattern) {
    const problem = checkPattern(pattern)
    if (problem !== undefined) {
      const detail = `must be a valid regular expression, but isn't: ${problem}`
      errors.push(invalid(path.child('pattern'), pattern, detail))
    }
  }
}

const empty = 'must be empty to be structural'
const absent = 'must be undefined to be structural'
const no = 'must be false to be structural'

const structuralOnly: readonly (readonly [name: keyof Schema, detail: string])[] = [
  ['type', empty],
  ['additionalProperties', absent],
  ['default', absent],
  ['title', empty],
  ['description', empty],
  ['nullable', no],
  ['x-kubernetes-preserve-unknown-fields', no],
  ['x-kubernetes-embedded-resource', no],
  ['x-kubernetes-int-or-string', no],
  ['x-kubernetes-list-map-keys', empty],
  ['x-kubernetes-list-type', absent],
  ['x-kubernetes-map-type', absent],
  ['x-kubernetes-validations', empty],
]

function checkAlternative(schema: Schema, exceptions: Exceptions, path: Path, errors: FieldError[]): void {
  checkNested(schema, exceptions, path, errors)
  const { items, properties } = schema
  if (items !== undefined) checkAlternative(items, noExceptions, path.child('items'), errors)
  for (const [key, property] of Object.entries(properties ?? {})) {
    checkAlternative(property, noExceptions, path.child('properties').key(key), errors)
  }
  for (const [name, detail] of structuralOnly) {
    if (isGiven(schema[name])) errors.push(forbidden(path.child(name), detail))
  }
  if (properties !== undefined && Object.hasOwn(properties, 'metadata')) {
    errors.push(
      forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context'),
    )
  }
}

function isGiven(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== '' && value !== false && value !== null
}

/**
 * Whatever the alternatives in `rules` speak of must be specified in `schema`, outside of alternatives. `at` is where
 * `schema` is, `from` where `rules` are.
 */
export function checkCompleteness(
  rules: Schema,
  schema: Schema,
  at: Path,
  from: Path,
  errors: FieldError[],
): void {
  const { not, allOf = [], anyOf = [], oneOf = [] } = rules
  if (not !== undefined) checkSpecified(not, schema, at, from.child('not'), errors)
  for (const [i, nested] of allOf.entries())
    checkSpecified(nested, schema, at, from.child('allOf').index(i), errors)
  for (const [i, nested] of anyOf.entries())
    checkSpecified(nested, schema, at, from.child('anyOf').index(i), errors)
  for (const [i, nested] of oneOf.entries())
    checkSpecified(nested, schema, at, from.child('oneOf').index(i), errors)
}

function checkSpecified(
  rules: Schema,
  schema: Schema | undefined,
  at: Path,
  from: Path,
  errors: FieldError[],
): void {
  if (schema === undefined) {
    errors.push(required(at, `because it is defined in ${from}`))
    return
  }
  checkCompleteness(rules, schema, at, from, errors)
  if (rules.items !== undefined) {
    checkSpecified(rules.items, schema.items, at.child('items'), from.child('items'), errors)
  }
  for (const [key, property] of Object.entries(rules.properties ?? {})) {
    const specified = schema.properties !== undefined && Object.hasOwn(schema.properties, key)
    const target = specified ? schema.properties[key] : undefined
    checkSpecified(
      property,
      target,
      at.child('properties').key(key),
      from.child('properties').key(key),
      errors,
    )
  }
}
