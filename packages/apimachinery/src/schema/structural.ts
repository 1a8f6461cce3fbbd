import { type FieldError, forbidden, formatFieldError, invalid, required } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { compareCodePoints } from '../go/print-value.ts'
import type { Schema } from './schema.ts'
import { checkCompleteness, checkNested, isIntOrStringAnyOf } from './structural-nested.ts'

type Level = 'root' | 'item' | 'field'

/**
 * The rules that make a schema structural, which the schema of every CustomResourceDefinition must be: types are given
 * outside of alternatives, everything that alternatives speak of is specified, metadata is left alone. Errors are sorted
 * by their text, as upstream.
 */
export function checkStructural(schema: Schema, path: Path = Path.root): FieldError[] {
  const errors: FieldError[] = []
  checkNode(schema, 'root', path, errors)
  checkCompleteness(schema, schema, path, path, errors)
  return errors.sort((a, b) => compareCodePoints(formatFieldError(a), formatFieldError(b)))
}

function checkNode(schema: Schema, level: Level, path: Path, errors: FieldError[]): void {
  const { type, items, properties, additionalProperties } = schema
  if (type === 'array' && items === undefined) errors.push(required(path.child('items'), 'must be specified'))
  if (items !== undefined) checkNode(items, 'item', path.child('items'), errors)
  for (const [key, property] of Object.entries(properties ?? {})) {
    checkNode(property, 'field', path.child('properties').key(key), errors)
  }
  if (additionalProperties !== undefined) {
    const at = path.child('additionalProperties')
    if (level === 'root') errors.push(forbidden(at, 'must not be used at the root'))
    if (typeof additionalProperties === 'object') checkNode(additionalProperties, 'field', at, errors)
  }
  checkExtensions(schema, path, errors)
  checkNested(
    schema,
    {
      skipAnyOf: isIntOrStringAnyOf(schema.anyOf),
      skipFirstAllOfAnyOf: isIntOrStringAnyOf(schema.allOf?.[0]?.anyOf),
    },
    path,
    errors,
  )
  checkType(schema, level, path, errors)
  checkMetadata(schema, level, path, errors)
}

function checkExtensions(schema: Schema, path: Path, errors: FieldError[]): void {
  if (schema['x-kubernetes-int-or-string'] !== true) return
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[name] === true) {
      errors.push(invalid(path.child(name), true, 'must be false if x-kubernetes-int-or-string is true'))
    }
  }
}

const emptyType: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function checkType(schema: Schema, level: Level, path: Path, errors: FieldError[]): void {
  const { type } = schema
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true
  const at = path.child('type')
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === undefined ? required(at, detail) : invalid(at, type, detail))
  } else if (type === undefined && schema['x-kubernetes-int-or-string'] !== true && !preserve) {
    errors.push(required(at, emptyType[level]))
  }
  if (embedded && schema.additionalProperties !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set'
    errors.push(forbidden(path.child('additionalProperties'), detail))
  }
  if (level === 'root' && type !== undefined && type !== 'object') {
    errors.push(invalid(at, type, 'must be object at the root'))
  }
  if (embedded && !preserve && Object.keys(schema.properties ?? {}).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(required(path.child('properties'), detail))
  }
}

function checkMetadata(schema: Schema, level: Level, path: Path, errors: FieldError[]): void {
  const properties = schema.properties ?? {}
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true
  for (const key of ['kind', 'apiVersion']) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (property !== undefined && isResource && property.type !== 'string') {
      errors.push(
        invalid(path.child('properties').key(key).child('type'), property.type ?? '', 'must be string'),
      )
    }
  }
  if (!Object.hasOwn(properties, 'metadata')) return
  const metadata = properties.metadata!
  const at = path.child('properties').key('metadata')
  if (isResource && metadata.type !== 'object') {
    errors.push(invalid(at.child('type'), metadata.type ?? '', 'must be object'))
  }
  if (level === 'root' && !restrictsNamesOnly(metadata)) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(forbidden(at, detail))
  }
}

function restrictsNamesOnly(metadata: Schema): boolean {
  const { type: _type, default: _default, properties, ...rest } = metadata
  const names = Object.keys(properties ?? {})
  return Object.keys(rest).length === 0 && names.every(name => name === 'name' || name === 'generateName')
}
