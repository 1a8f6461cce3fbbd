import { isPlainObject, type PlainObject } from '../json/plain.ts'
import type { Schema } from '../schema/schema.ts'
import { TypedValueError } from './path-element.ts'
import { atomOf, objectSchema, type TypeNode, typeNodeOf } from './type-node.ts'
import { mergeTyped } from './typed-merge.ts'
import { printTypedError, validateTyped } from './typed-walk.ts'

export type MergedConfiguration =
  | { readonly ok: true; readonly object: PlainObject }
  /** In upstream's words. */
  | { readonly ok: false; readonly error: string }

/**
 * `live` with an apply configuration merged into it, as server-side apply does, but without managers: it
 * changes no ownership and removes nothing. A configuration may not contain atomic parts, since what
 * its author does not mention would be lost.
 */
export function mergeConfiguration(
  schema: Schema,
  live: PlainObject,
  configuration: PlainObject,
): MergedConfiguration {
  const type = typeNodeOf(objectSchema(schema))
  try {
    validateTyped(configuration, type)
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error
    return { ok: false, error: `failed to convert patch object to typed object: ${printTypedError(error)}` }
  }
  const atomics = findAtomics(configuration, type, '')
  if (atomics.length > 0) {
    const what = 'may not mutate atomic arrays, maps or structs'
    return { ok: false, error: `invalid ApplyConfiguration: ${what}: ${atomics.join(', ')}` }
  }
  return { ok: true, object: mergeTyped(live, configuration, type) as PlainObject }
}

/** The paths of atomic parts. */
function findAtomics(value: unknown, type: TypeNode, path: string): string[] {
  const kind = atomOf(type, value)
  if (kind === 'map' && isPlainObject(value)) {
    const map = type.map!
    const inner = Object.entries(value).flatMap(([key, member]) => {
      const field = map.isField(key) ? map.typeOf(key) : undefined
      return field ? findAtomics(member, field, `${path}.${key}`) : []
    })
    return map.isAtomic ? [path, ...inner] : inner
  }
  if (kind === 'list' && Array.isArray(value)) {
    const list = type.list!
    const inner = value.flatMap((item, index) => findAtomics(item, list.items, `${path}[${index}]`))
    return list.kind === 'atomic' ? [path, ...inner] : inner
  }
  return []
}
