import { type FieldError, forbidden, invalid, notSupported, Printed, required } from '../field/error.ts'
import type { Path } from '../field/path.ts'
import { printValue } from '../go/print-value.ts'
import type { Schema } from './schema.ts'

/** The type of a schema that has the keyword. */
const typeWith = { 'x-kubernetes-map-type': 'object', 'x-kubernetes-list-type': 'array' } as const

function wantType(schema: Schema, keyword: keyof typeof typeWith, path: Path): FieldError[] {
  const type = typeWith[keyword]
  if (schema.type === type) return []
  const detail = `must be ${type} if ${keyword} is specified`
  return [
    schema.type ? invalid(path.child('type'), schema.type, detail) : required(path.child('type'), detail),
  ]
}

export function checkMapType(schema: Schema, path: Path, errors: FieldError[]): void {
  const type: string | undefined = schema['x-kubernetes-map-type']
  if (type === undefined) return
  for (const error of wantType(schema, 'x-kubernetes-map-type', path)) errors.push(error)
  if (type !== 'atomic' && type !== 'granular') {
    errors.push(notSupported(path.child('x-kubernetes-map-type'), type, ['atomic', 'granular']))
  }
}

export function checkListType(schema: Schema, path: Path, errors: FieldError[]): void {
  const type: string | undefined = schema['x-kubernetes-list-type']
  if (type === undefined) return
  const wrong = wantType(schema, 'x-kubernetes-list-type', path)
  for (const error of wrong) errors.push(error)
  if (wrong.length === 0 && type === 'set') checkSetItems(schema.items, path.child('items'), errors)
  if (type !== 'atomic' && type !== 'set' && type !== 'map') {
    errors.push(notSupported(path.child('x-kubernetes-list-type'), type, ['atomic', 'set', 'map']))
  }
}

/** Items of a set are compared as a whole, so nothing may merge inside of them. */
function checkSetItems(items: Schema | undefined, path: Path, errors: FieldError[]): void {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const listType = items?.['x-kubernetes-list-type']
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.push(invalid(path.child('x-kubernetes-list-type'), listType, detail))
  }
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    errors.push(invalid(path.child('x-kubernetes-map-type'), listType ?? null, detail))
  }
}

export function checkListMapKeys(schema: Schema, path: Path, errors: FieldError[]): void {
  const type = schema['x-kubernetes-list-type']
  if (keysOf(schema).length > 0 && type !== 'map') {
    const at = path.child('x-kubernetes-list-type')
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(type === undefined ? required(at, detail) : invalid(at, type, detail))
  }
  if (type === 'map') checkKeys(schema, path, errors)
  const { items } = schema
  if ((type !== 'map' && type !== 'set') || items === undefined) return
  const at = path.child('items')
  if (items.nullable === true) {
    errors.push(forbidden(at.child('nullable'), `cannot be nullable when x-kubernetes-list-type is ${type}`))
  }
  if (type === 'map') checkPresence(schema, path, errors)
}

function keysOf(schema: Schema): readonly string[] {
  return schema['x-kubernetes-list-map-keys'] ?? []
}

function checkKeys(schema: Schema, path: Path, errors: FieldError[]): void {
  const { items } = schema
  const keys = keysOf(schema)
  const at = path.child('x-kubernetes-list-map-keys')
  if (keys.length === 0) errors.push(required(at, 'must not be empty if x-kubernetes-list-type is map'))
  if (items === undefined) {
    errors.push(required(path.child('items'), 'must have a schema if x-kubernetes-list-type is map'))
    return
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(invalid(path.child('items').child('type'), items.type ?? '', detail))
    return
  }
  const shown = new Printed(printValue(keys))
  const seen = new Set<string>()
  for (const key of keys) {
    const property = propertyOf(items, key)
    if (property === undefined) {
      errors.push(invalid(at, shown, 'entries must all be names of item properties'))
    } else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push(invalid(path.child('items').child('properties').key(key).child('type'), items.type, detail))
    }
    if (seen.has(key)) errors.push(invalid(at, shown, 'must not contain duplicate entries'))
    seen.add(key)
  }
}

function checkPresence(schema: Schema, path: Path, errors: FieldError[]): void {
  const items = schema.items!
  const why = 'this property is in x-kubernetes-list-map-keys, so it'
  const given = new Set(items.required)
  for (const key of keysOf(schema)) {
    const property = propertyOf(items, key)
    if (property === undefined) continue
    const at = path.child('items').child('properties').key(key)
    if (!given.has(key) && property.default === undefined) {
      errors.push(required(at.child('default'), `${why} must have a default or be a required property`))
    }
    if (property.nullable === true) errors.push(forbidden(at.child('nullable'), `${why} cannot be nullable`))
  }
}

function propertyOf(schema: Schema, key: string): Schema | undefined {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, key)
    ? schema.properties[key]
    : undefined
}
