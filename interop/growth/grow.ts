import type { Schema } from '@coxswain/apimachinery/schema'
import { mapKey, type Spot } from './spots.ts'

/**
 * What a spot is filled with: elements that are all alike, that all differ, or that are as small and as wrong as can be.
 */
export type Filling = 'equal' | 'distinct' | 'bare' | 'long' | 'numbers' | 'separators'

export const fillings: Readonly<Record<Spot['form'], readonly Filling[]>> = {
  list: ['distinct', 'equal', 'bare'],
  map: ['distinct', 'bare'],
  string: ['long', 'numbers', 'separators'],
}

type Value = unknown
interface Json {
  [key: string]: Value
}

/** Values that strings of a name have to be one of, or to look like; `#` becomes a number where values are to differ. */
const hints: Readonly<Record<string, string>> = {
  accessModes: 'ReadWriteOnce',
  address: '10.0.0.1',
  addresses: '10.0.0.1',
  addressType: 'IPv4',
  apiGroup: 'rbac.authorization.k8s.io',
  apiGroups: 'g#',
  apiVersion: 'apps/v1',
  apiVersions: 'v#',
  cidr: '10.0.0.0/8',
  effect: 'NoSchedule',
  expression: 'true',
  host: 'h#.example.com',
  hostname: 'h#',
  image: 'i#',
  ip: '10.0.0.1',
  key: 'k#',
  kind: 'User',
  messageExpression: '"a"',
  mountPath: '/m#',
  name: 'n#',
  nonResourceURLs: '/u#',
  operations: 'CREATE',
  operator: 'In',
  path: '/p#',
  pathType: 'Prefix',
  policyTypes: 'Ingress',
  protocol: 'TCP',
  resources: 'r#',
  rule: 'true',
  scope: '*',
  status: 'True',
  topologyKey: 't#',
  type: 'T#',
  uid: 'u#',
  url: 'https://h#.example.com',
  values: 'v#',
  verbs: 'verb#',
  whenUnsatisfiable: 'DoNotSchedule',
}

const listSamples: Readonly<Record<string, string>> = { finalizers: 'example.com/f#', conditions: 'C#' }

/** The smallest value of a schema that may be right. Numbers in it are `index`. */
export function makeValue(schema: Schema, name: string, index: number | string): Value {
  if (schema.enum) return schema.enum[0]
  if (schema['x-kubernetes-int-or-string']) return 1
  switch (schema.type) {
    case 'string':
      return makeString(schema, name, index)
    case 'integer':
    case 'number':
      return (Number(index) % 60_000) + 1
    case 'boolean':
      return true
    case 'array':
      return [makeValue(schema.items ?? {}, name, index)]
    default:
      return makeObject(schema, index)
  }
}

function makeString({ format, name: type }: Schema, name: string, index: number | string): string {
  if (format === 'date-time') return '2026-01-01T00:00:00Z'
  if (format === 'quantity' || type?.endsWith('.Quantity')) return '1'
  if (format === 'byte') return 'YQ=='
  return (listSamples[name] ?? hints[name] ?? `${name.slice(0, 3).toLowerCase()}#`).replace(
    '#',
    String(index),
  )
}

function makeObject(schema: Schema, index: number | string): Json {
  const { properties = {} } = schema
  const switches = Object.keys(properties).filter(name => properties[name]?.type === 'boolean')
  const names = new Set([...(schema.required ?? []), ...keysOf(schema), ...switches])
  if (names.size === 0) {
    for (const [name, child] of Object.entries(properties))
      if (names.size < 3 && (child.type === 'string' || child.type === 'integer')) names.add(name)
  }
  const made: Json = {}
  for (const name of names) if (properties[name]) made[name] = makeValue(properties[name], name, index)
  if (names.size === 0 && typeof schema.additionalProperties === 'object')
    made[mapKey] = makeValue(schema.additionalProperties, mapKey, index)
  return made
}

/** The members that make up an element's identity in most lists. */
function keysOf({ properties = {} }: Schema): string[] {
  return [
    'key',
    'name',
    'type',
    'operator',
    'effect',
    'port',
    'containerPort',
    'protocol',
    'ip',
    'uid',
  ].filter(name => properties[name])
}

const placeholder = '@grown@'

/**
 * `sample` with the spot filled up to about `bytes` of JSON. `turn` makes a second object differ from the first in all
 * elements where the filling lets them differ at all, and in their order where not.
 */
export function grow(
  sample: object,
  spot: Spot,
  { filling, bytes, turn = 0 }: { filling: Filling; bytes: number; turn?: number },
): Uint8Array {
  const object = structuredClone(sample) as Json
  place(object, spot)
  const text = JSON.stringify(object)
  return new TextEncoder().encode(
    text.replace(`"${placeholder}"`, () => fill(spot, filling, { bytes: bytes - text.length, turn })),
  )
}

function place(object: Json, { steps }: Spot): void {
  let holder: Json = object
  for (const [depth, { key, schema }] of steps.entries()) {
    if (depth === steps.length - 1) {
      holder[key] = placeholder
      return
    }
    let next = holder[key]
    if (typeof next !== 'object' || next === null) {
      next = makeValue(schema, String(key), 0)
      if (typeof next !== 'object') next = {}
      holder[key] = next
    }
    holder = next as Json
  }
}

function fill(
  { steps, schema, form }: Spot,
  filling: Filling,
  { bytes, turn }: { bytes: number; turn: number },
): string {
  const name = String(steps.findLast(({ key }) => key !== 0)?.key ?? '')
  if (form === 'string') {
    const unit = filling === 'numbers' ? '1' : filling === 'separators' ? ' -./,:=*' : 'a'
    const end = turn === 0 ? '' : 'b'
    return JSON.stringify(unit.repeat(Math.max(1, bytes / unit.length)) + end)
  }
  if (form === 'list') {
    const item = schema.items ?? {}
    const element = (index: number): string => {
      if (filling === 'bare') return bareOf(item)
      return JSON.stringify(makeValue(item, name, filling === 'equal' ? 0 : index))
    }
    return `[${repeat(element, bytes, turn)}]`
  }
  const value =
    typeof schema.additionalProperties === 'object'
      ? schema.additionalProperties
      : { type: 'string' as const }
  const member = (index: number): string =>
    filling === 'bare'
      ? `"/${index}":${bareOf(value)}`
      : `"k${index}":${JSON.stringify(makeValue(value, 'value', index))}`
  return `{${repeat(member, bytes, turn)}}`
}

function bareOf({ type, properties, additionalProperties }: Schema): string {
  if (type === 'array') return '[]'
  if (type === 'string') return '"!"'
  if (type === 'boolean') return 'true'
  if (properties || additionalProperties || type === 'object') return '{}'
  return '0'
}

function repeat(element: (index: number) => string, bytes: number, turn: number): string {
  const parts: string[] = []
  let length = 0
  for (let index = turn * 10_000_000; ; index++) {
    const part = element(index)
    length += part.length + 1
    if (length > bytes && parts.length > 0) break
    parts.push(part)
  }
  return parts.join(',')
}
