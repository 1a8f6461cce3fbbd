import { type FieldError, invalid } from '../field/error.ts'
import type { Path } from '../field/path.ts'
import { deepClone } from '../json/value.ts'
import { coerceEmbedded, validateEmbedded } from './embedded.ts'
import { prune } from './prune.ts'
import type { Schema } from './schema.ts'
import { validateValue } from './validate.ts'

/**
 * Defaults must be values that the schema itself accepts, without fields it does not know. Defaults below metadata are
 * left to the rules for metadata. CEL rules are not evaluated.
 */
export function validateDefaults(schema: Schema, path: Path): FieldError[] {
  const errors: FieldError[] = []
  visit({ ...schema, 'x-kubernetes-embedded-resource': true }, { path, inMeta: false }, errors)
  return errors
}

interface Place {
  readonly path: Path
  /** Below the apiVersion, kind or metadata of a resource. */
  readonly inMeta: boolean
}

function visit(schema: Schema, place: Place, errors: FieldError[]): void {
  const { path } = place
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const inMeta = place.inMeta && !embedded
  if (schema.default !== undefined && schema.default !== null) {
    for (const error of checkDefault(schema, { path: path.child('default'), inMeta })) errors.push(error)
  }
  if (schema.items !== undefined) visit(schema.items, { path: path.child('items'), inMeta }, errors)
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = embedded && (key === 'metadata' || key === 'apiVersion' || key === 'kind')
    visit(property, { path: path.child('properties').key(key), inMeta: inMeta || isMeta }, errors)
  }
}

function checkDefault(schema: Schema, { path, inMeta }: Place): FieldError[] {
  const value = schema.default
  const errors: FieldError[] = []
  if (!inMeta) {
    const resourceRoot = schema['x-kubernetes-embedded-resource'] === true
    if (prune(schema, deepClone(value), { resourceRoot }).length > 0) {
      errors.push(invalid(path, value, 'must not have unknown fields'))
    }
    const { error } = coerceEmbedded(schema, deepClone(value))
    if (error !== undefined) return [...errors, { ...error, field: joinField(path, error.field) }]
    const problems = validateEmbedded(schema, value, path)
    if (problems.length > 0) return [...errors, ...problems]
  }
  return [...errors, ...validateValue(schema, value, { path })]
}

function joinField(path: Path, field: string): string {
  return field === '<nil>' ? path.toString() : `${path}.${field}`
}
