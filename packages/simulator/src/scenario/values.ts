import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Schema } from '@coxswain/apimachinery/schema'

/** Fields of built-in types are not varied: their own controllers are not what is tested. */
const samples: Readonly<Record<string, unknown>> = {
  Container: { name: 'main', image: 'busybox' },
  PodSpec: { containers: [{ name: 'main', image: 'busybox' }], restartPolicy: 'OnFailure' },
  PodTemplateSpec: { spec: { containers: [{ name: 'main', image: 'busybox' }], restartPolicy: 'OnFailure' } },
  JobTemplateSpec: {
    spec: {
      template: { spec: { containers: [{ name: 'main', image: 'busybox' }], restartPolicy: 'OnFailure' } },
    },
  },
}

/** Strings that fields of certain names and descriptions take. The clock of a simulation starts in 2030. */
const texts: readonly { readonly field: RegExp; readonly values: readonly string[] }[] = [
  {
    field: /RFC ?3339|date-time/i,
    values: ['2030-01-01T00:00:20Z', '2019-07-03T02:00:00Z', '2030-01-01T00:03:00Z'],
  },
  { field: /cron/i, values: ['*/5 * * * *', '0 0 1 1 *'] },
  { field: /image/i, values: ['busybox', 'nginx:1.29', 'nginx:1.30'] },
  { field: /cidr/i, values: ['10.1.0.0/16', '10.2.0.0/16'] },
  { field: /gateway|address|\bip\b/i, values: ['10.1.0.1', '10.1.0.2'] },
  { field: /host|domain/i, values: ['a.example.com', 'b.example.com'] },
  { field: /url|endpoint/i, values: ['https://a.example.com', 'https://b.example.com'] },
  { field: /duration|interval|timeout/i, values: ['10s', '1m'] },
  { field: /quantity|storage|memory/i, values: ['1Gi', '2Gi'] },
  { field: /cpu/i, values: ['100m', '1'] },
]

const words: readonly string[] = ['a', 'b', 'c']
const deepest = 4

/** Values of a field, the simplest first. At least one. */
export function valuesOf(schema: Schema, name = '', depth = 0): unknown[] {
  const type = schema.name?.split('.').at(-1)
  if (type !== undefined && samples[type] !== undefined) return [samples[type]]
  if (schema.enum) return schema.enum.filter(value => value !== null)
  const first = schema.default ?? schema.example
  const others = valuesByType(schema, name, depth)
  return first === undefined ? others : [first, ...others.filter(each => !isSame(each, first))]
}

function valuesByType(schema: Schema, name: string, depth: number): unknown[] {
  if (schema['x-kubernetes-int-or-string']) return [1, '50%']
  switch (schema.type) {
    case 'boolean':
      return [false, true]
    case 'integer':
    case 'number':
      return numbersOf(schema)
    case 'string':
      return stringsOf(schema, name)
    case 'array':
      return listsOf(schema, name, depth)
    case 'object':
      return objectsOf(schema, depth)
    default:
      return [{}]
  }
}

/** Small numbers within the bounds: in the middle, up, down, and the bounds themselves. */
function numbersOf({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf = 1,
}: Schema): number[] {
  const low = minimum === undefined ? 0 : minimum + (exclusiveMinimum ? multipleOf : 0)
  const high = maximum === undefined ? Math.max(low, 5) : maximum - (exclusiveMaximum ? multipleOf : 0)
  const wanted = [1, 3, 2, low, Math.min(high, low + 5)]
  return unique(
    wanted.map(value => Math.min(high, Math.max(low, Math.ceil(value / multipleOf) * multipleOf))),
  )
}

function stringsOf(
  { format, description = '', pattern, minLength = 0, maxLength }: Schema,
  name: string,
): string[] {
  const hint = `${name} ${format ?? ''} ${description}`
  const known = texts.find(({ field }) => field.test(hint))?.values ?? []
  const literals = /^\^?\(?([a-zA-Z0-9|-]+)\)?\$?$/.exec(pattern ?? '')?.[1]?.split('|') ?? []
  const sized = words.map(word => word.padEnd(minLength, word).slice(0, maxLength))
  const all = unique([...literals, ...known, ...sized])
  if (pattern === undefined) return all
  const fitting = all.filter(value => isFitting(pattern, value))
  return fitting.length > 0 ? fitting : all
}

/** Patterns of a schema are RE2; one that JavaScript cannot read is left to the server. */
function isFitting(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value)
  } catch {
    return true
  }
}

function listsOf(schema: Schema, name: string, depth: number): unknown[] {
  const { items = {}, minItems = 0, maxItems = 3 } = schema
  const members = depth >= deepest ? [] : valuesOf(items, name, depth + 1)
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const nth = (index: number): unknown => {
    const member = members[index % Math.max(1, members.length)] ?? words[index % words.length]!
    if (keys.length === 0 || !isObject(member)) return member
    return { ...member, ...Object.fromEntries(keys.map(key => [key, words[index % words.length]!])) }
  }
  const least = isObject(members[0]) ? Math.max(1, minItems) : minItems
  const lengths = unique(
    [Math.max(1, minItems), 2, least].map(length => Math.min(maxItems, Math.max(minItems, length))),
  )
  return lengths.map(length => Array.from({ length }, (_, index) => nth(index)))
}

function objectsOf(schema: Schema, depth: number): unknown[] {
  const { additionalProperties } = schema
  if (isObject(additionalProperties)) {
    const [first = 'a', second = first] = valuesOf(additionalProperties as Schema, '', depth + 1)
    return [{ a: first }, { a: second, b: first }, {}]
  }
  const base = baseOf(schema, depth)
  return [base, ...changesOf(schema, depth).map(change => withChange(base, change))]
}

/** An object with all of its fields, except optional ones of built-in types. */
export function baseOf({ properties = {}, required = [] }: Schema, depth = 0): JsonObject {
  const object: JsonObject = {}
  for (const [name, schema] of Object.entries(properties)) {
    const isNeeded = required.includes(name)
    if (!isNeeded && (schema.name !== undefined || depth >= deepest)) continue
    object[name] = valuesOf(schema, name, depth + 1)[0]!
  }
  return object
}

/** One field that gets another value; undefined removes it. */
export interface FieldChange {
  readonly path: readonly string[]
  readonly value: unknown
}

/** Other values of single fields, field by field: the first other value of each, then the second, ... */
export function changesOf(schema: Schema, depth = 0): FieldChange[] {
  const { properties = {}, required = [] } = schema
  if (depth >= deepest) return []
  const columns = Object.entries(properties).map(([name, field]): FieldChange[] => {
    if (field.name !== undefined) return []
    if (field.type === 'object' && field.properties)
      return changesOf(field, depth + 1).map(({ path, value }) => ({ path: [name, ...path], value }))
    const others = valuesOf(field, name, depth + 1).slice(1)
    const changes: FieldChange[] = others.map(value => ({ path: [name], value }))
    if (!required.includes(name)) changes.push({ path: [name], value: undefined })
    return changes
  })
  const changes: FieldChange[] = []
  for (let row = 0; columns.some(column => row < column.length); row++)
    for (const column of columns) for (const change of column.slice(row, row + 1)) changes.push(change)
  return changes
}

export function withChange(object: JsonObject, { path: [name, ...rest], value }: FieldChange): JsonObject {
  if (name === undefined) return object
  const { [name]: present, ...others } = object
  if (rest.length > 0)
    return {
      ...object,
      [name]: withChange(isObject(present) ? (present as JsonObject) : {}, { path: rest, value }),
    }
  return value === undefined ? others : { ...object, [name]: value }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

function unique<T>(values: readonly T[]): T[] {
  return values.filter((value, index) => values.findIndex(each => isSame(each, value)) === index)
}
