import { duplicate, type FieldError, invalid } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { printJson } from '../internal/print-value.ts'
import type { Schema } from '../schema.ts'
import { tooDeep } from './validate.ts'

/** Lists of type `set` hold no value twice, lists of type `map` no two objects with the same keys. */
export function validateListTypes(schema: Schema, value: unknown, path: Path = Path.root): FieldError[] {
  const errors: FieldError[] = []
  try {
    visit(schema, value, path, errors)
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
  return errors
}

function visit(schema: Schema, value: unknown, path: Path, errors: FieldError[]): void {
  if (typeof value !== 'object' || value === null || !hasListTypes(schema)) return
  if (Array.isArray(value)) {
    const type = schema['x-kubernetes-list-type']
    if (type === 'set') reportRepeated(value, value, path, errors)
    if (type === 'map') checkListMap(schema, value, path, errors)
    const { items } = schema
    if (items !== undefined)
      for (let i = 0; i < value.length; i++) visit(items, value[i], path.index(i), errors)
    return
  }
  const { properties, additionalProperties } = schema
  for (const [key, member] of Object.entries(value)) {
    if (properties !== undefined && Object.hasOwn(properties, key)) {
      visit(properties[key]!, member, path.child(key), errors)
    } else if (typeof additionalProperties === 'object') {
      visit(additionalProperties, member, path.key(key), errors)
    }
  }
}

function checkListMap(schema: Schema, list: readonly unknown[], path: Path, errors: FieldError[]): void {
  const names = schema['x-kubernetes-list-map-keys'] ?? []
  const keys: unknown[] = []
  for (const [i, item] of list.entries()) {
    if (item !== null && (typeof item !== 'object' || Array.isArray(item))) {
      errors.push(invalid(path.index(i), item, 'must be an object for an array of list-type map'))
      return
    }
    const object = (item ?? {}) as Record<string, unknown>
    keys.push(
      Object.fromEntries(names.filter(name => Object.hasOwn(object, name)).map(name => [name, object[name]])),
    )
  }
  reportRepeated(keys, keys, path, errors)
}

/** One error for every identity that occurs more than once, at its second occurrence. */
function reportRepeated(
  identities: readonly unknown[],
  shown: readonly unknown[],
  path: Path,
  errors: FieldError[],
): void {
  if (identities.length < 2) return
  const seen = new Map<string, number>()
  for (const [i, identity] of identities.entries()) {
    const text = printJson(identity)
    const times = seen.get(text) ?? 0
    seen.set(text, times + 1)
    if (times === 1) errors.push(duplicate(path.index(i), shown[i]))
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
    work.push(...Object.values(node.properties ?? {}))
    if (node.items !== undefined) work.push(node.items)
    if (typeof node.additionalProperties === 'object') work.push(node.additionalProperties)
  }
  if (found) memory.set(schema, true)
  else for (const node of visited) memory.set(node, false)
  return found
}
