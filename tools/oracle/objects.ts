/**
 * Random objects of a schema, small and from few values, so that two of them often have the same keys.
 */
import type { Random } from '@coxswain/kit'
import type { Schema } from '../../packages/apimachinery/src/schema/schema.ts'
import { resolveSchema } from '../../packages/apimachinery/src/schema/schema-walk.ts'

export type Json = Record<string, unknown>

/** Fields that say which object or element this is: changes are about something else. */
const identifying = new Set([
  'apiVersion',
  'kind',
  'name',
  'type',
  'port',
  'containerPort',
  'ip',
  'uid',
  'mountPath',
])
const words = ['a', 'b', 'c', 'd', 'e']

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)]!
}

export function chance(random: Random, probability: number): boolean {
  return random.next() < probability
}

export function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const items = list.slice()
  for (let i = items.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    const item = items[i]!
    items[i] = items[j]!
    items[j] = item
  }
  return items
}

/** What makes a list's elements distinct. */
export function keysOf(list: Schema): readonly string[] {
  const mergeKey = list['x-kubernetes-patch-merge-key']
  return list['x-kubernetes-list-map-keys'] ?? (mergeKey === undefined ? [] : [mergeKey])
}

export function isMergedList(schema: Schema | undefined): boolean {
  const strategy = schema?.['x-kubernetes-patch-strategy'] ?? ''
  const type = schema?.['x-kubernetes-list-type']
  return strategy.includes('merge') || type === 'map' || type === 'set'
}

/** How much a field is worth trying: what leads to merged lists first. */
function weightOf(schema: Schema | undefined, depth: number): number {
  const node = resolveSchema(schema)
  if (isMergedList(schema)) return 8
  if (schema?.['x-kubernetes-patch-strategy'] !== undefined) return 8
  if (depth > 0 && node?.properties !== undefined) {
    return Object.values(node.properties).some(inner => weightOf(inner, depth - 1) > 3) ? 4 : 1
  }
  return 1
}

export function pickFields(random: Random, schema: Schema, count: number): string[] {
  const names = Object.keys(schema.properties ?? {}).filter(
    name => !['apiVersion', 'kind', 'managedFields', 'creationTimestamp', 'deletionTimestamp'].includes(name),
  )
  const chosen = new Set<string>()
  const weights = names.map(name => weightOf(schema.properties?.[name], 3))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  for (let i = 0; i < count && total > 0; i++) {
    let at = random.next() * total
    const index = weights.findIndex(weight => {
      at -= weight
      return at < 0
    })
    chosen.add(names[Math.max(index, 0)]!)
  }
  return [...chosen]
}

export function randomValue(random: Random, schema: Schema | undefined, budget: number): unknown {
  const node = resolveSchema(schema)
  if (node?.items !== undefined) return randomList(random, node, budget)
  if (node?.properties !== undefined) return randomObject(random, node, budget)
  if (node?.type === 'object') return randomMap(random, node, budget)
  if (node?.type === 'integer') return random.below(3)
  if (node?.type === 'boolean') return chance(random, 0.5)
  if (node?.type === 'number') return random.below(4) / 2
  if (node?.['x-kubernetes-int-or-string'] || node?.format === 'int-or-string') {
    return chance(random, 0.5) ? random.below(3) : pick(random, words)
  }
  return pick(random, words)
}

export function randomObject(random: Random, schema: Schema, budget: number): Json {
  const object: Json = {}
  const count = budget <= 0 ? 1 : 1 + random.below(3)
  for (const name of pickFields(random, schema, count)) {
    const inner = schema.properties?.[name]
    const isNested =
      resolveSchema(inner)?.properties !== undefined || resolveSchema(inner)?.items !== undefined
    if (budget <= 0 && isNested) continue
    object[name] = randomValue(random, inner, budget - 1)
  }
  return object
}

function randomMap(random: Random, schema: Schema, budget: number): Json {
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  const map: Json = {}
  for (let i = random.below(3); i >= 0; i--) {
    const isDeep = values === undefined && budget > 0 && chance(random, 0.4)
    map[pick(random, words)] = isDeep
      ? randomAnything(random, budget - 1)
      : randomValue(random, values, budget - 1)
  }
  return map
}

/** A value no schema describes. */
function randomAnything(random: Random, budget: number): unknown {
  if (budget > 0 && chance(random, 0.4)) return { [pick(random, words)]: randomAnything(random, budget - 1) }
  if (budget > 0 && chance(random, 0.3)) return [randomAnything(random, 0), randomAnything(random, 0)]
  return pick<unknown>(random, ['a', 1, true, 1.5])
}

function randomList(random: Random, schema: Schema, budget: number): unknown[] {
  const keys = keysOf(schema)
  const list: unknown[] = []
  const seen = new Set<string>()
  for (let i = random.below(4); i > 0; i--) {
    const item = randomElement(random, schema, budget)
    const key = JSON.stringify(keys.length === 0 ? item : keys.map(name => (item as Json)[name] ?? null))
    const isSet = keys.length > 0 || schema['x-kubernetes-list-type'] === 'set'
    if (isSet && seen.has(key) && chance(random, 0.95)) continue
    seen.add(key)
    list.push(item)
  }
  return list
}

export function randomElement(random: Random, list: Schema, budget: number): unknown {
  const inner = resolveSchema(list.items)
  const item = randomValue(random, inner, budget - 1)
  const object = item as Json
  for (const key of keysOf(list)) {
    const field = inner?.properties?.[key]
    const isDefaulted = typeof field?.default === 'string' && field.default !== ''
    if (isDefaulted && chance(random, 0.5)) delete object[key]
    else object[key] = randomKey(random, field)
  }
  return item
}

function randomKey(random: Random, field: Schema | undefined): unknown {
  if (field?.default === 'TCP') return pick(random, ['TCP', 'UDP'])
  return field?.type === 'integer' ? 1 + random.below(3) : pick(random, words)
}

/** `value` with a few changes: fields and elements dropped, added, changed, reordered. */
export function mutated(random: Random, value: unknown, schema: Schema | undefined, rate: number): unknown {
  const node = resolveSchema(schema)
  if (Array.isArray(value)) {
    let list = value
      .filter(() => !chance(random, rate * 0.7))
      .map(item => (chance(random, rate * 2) ? mutated(random, item, node?.items, rate) : item))
    if (node?.items !== undefined && chance(random, rate)) list.push(randomElement(random, node, 1))
    if (chance(random, rate)) list = shuffled(random, list)
    return withoutDuplicates(list, node)
  }
  if (typeof value === 'object' && value !== null) {
    const object: Json = {}
    for (const [key, inner] of Object.entries(value)) {
      if (identifying.has(key) && !chance(random, 0.02)) {
        object[key] = inner
        continue
      }
      if (chance(random, rate * 0.6)) continue
      const field = node?.properties?.[key] ?? mapValues(node)
      object[key] = chance(random, 0.9) ? mutated(random, inner, field, rate) : randomValue(random, field, 2)
    }
    if (node?.properties !== undefined && chance(random, rate * 1.5)) {
      for (const name of pickFields(random, node, 1))
        object[name] ??= randomValue(random, node.properties[name], 2)
    }
    return object
  }
  return chance(random, rate) ? randomValue(random, schema, 1) : value
}

function mapValues(schema: Schema | undefined): Schema | undefined {
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined
}

function withoutDuplicates(list: unknown[], schema: Schema | undefined): unknown[] {
  const keys = schema === undefined ? [] : keysOf(schema)
  if (keys.length === 0 && schema?.['x-kubernetes-list-type'] !== 'set') return list
  const seen = new Set<string>()
  return list.filter(item => {
    const isObject = typeof item === 'object' && item !== null
    const key = JSON.stringify(isObject ? keys.map(name => (item as Json)[name] ?? null) : item)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
