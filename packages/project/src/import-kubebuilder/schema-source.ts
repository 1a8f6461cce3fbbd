import { deepEqual } from '@coxswain/apimachinery/json'
import { type Builder, s } from '@coxswain/apimachinery/kinds'
import type { Schema } from '@coxswain/apimachinery/schema'
import { comparableSchema } from '../definitions/comparable.ts'
import { printKey } from '../source/identifier.ts'
import { printValue } from '../source/print-value.ts'

/** A builder and the source that makes it: the two are made by the same calls, so they cannot differ. */
export interface BuilderSource {
  readonly code: string
  readonly builder: Builder
}

type Presence = 'required' | 'optional'

/**
 * The `s` expression of a schema. A part that no builder says is `s.schema(...)`. `indent` is that of the line it begins on.
 */
export function printSchema(schema: Schema, presence: Presence, indent: string): BuilderSource {
  const value = printNode(schema, indent)
  if (schema.default !== undefined) return call(value, 'default', schema.default)
  return presence === 'optional' ? call(value, 'optional') : value
}

function printNode(schema: Schema, indent: string): BuilderSource {
  const { default: _default, ...plain } = schema
  const made = decorate(baseOf(plain, indent), plain)
  if (deepEqual(comparableSchema(made.builder.schema), comparableSchema(plain))) return made
  const { description, ...rest } = plain
  const escaped: BuilderSource = {
    code: `s.schema<${typeOf(rest)}>(${printValue(rest, indent)})`,
    builder: s.schema(rest),
  }
  return description === undefined ? escaped : call(escaped, 'doc', description)
}

function call(source: BuilderSource, method: string, ...args: readonly unknown[]): BuilderSource {
  const methods = source.builder as unknown as Record<string, (...args: readonly unknown[]) => Builder>
  return {
    code: `${source.code}.${method}(${args.map(arg => printValue(arg)).join(', ')})`,
    builder: methods[method]!.call(source.builder, ...args),
  }
}

/** A builder by its name in `s`, with plain arguments. */
function make(name: string, ...args: readonly unknown[]): BuilderSource {
  const builders = s as unknown as Record<string, (...args: readonly unknown[]) => Builder>
  const given = args.filter(arg => !isEmpty(arg))
  return {
    code: `s.${name}(${given.map(arg => printValue(arg)).join(', ')})`,
    builder: builders[name]!(...given),
  }
}

function isEmpty(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  )
}

function pick(schema: Schema, ...keywords: readonly (keyof Schema)[]): Partial<Schema> {
  return Object.fromEntries(keywords.flatMap(key => (schema[key] === undefined ? [] : [[key, schema[key]]])))
}

const textOptions = ['minLength', 'maxLength', 'pattern', 'format'] as const
const numberOptions = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const

function baseOf(schema: Schema, indent: string): BuilderSource {
  if (schema['x-kubernetes-int-or-string'] === true)
    return schema.pattern === s.quantity().schema.pattern ? make('quantity') : make('intOrString')
  switch (schema.type) {
    case 'string':
      return stringSource(schema)
    case 'boolean':
      return make('boolean')
    case 'integer':
      return make(schema.format === 'int64' ? 'int64' : 'int32', pick(schema, ...numberOptions))
    case 'number':
      return make('number', pick(schema, ...numberOptions))
    case 'array':
      return listSource(schema, indent)
    case 'object':
      return objectSource(schema, indent)
    default:
      return make('any')
  }
}

function stringSource(schema: Schema): BuilderSource {
  if (schema.enum?.every(value => typeof value === 'string')) return make('enumOf', ...schema.enum)
  if (schema.format === 'date-time') return make('time')
  if (schema.format === 'byte') return make('bytes')
  return make('string', pick(schema, ...textOptions))
}

function listSource(schema: Schema, indent: string): BuilderSource {
  const { items = {} } = schema
  const options = pick(schema, 'minItems', 'maxItems')
  const last = isEmpty(options) ? '' : `, ${printValue(options)}`
  const conditions = s.conditions()
  if (deepEqual(comparableSchema(conditions.schema), comparableSchema(schema))) return make('conditions')
  const item = printNode(items, indent)
  if (schema['x-kubernetes-list-type'] === 'map') {
    const keys = schema['x-kubernetes-list-map-keys'] ?? []
    return {
      code: `s.listMap(${printValue(keys)}, ${item.code}${last})`,
      builder: s.listMap(keys as readonly [never], item.builder, options),
    }
  }
  return schema['x-kubernetes-list-type'] === 'set'
    ? { code: `s.set(${item.code}${last})`, builder: s.set(item.builder, options) }
    : { code: `s.list(${item.code}${last})`, builder: s.list(item.builder, options) }
}

function objectSource(schema: Schema, indent: string): BuilderSource {
  if (schema['x-kubernetes-embedded-resource'] === true) return make('embedded')
  if (typeof schema.additionalProperties === 'object') {
    const options = pick(schema, 'minProperties', 'maxProperties')
    const value = printNode(schema.additionalProperties, indent)
    const last = isEmpty(options) ? '' : `, ${printValue(options)}`
    return { code: `s.map(${value.code}${last})`, builder: s.map(value.builder, options) }
  }
  if (schema.properties === undefined && schema['x-kubernetes-preserve-unknown-fields'] === true)
    return make('anyObject')
  return printFields(schema, indent)
}

/** The fields of an object as `s.object({ ... })`. */
function printFields({ properties = {}, required = [] }: Schema, indent: string): BuilderSource {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, property]) => {
    const presence = required.includes(name) ? 'required' : 'optional'
    return [name, printSchema(property, presence, inner)] as const
  })
  const lines = fields.map(([name, { code }]) => `${inner}${fieldKey(name)}: ${code},\n`)
  return {
    code: fields.length === 0 ? 's.object({})' : `s.object({\n${lines.join('')}${indent}})`,
    builder: s.object(Object.fromEntries(fields.map(([name, { builder }]) => [name, builder]))),
  }
}

export function fieldKey(name: string): string {
  return name === '__proto__' ? "['__proto__']" : printKey(name)
}

/** What every value, and every object, may say beside its base. */
function decorate(base: BuilderSource, schema: Schema): BuilderSource {
  let made = base
  const add = (method: string, ...args: readonly unknown[]): void => {
    made = call(made, method, ...args)
  }
  const isRecord = schema.type === 'object' && made.code.startsWith('s.object')
  if (isRecord) {
    if (schema['x-kubernetes-map-type'] === 'atomic') add('atomic')
    if (schema['x-kubernetes-preserve-unknown-fields'] === true) add('preserveUnknownFields')
    if (schema.minProperties !== undefined) add('minProperties', schema.minProperties)
    if (schema.maxProperties !== undefined) add('maxProperties', schema.maxProperties)
  }
  for (const { rule, ...options } of schema['x-kubernetes-validations'] ?? [])
    isEmpty(options) ? add('cel', rule) : add('cel', rule, options)
  if (schema.title !== undefined) add('title', schema.title)
  if (schema.description !== undefined) add('doc', schema.description)
  if (schema.nullable === true) add('nullable')
  return made
}

/** The type of a value whose schema is written out. */
function typeOf(schema: Schema): string {
  switch (schema.type) {
    case 'string':
    case 'boolean':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return 'unknown[]'
    case 'object':
      return '{ [key: string]: unknown }'
    default:
      return schema['x-kubernetes-int-or-string'] === true ? 'number | string' : 'unknown'
  }
}
