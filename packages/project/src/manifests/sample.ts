import { compileSchema, type Schema } from '@coxswain/apimachinery/schema'

/** How deep a sample goes into required fields. */
const deepest = 32

/**
 * A value that a schema accepts, as short as it can be: examples, defaults and first enum values, the least number and length, and of
 * objects only what is required. Undefined for a schema that says nothing.
 */
export function sampleOf(schema: Schema, depth: number = 0): unknown {
  if (depth > deepest) return undefined
  if (schema.example !== undefined) return schema.example
  if (schema.default !== undefined && schema.default !== null) return schema.default
  const [first] = schema.enum ?? []
  if (first !== undefined) return first
  switch (schema.type) {
    case 'string':
      return sampleText(schema)
    case 'integer':
    case 'number':
      return sampleNumber(schema)
    case 'boolean':
      return true
    case 'array':
      return sampleList(schema, depth)
    case 'object':
      return sampleObject(schema, depth)
    default:
      return schema['x-kubernetes-int-or-string'] === true ? sampleIntOrString(schema) : {}
  }
}

function sampleObject(schema: Schema, depth: number): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties, minProperties = 0 } = schema
  const chosen = new Set([...required, ...chosenOf(schema)])
  if (schema['x-kubernetes-embedded-resource'] === true) for (const name of embeddedFields) chosen.add(name)
  const members: [string, unknown][] = []
  for (const [name, property] of Object.entries(properties)) {
    if (chosen.size + members.length < Number(minProperties) && !chosen.has(name)) chosen.add(name)
    if (!chosen.has(name)) continue
    members.push([name, sampleOf(property, depth + 1)])
    chosen.delete(name)
  }
  for (const name of chosen) if (embedded[name] !== undefined) members.push([name, embedded[name]])
  for (let index = 1; members.length < Number(minProperties); index++) {
    const value = typeof additionalProperties === 'object' ? sampleOf(additionalProperties, depth + 1) : {}
    members.push([`key-${index}`, value])
  }
  return Object.fromEntries(members)
}

/** The least that a server accepts as an embedded resource. */
const embedded: Readonly<Record<string, unknown>> = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'example' },
}
const embeddedFields = Object.keys(embedded)

const countRule = /^(?:(?:\(has\(self\.\w+\)\?1:0\)\+?)+ == 1|(?:has\(self\.\w+\)(?:\|\|)?)+)$/

/** The first field of each union: one has to be set. */
function chosenOf(schema: Schema): string[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule }) => {
    const name = countRule.test(rule) ? /self\.(\w+)/.exec(rule)?.[1] : undefined
    return name && schema.properties && Object.hasOwn(schema.properties, name) ? [name] : []
  })
}

function sampleList({ items, minItems = 0, ...schema }: Schema, depth: number): unknown[] {
  const count = Number(minItems)
  if (items === undefined || count === 0) return []
  const list = Array.from({ length: Math.min(count, 100) }, () => sampleOf(items, depth + 1))
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const isSet = schema['x-kubernetes-list-type'] === 'set' || schema.uniqueItems === true
  if (isSet) return list.map((item, index) => numbered(item, index, items))
  const [key] = keys
  if (key === undefined) return list
  return list.map((item, index) => {
    const members = item as Record<string, unknown>
    return { ...members, [key]: numbered(members[key], index, items.properties?.[key] ?? {}) }
  })
}

/** Makes the items of a set differ. */
function numbered(value: unknown, index: number, schema: Schema): unknown {
  if (index === 0) return value
  const other = schema.enum?.[index]
  if (other !== undefined) return other
  return typeof value === 'number' ? value + index : `${String(value)}${index + 1}`
}

function sampleNumber(schema: Schema): number {
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum, type } = schema
  const step = Number(multipleOf ?? 1)
  const low = minimum === undefined ? undefined : Number(minimum)
  const high = maximum === undefined ? undefined : Number(maximum)
  if (low !== undefined) {
    const least = Math.ceil(low / step) * step
    const value = exclusiveMinimum === true && least <= low ? least + step : least
    const fits = high === undefined || value < high || (value === high && exclusiveMaximum !== true)
    return fits || type === 'integer' || high === undefined ? value : (low + high) / 2
  }
  if (high !== undefined && high < step) {
    const most = Math.floor(high / step) * step
    return exclusiveMaximum === true && most >= high ? most - step : most
  }
  return step
}

const formatSamples: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  duration: '1h',
  byte: 'ZXhhbXBsZQ==',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  cidr: '192.0.2.0/24',
  mac: '00:00:5e:00:53:01',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/** What patterns are usually about. */
const usualTexts = [
  'example',
  'Example',
  'a',
  'A',
  '1',
  '1h',
  '1s',
  '50%',
  '1Gi',
  '100m',
  'v1',
  '1.0.0',
  'v1.0.0',
  'example.com',
  'example/example',
  'example.com/example',
  'https://example.com',
  'http://example.com',
  'example:1',
  'key=value',
  '192.0.2.1',
  '192.0.2.0/24',
  '/',
  '/example',
  'us-east-1',
  '*/5 * * * *',
  '2026-01-01',
  '#000000',
  'ABC',
  '12345',
  'arn:aws:iam::123456789012:role/example',
  'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'user@example.com',
]

function sampleText(schema: Schema): string {
  const { format, minLength = 0, maxLength = 1_000 } = schema
  const known =
    format !== undefined && Object.hasOwn(formatSamples, format) ? formatSamples[format] : undefined
  const usual = known === undefined ? usualTexts : [known, ...usualTexts]
  const long = 'example'.padEnd(Math.min(Number(minLength), 1_000), 'e').slice(0, Number(maxLength))
  const { validateValue } = compileSchema(schema)
  return [...usual, long].find(text => validateValue(text).length === 0) ?? long
}

function sampleIntOrString({ minimum, pattern }: Schema): unknown {
  return pattern !== undefined ? '1' : Number(minimum ?? 1)
}
