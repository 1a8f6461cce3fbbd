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

function isGiven(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== '' && value !== false && value !== null
}

/** Where a schema is, and where the alternatives that speak of it are. */
interface Places {
  readonly at: Path
  readonly from: Path
}

/** Checks alternatives, and collects what is wrong with them. */
export class AlternativesCheck {
  readonly #errors: FieldError[]

  constructor(errors: FieldError[]) {
    this.#errors = errors
  }

  /** What stands inside of `allOf`, `anyOf`, `oneOf` and `not` may only restrict values. */
  checkNested(schema: Schema, exceptions: Exceptions, path: Path): void {
    const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema
    if (!exceptions.skipAnyOf) {
      for (const [i, nested] of anyOf.entries()) {
        this.#checkAlternative(nested, noExceptions, path.child('anyOf').index(i))
      }
    }
    for (const [i, nested] of allOf.entries()) {
      const skipAnyOf = exceptions.skipFirstAllOfAnyOf && i === 0
      this.#checkAlternative(nested, { ...noExceptions, skipAnyOf }, path.child('allOf').index(i))
    }
    for (const [i, nested] of oneOf.entries()) {
      this.#checkAlternative(nested, noExceptions, path.child('oneOf').index(i))
    }
    if (not !== undefined) this.#checkAlternative(not, noExceptions, path.child('not'))
    if (pattern) {
      const problem = checkPattern(pattern)
      if (problem !== undefined) {
        const detail = `must be a valid regular expression, but isn't: ${problem}`
        this.#errors.push(invalid(path.child('pattern'), pattern, detail))
      }
    }
  }

  #checkAlternative(schema: Schema, exceptions: Exceptions, path: Path): void {
    this.checkNested(schema, exceptions, path)
    const { items, properties } = schema
    if (items !== undefined) this.#checkAlternative(items, noExceptions, path.child('items'))
    for (const [key, property] of Object.entries(properties ?? {})) {
      this.#checkAlternative(property, noExceptions, path.child('properties').key(key))
    }
    for (const [name, detail] of structuralOnly) {
      if (isGiven(schema[name])) this.#errors.push(forbidden(path.child(name), detail))
    }
    if (properties !== undefined && Object.hasOwn(properties, 'metadata')) {
      const at = path.child('properties').key('metadata')
      this.#errors.push(forbidden(at, 'must not be specified in a nested context'))
    }
  }

  /** Whatever the alternatives in `rules` speak of must be specified in `schema`, outside of alternatives. */
  checkCompleteness(rules: Schema, schema: Schema, { at, from }: Places): void {
    const { not, allOf = [], anyOf = [], oneOf = [] } = rules
    if (not !== undefined) this.#checkSpecified(not, schema, { at, from: from.child('not') })
    for (const [name, alternatives] of Object.entries({ allOf, anyOf, oneOf })) {
      for (const [i, nested] of alternatives.entries())
        this.#checkSpecified(nested, schema, { at, from: from.child(name).index(i) })
    }
  }

  #checkSpecified(rules: Schema, schema: Schema | undefined, places: Places): void {
    const { at, from } = places
    if (schema === undefined) {
      this.#errors.push(required(at, `because it is defined in ${from}`))
      return
    }
    this.checkCompleteness(rules, schema, places)
    if (rules.items !== undefined) {
      const items = { at: at.child('items'), from: from.child('items') }
      this.#checkSpecified(rules.items, schema.items, items)
    }
    for (const [key, property] of Object.entries(rules.properties ?? {})) {
      const specified = schema.properties !== undefined && Object.hasOwn(schema.properties, key)
      const target = specified ? schema.properties[key] : undefined
      const inner = { at: at.child('properties').key(key), from: from.child('properties').key(key) }
      this.#checkSpecified(property, target, inner)
    }
  }
}
