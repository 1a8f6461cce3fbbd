import { isObject, setMember } from '@coxswain/apimachinery/json'
import type { Schema } from '@coxswain/apimachinery/schema'
import { ProjectError } from '../errors.ts'

/** Deeper than any server accepts; bounds the recursion of everything that walks a schema. */
const maxDepth = 200

type Form =
  | 'text'
  | 'flag'
  | 'number'
  | 'texts'
  | 'value'
  | 'values'
  | 'schema'
  | 'schemas'
  | 'properties'
  | 'schemaOrFlag'
  | 'docs'
  | 'rules'

/** The keywords that a CRD may have. Servers drop all others. */
const forms: Readonly<Record<keyof Omit<Schema, BuiltInOnly>, Form>> = {
  type: 'text',
  format: 'text',
  title: 'text',
  description: 'text',
  default: 'value',
  example: 'value',
  nullable: 'flag',
  enum: 'values',
  properties: 'properties',
  required: 'texts',
  additionalProperties: 'schemaOrFlag',
  items: 'schema',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'flag',
  exclusiveMaximum: 'flag',
  multipleOf: 'number',
  minLength: 'number',
  maxLength: 'number',
  pattern: 'text',
  minItems: 'number',
  maxItems: 'number',
  uniqueItems: 'flag',
  minProperties: 'number',
  maxProperties: 'number',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  externalDocs: 'docs',
  'x-kubernetes-preserve-unknown-fields': 'flag',
  'x-kubernetes-embedded-resource': 'flag',
  'x-kubernetes-int-or-string': 'flag',
  'x-kubernetes-list-type': 'text',
  'x-kubernetes-list-map-keys': 'texts',
  'x-kubernetes-map-type': 'text',
  'x-kubernetes-validations': 'rules',
}

type BuiltInOnly = 'name' | 'x-kubernetes-patch-strategy' | 'x-kubernetes-patch-merge-key'

const formOf = new Map<string, Form>(Object.entries(forms))

/** Reads a CRD's schema: every keyword has the form it must have, unknown ones are dropped as servers drop them. */
export function readSchema(value: unknown, path: string): Schema {
  return readNode(value, path, 0)
}

function readNode(value: unknown, path: string, depth: number): Schema {
  if (depth > maxDepth) fail(path, `is nested more than ${maxDepth} levels deep`)
  if (!isObject(value)) return fail(path, 'must be an object')
  const schema: Record<string, unknown> = {}
  for (const [keyword, member] of Object.entries(value)) {
    const form = formOf.get(keyword)
    if (form === undefined || member === undefined || member === null) continue
    schema[keyword] = readMember(form, member, { path: `${path}.${keyword}`, depth })
  }
  return schema
}

interface Place {
  readonly path: string
  readonly depth: number
}

function readMember(form: Form, value: unknown, { path, depth }: Place): unknown {
  switch (form) {
    case 'text':
      return typeof value === 'string' ? value : fail(path, 'must be a string')
    case 'flag':
      return typeof value === 'boolean' ? value : fail(path, 'must be true or false')
    case 'number':
      // Servers read bounds as doubles, too.
      return typeof value === 'number' || typeof value === 'bigint'
        ? Number(value)
        : fail(path, 'must be a number')
    case 'texts':
      return listOf(value, path).map((item, index) =>
        typeof item === 'string' ? item : fail(`${path}[${index}]`, 'must be a string'),
      )
    case 'value':
      return value
    case 'values':
      return listOf(value, path)
    case 'schema':
      return readNode(value, path, depth + 1)
    case 'schemas':
      return listOf(value, path).map((item, index) => readNode(item, `${path}[${index}]`, depth + 1))
    case 'properties':
      return readProperties(value, { path, depth })
    case 'schemaOrFlag':
      return typeof value === 'boolean' ? value : readNode(value, path, depth + 1)
    case 'docs':
      return isObject(value) ? value : fail(path, 'must be an object')
    case 'rules':
      return listOf(value, path).map((item, index) =>
        isObject(item) && typeof item.rule === 'string'
          ? item
          : fail(`${path}[${index}]`, 'must be an object with a rule'),
      )
  }
}

function readProperties(value: unknown, { path, depth }: Place): Record<string, Schema> {
  if (!isObject(value)) return fail(path, 'must be an object')
  const properties: Record<string, Schema> = {}
  for (const [name, property] of Object.entries(value))
    setMember(properties, name, readNode(property, `${path}.${name}`, depth + 1))
  return properties
}

export function listOf(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : fail(path, 'must be a list')
}

export function fail(path: string, problem: string): never {
  throw new ProjectError('BadDefinition', `${path} ${problem}`)
}
