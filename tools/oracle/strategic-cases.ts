/** Cases for strategic merge: patches applied, and patches made of two and of three objects. */
import type { Random } from '@coxswain/kit'
import type { Schema } from '../../packages/apimachinery/src/schema/schema.ts'
import { resolveSchema } from '../../packages/apimachinery/src/schema/schema-walk.ts'
import type { StrategicQuestion } from '../../packages/apimachinery/src/test-support/answer-strategic.ts'
import {
  chance,
  isMergedList,
  type Json,
  keysOf,
  mutated,
  pick,
  pickFields,
  randomElement,
  randomObject,
  randomValue,
  shuffled,
} from './objects.ts'

export function strategicCases(
  random: Random,
  count: number,
  schemas: ReadonlyMap<string, Schema>,
): StrategicQuestion[] {
  const kinds = [...schemas.keys()].filter(kind => !kind.startsWith('Thing'))
  const make = (): StrategicQuestion => {
    const kind = chance(random, 0.5) ? pick(random, ['Deployment', 'Pod']) : pick(random, kinds)
    const schema = schemas.get(kind)!
    const original = randomObject(random, schema, 6)
    const rate = pick(random, [0.1, 0.3, 0.6])
    const changed = (from: Json): Json => mutated(random, from, schema, rate) as Json
    const op = pick(random, ['apply', 'apply', 'two', 'three'] as const)
    if (op === 'apply') return { kind, op, original, patch: randomPatch(random, original, schema) }
    const modified = changed(original)
    if (op === 'two') return { kind, op, original, modified }
    const current = changed(chance(random, 0.5) ? original : modified)
    return { kind, op, original, modified, current, overwrite: chance(random, 0.6) }
  }
  // What JSON cannot say is not part of a question.
  return Array.from({ length: count }, () => JSON.parse(JSON.stringify(make())) as StrategicQuestion)
}

/** A patch by hand: it uses what patches made by a tool do not, and is wrong now and then. */
function randomPatch(random: Random, original: Json, schema: Schema | undefined): Json {
  const patch: Json = {}
  const node = resolveSchema(schema)
  const fresh = node?.properties === undefined ? [] : pickFields(random, node, 1 + random.below(2))
  const names = new Set([...shuffled(random, Object.keys(original)).slice(0, 3), ...fresh])
  for (const name of names) {
    const field = node?.properties?.[name]
    const value = original[name]
    const inner = resolveSchema(field)
    if (chance(random, 0.1)) patch[name] = null
    else if (chance(random, 0.02)) patch[name] = randomValue(random, undefined, 1)
    else if (Array.isArray(value) || (value === undefined && inner?.items !== undefined)) {
      addListPatch(random, patch, name, { value: (value ?? []) as unknown[], field })
    } else if (typeof value === 'object' && value !== null) {
      patch[name] = randomPatch(random, value as Json, field)
      const keys = field?.['x-kubernetes-patch-strategy']?.includes('retainKeys')
      if (keys && chance(random, 0.7)) addRetainKeys(random, patch[name] as Json, value as Json)
    } else patch[name] = withNulls(random, randomValue(random, field, 2))
  }
  if (chance(random, 0.04)) patch.$patch = pick(random, ['replace', 'delete', 'merge', 'explode', 5])
  if (chance(random, 0.01)) patch.unknownField = { a: 1 }
  return patch
}

function withNulls(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  if (chance(random, 0.05)) return { ...value, x: null }
  return chance(random, 0.05) ? { ...value, $patch: 'delete' } : value
}

function addRetainKeys(random: Random, patch: Json, original: Json): void {
  const keys = new Set([...Object.keys(patch), ...Object.keys(original).filter(() => chance(random, 0.5))])
  patch.$retainKeys = [...keys].filter(key => !key.startsWith('$') && !chance(random, 0.05))
}

function addListPatch(
  random: Random,
  patch: Json,
  name: string,
  { value, field }: { value: unknown[]; field: Schema | undefined },
): void {
  if (field === undefined) return
  const list = resolveSchema(field)!
  const mergeKey = field['x-kubernetes-patch-merge-key'] ?? keysOf(field)[0]
  if (!isMergedList(field) || chance(random, 0.1)) {
    patch[name] = randomValue(random, field, 2)
    return
  }
  if (mergeKey === undefined) {
    addScalarListPatch(random, patch, name, value)
    return
  }
  const items: unknown[] = []
  for (const item of value) {
    const object = item as Json
    if (chance(random, 0.25)) items.push({ [mergeKey]: object[mergeKey], $patch: 'delete' })
    else if (chance(random, 0.5)) {
      const change = randomPatch(random, object, list.items)
      if (!chance(random, 0.03)) change[mergeKey] = object[mergeKey]
      if (field['x-kubernetes-patch-strategy']?.includes('retainKeys') && chance(random, 0.6)) {
        addRetainKeys(random, change, object)
      }
      items.push(change)
    }
  }
  while (chance(random, 0.35)) items.push(randomElement(random, list, 2))
  if (chance(random, 0.08)) items.push({ $patch: pick(random, ['replace', 'replace', 'merge', 'odd']) })
  patch[name] = chance(random, 0.3) ? shuffled(random, items) : items
  if (items.length + value.length > 0 && chance(random, 0.5)) addOrder(random, patch, name, mergeKey, value)
}

function addOrder(random: Random, patch: Json, name: string, mergeKey: string, value: unknown[]): void {
  const items = patch[name] as Json[]
  const kept = items.filter(item => item.$patch === undefined)
  const keys = new Set(kept.map(item => item[mergeKey]))
  const rest = value.map(item => (item as Json)[mergeKey]).filter(key => !keys.has(key))
  const order = [...keys]
  for (const key of rest) if (chance(random, 0.6)) order.splice(random.below(order.length + 1), 0, key)
  const list = chance(random, 0.08) ? shuffled(random, order) : order
  patch[`$setElementOrder/${name}`] = list.map(key => ({ [mergeKey]: key }))
  if (chance(random, 0.15)) delete patch[name]
}

function addScalarListPatch(random: Random, patch: Json, name: string, value: unknown[]): void {
  const added = ['a', 'b', 'c', 'd', 'e'].filter(() => chance(random, 0.3))
  const removed = value.filter(() => chance(random, 0.4))
  if (chance(random, 0.8)) patch[name] = shuffled(random, added)
  if (chance(random, 0.6)) patch[`$deleteFromPrimitiveList/${name}`] = removed
  if (added.length + value.length > 0 && chance(random, 0.6)) {
    const kept = value.filter(item => !removed.includes(item) && !added.includes(item as string))
    patch[`$setElementOrder/${name}`] = chance(random, 0.8)
      ? [...((patch[name] ?? []) as unknown[]), ...kept]
      : shuffled(random, [...added, ...kept])
  }
}
