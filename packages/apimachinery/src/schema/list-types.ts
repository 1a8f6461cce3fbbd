import { duplicate, type FieldError, invalid } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { printJson } from '../go/print-value.ts'
import type { Schema } from './schema.ts'
import { tooDeep } from './too-deep.ts'

/** Lists of type `set` hold no value twice, lists of type `map` no two objects with the same keys. */
export function validateListTypes(schema: Schema, value: unknown, path: Path = Path.root): FieldError[] {
  if (!hasListTypes(schema)) return none
  const walk: Walk = { base: path, steps: [], errors: [] }
  try {
    visit(planOf(schema), value, walk)
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
  return walk.errors
}

const none: FieldError[] = []

interface Walk {
  readonly base: Path
  /** From the base to the present value; a path is made of them only for an error. */
  readonly steps: Step[]
  readonly errors: FieldError[]
}

/** The name of a field, the index of an item, or the key of a map in a holder of its own. */
type Step = string | number | { readonly key: string }

function pathOf(walk: Walk, index: number): Path {
  let path = walk.base
  for (const step of walk.steps) {
    if (typeof step === 'string') path = path.child(step)
    else path = typeof step === 'number' ? path.index(step) : path.key(step.key)
  }
  return path.index(index)
}

/** What the walk needs of a schema: only what leads to a set or a list map. */
interface Plan {
  readonly type: Schema['x-kubernetes-list-type']
  readonly keys: readonly string[]
  readonly properties: readonly (readonly [key: string, plan: () => Plan])[]
  readonly known: ReadonlySet<string>
  readonly additional: (() => Plan) | undefined
  readonly items: (() => Plan) | undefined
}

const plans = new WeakMap<Schema, Plan>()

function planOf(schema: Schema): Plan {
  let plan = plans.get(schema)
  if (plan === undefined) {
    const { additionalProperties, items } = schema
    const entries = Object.entries(schema.properties ?? {})
    plan = {
      type: schema['x-kubernetes-list-type'],
      keys: schema['x-kubernetes-list-map-keys'] ?? [],
      properties: entries
        .filter(([, property]) => hasListTypes(property))
        .map(([key, property]) => [key, later(property)] as const),
      known: new Set(entries.map(([key]) => key)),
      additional:
        typeof additionalProperties === 'object' && hasListTypes(additionalProperties)
          ? later(additionalProperties)
          : undefined,
      items: items !== undefined && hasListTypes(items) ? later(items) : undefined,
    }
    plans.set(schema, plan)
  }
  return plan
}

/** Schemas may form cycles, so a plan refers to the next ones without having them. */
function later(schema: Schema): () => Plan {
  let plan: Plan | undefined
  return () => {
    plan ??= planOf(schema)
    return plan
  }
}

function visit(plan: Plan, value: unknown, walk: Walk): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (plan.type === 'set') reportRepeated(value, identityOf, item => item, walk)
    if (plan.type === 'map') checkListMap(plan.keys, value, walk)
    const next = plan.items?.()
    if (next === undefined) return
    for (let i = 0; i < value.length; i++) {
      walk.steps.push(i)
      visit(next, value[i], walk)
      walk.steps.pop()
    }
    return
  }
  const object = value as Record<string, unknown>
  for (const [key, next] of plan.properties) {
    if (!Object.hasOwn(object, key)) continue
    walk.steps.push(key)
    visit(next(), object[key], walk)
    walk.steps.pop()
  }
  const next = plan.additional?.()
  if (next === undefined) return
  for (const key of Object.keys(object)) {
    if (plan.known.has(key)) continue
    walk.steps.push({ key })
    visit(next, object[key], walk)
    walk.steps.pop()
  }
}

/**
 * For the walk over values: reports whether a list of this schema needs a closer check by
 * {@link validateListTypes}. Undefined for schemas of other lists.
 */
export function suspicionOf(schema: Schema): ((list: readonly unknown[]) => boolean) | undefined {
  const type = schema['x-kubernetes-list-type']
  if (type === 'set') return list => list.length > 1 && repeats(list, identityOf)
  if (type !== 'map') return undefined
  const identity = identityByKeys(schema['x-kubernetes-list-map-keys'] ?? [])
  return list => {
    for (const item of list)
      if (item !== null && (typeof item !== 'object' || Array.isArray(item))) return true
    return list.length > 1 && repeats(list, identity)
  }
}

function identityByKeys(keys: readonly string[]): (item: unknown) => unknown {
  const [first] = keys
  if (keys.length === 1 && first !== undefined) return item => identityOf(memberOf(item, first))
  return item => JSON.stringify(keys.map(key => [memberOf(item, key)].map(identityOf)))
}

function repeats(list: readonly unknown[], identity: (item: unknown) => unknown): boolean {
  const seen = new Set<unknown>()
  for (let i = 0; i < list.length; i++) {
    seen.add(identity(list[i]))
    if (seen.size <= i) return true
  }
  return false
}

function checkListMap(keys: readonly string[], list: readonly unknown[], walk: Walk): void {
  for (let i = 0; i < list.length; i++) {
    const item = list[i]
    if (item !== null && (typeof item !== 'object' || Array.isArray(item))) {
      walk.errors.push(invalid(pathOf(walk, i), item, 'must be an object for an array of list-type map'))
      return
    }
  }
  reportRepeated(list, identityByKeys(keys), item => keysOf(item, keys), walk)
}

function memberOf(item: unknown, key: string): unknown {
  return item !== null && Object.hasOwn(item as object, key)
    ? (item as Record<string, unknown>)[key]
    : undefined
}

function keysOf(item: unknown, keys: readonly string[]): object {
  const given = keys.filter(key => memberOf(item, key) !== undefined)
  return Object.fromEntries(given.map(key => [key, memberOf(item, key)]))
}

/** A scalar is identified by itself, anything else by its text. */
function identityOf(value: unknown): unknown {
  if (typeof value === 'bigint') return `bigint:${value}`
  return typeof value === 'object' && value !== null ? `json:${printJson(value)}` : value
}

/** One error for every identity that occurs more than once, at its second occurrence. */
function reportRepeated(
  list: readonly unknown[],
  identity: (item: unknown) => unknown,
  shown: (item: unknown) => unknown,
  walk: Walk,
): void {
  if (list.length < 2) return
  const times = new Map<unknown, number>()
  for (let i = 0; i < list.length; i++) {
    const id = identity(list[i])
    const before = times.get(id) ?? 0
    times.set(id, before + 1)
    if (before === 1) walk.errors.push(duplicate(pathOf(walk, i), shown(list[i])))
  }
}

const known = new WeakMap<Schema, boolean>()

/** True when the schema or one below it has a list type to check; most subtrees have none and are not walked. */
function hasListTypes(schema: Schema): boolean {
  return reaches(schema, known, node => {
    const type = node['x-kubernetes-list-type']
    return type === 'set' || type === 'map'
  })
}

/** True when `test` holds for the schema or for one below it. Remembers answers; cycles are fine. */
export function reaches(
  schema: Schema,
  memory: WeakMap<Schema, boolean>,
  test: (schema: Schema) => boolean,
): boolean {
  const remembered = memory.get(schema)
  if (remembered !== undefined) return remembered
  const visited = new Set<Schema>()
  const work = [schema]
  let found = false
  for (let node = work.pop(); node !== undefined && !found; node = work.pop()) {
    if (visited.has(node)) continue
    visited.add(node)
    found = memory.get(node) ?? test(node)
    if (memory.get(node) === false) continue
    for (const item of Object.values(node.properties ?? {})) work.push(item)
    if (node.items !== undefined) work.push(node.items)
    if (typeof node.additionalProperties === 'object') work.push(node.additionalProperties)
  }
  if (found) memory.set(schema, true)
  else for (const node of visited) memory.set(node, false)
  return found
}
