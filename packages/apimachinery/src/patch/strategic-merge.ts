import { MachineryError } from '../errors.ts'
import { goPrint, goTypeName, goTypeOf } from '../go/go-print.ts'
import { getOwn, hasOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
import { deepEqual, setMember } from '../json/value.ts'
import type { Schema } from '../schema/schema.ts'
import { resolveSchema } from '../schema/schema-walk.ts'
import { checkDepth } from './depth.ts'
import {
  deduplicate,
  elementTypeOf,
  identity,
  indexByIdentity,
  isDeletion,
  mergeInOrder,
  partition,
} from './strategic-order.ts'
import {
  badSetOrder,
  deleteFromListPrefix,
  directiveKey,
  type FieldMeta,
  inapplicable,
  listFieldMeta,
  noMergeKey,
  objectFieldMeta,
  retainKeysKey,
  setOrderPrefix,
  wrongType,
} from './strategic-schema.ts'

/**
 * - `document`: the patch is applied, directives are obeyed and removed.
 * - `patch`: two patches become one, directives and nulls stay (the last step of a three-way patch).
 */
type Mode = 'document' | 'patch'

/** Parses a body as a strategic merge patch; `null` is an empty one. Throws `PatchUndecodable`. */
export function decodeStrategicMergePatch(patch: unknown): PlainObject {
  if (patch === null) return {}
  checkDepth(patch)
  if (isPlainObject(patch)) return patch
  const type = goTypeOf(patch)
  const kind =
    type === 'slice' ? 'array' : type === 'int64' || type === 'float64' ? 'number' : goTypeName(type)
  const message = `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`
  throw new MachineryError('PatchUndecodable', message)
}

/**
 * `original` after a strategic merge patch. The result shares what did not change with both; neither is changed.
 * Throws `PatchUndecodable` for a malformed directive, `PatchInapplicable` for a patch that does not fit.
 */
export function applyStrategicMergePatch(
  original: PlainObject,
  patch: PlainObject,
  schema: Schema,
): PlainObject {
  return mergeMap(original, patch, resolveSchema(schema), 'document')
}

/** A single patch with the effect of `first` and then `second`. */
export function mergeStrategicPatches(first: PlainObject, second: PlainObject, schema: Schema): PlainObject {
  return mergeMap(first, second, resolveSchema(schema), 'patch')
}

function mergeMap(
  current: PlainObject,
  incoming: PlainObject,
  schema: Schema | undefined,
  mode: Mode,
): PlainObject {
  if (hasOwn(incoming, directiveKey)) return obeyDirective(incoming)
  const original: PlainObject = { ...current }
  const patch: PlainObject = { ...incoming }
  applyRetainKeys(original, patch, mode)
  applySetElementOrder(original, patch, schema, mode)
  for (const patchKey of Object.keys(patch)) {
    const value = patch[patchKey]
    const isDeleteList = patchKey.startsWith(deleteFromListPrefix)
    if (isDeleteList && mode === 'patch') {
      setMember(original, patchKey, value)
      continue
    }
    const key = isDeleteList ? keyOfDirective(patchKey, deleteFromListPrefix) : patchKey
    if (value === null) {
      delete original[key]
      if (mode === 'document') continue
    }
    mergeField(original, key, value, { schema, mode, isDeleteList })
  }
  return original
}

interface FieldContext {
  readonly schema: Schema | undefined
  readonly mode: Mode
  readonly isDeleteList: boolean
}

function mergeField(original: PlainObject, key: string, value: unknown, context: FieldContext): void {
  const { schema, mode, isDeleteList } = context
  const type = goTypeOf(value)
  if (!hasOwn(original, key) || goTypeOf(original[key]) !== type) {
    if (!isDeleteList) setUndirected(original, key, mode === 'document' ? withoutNulls(value) : value)
    return
  }
  if (type === 'map') {
    const meta = objectFieldMeta(schema, key)
    const merged =
      meta.strategy === 'replace'
        ? value
        : mergeMap(original[key] as PlainObject, value as PlainObject, meta.inner, mode)
    setMember(original, key, merged)
  } else if (type === 'slice') {
    const meta = listFieldMeta(schema, key)
    const lists = { original: (original[key] as unknown[]).slice(), patch: value as unknown[] }
    setMember(original, key, mergeList(lists, meta, mode, isDeleteList))
  } else {
    setUndirected(original, key, value)
  }
}

function setUndirected(original: PlainObject, key: string, value: unknown): void {
  const kept = withoutDirectives(value)
  if (kept === undefined) delete original[key]
  else setMember(original, key, kept)
}

function obeyDirective(patch: PlainObject): PlainObject {
  const directive = patch[directiveKey]
  if (directive === 'delete') return {}
  if (directive !== 'replace') throw unknownDirective(directive, patch)
  const result = { ...patch }
  delete result[directiveKey]
  return result
}

function unknownDirective(directive: unknown, patch: PlainObject): MachineryError {
  const type = goTypeOf(directive)
  const text = type === 'string' ? (directive as string) : `%!s(${goTypeName(type)}=${goPrint(directive)})`
  return inapplicable(`unknown patch type: ${text} in map: ${goPrint(patch)}`)
}

function keyOfDirective(key: string, prefix: string): string {
  const slash = key.indexOf('/')
  if (slash >= 0 && key.slice(0, slash) === prefix) return key.slice(slash + 1)
  if (prefix === setOrderPrefix) throw badSetOrder()
  throw new MachineryError('PatchUndecodable', 'invalid patch format of primitive list')
}

/** Removes `$retainKeys` from `patch`, and the fields that it does not name from `original`. */
function applyRetainKeys(original: PlainObject, patch: PlainObject, mode: Mode): void {
  if (!hasOwn(patch, retainKeysKey)) return
  const keys = patch[retainKeysKey]
  delete patch[retainKeysKey]
  if (mode === 'patch') {
    const before = getOwn(original, retainKeysKey)
    if (before === undefined) setMember(original, retainKeysKey, keys)
    else if (!deepEqual(before, keys)) {
      const both = `${goPrint(before)} and ${goPrint(keys)} are not deep equal`
      throw inapplicable(`${both}: this may happen when calculating the 3-way diff patch`)
    }
    return
  }
  const retained = new Set(Array.isArray(keys) ? keys : [])
  const isCovered = (key: string): boolean =>
    patch[key] === null ||
    key.startsWith(deleteFromListPrefix) ||
    key.startsWith(setOrderPrefix) ||
    retained.has(key)
  if (!Array.isArray(keys) || !Object.keys(patch).every(isCovered)) {
    throw new MachineryError('PatchUndecodable', 'invalid patch format of retainKeys')
  }
  for (const key of Object.keys(original)) if (!retained.has(key)) delete original[key]
}

/** Merges and orders every list that has a `$setElementOrder`, and removes both from `patch`. */
function applySetElementOrder(
  original: PlainObject,
  patch: PlainObject,
  schema: Schema | undefined,
  mode: Mode,
): void {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(setOrderPrefix)) continue
    const order = patch[directive]
    if (mode === 'patch') {
      const before = getOwn(original, directive)
      if (before === undefined) setMember(original, directive, order)
      else if (!deepEqual(before, order)) throw badSetOrder()
    }
    delete patch[directive]
    if (!Array.isArray(order)) throw wrongType('slice', order)
    const key = keyOfDirective(directive, setOrderPrefix)
    const before = listOf(original, key)
    const change = listOf(patch, key)
    const meta = listFieldMeta(schema, key)
    checkSetOrder(change ?? [], order, meta.mergeKey)
    // Merging changes this copy as upstream changes the live list, because the order is taken from what is left of it.
    const live = before?.slice() ?? []
    let merged: readonly unknown[]
    if (change === undefined) {
      if (before === undefined) continue
      merged = before
    } else if (before === undefined) {
      merged = withoutDirectives(change) as unknown[]
    } else {
      merged = mergeList({ original: live, patch: change }, meta, mode, false)
    }
    const { shared, rest } = partition(merged, order, meta.mergeKey)
    const type = elementTypeOf(live, change ?? [])
    const ordered = mergeInOrder(shared, rest, { patch: order, server: live, mergeKey: meta.mergeKey, type })
    setMember(original, key, ordered)
    delete patch[key]
  }
}

function listOf(object: PlainObject, key: string): unknown[] | undefined {
  if (!hasOwn(object, key)) return undefined
  const value = object[key]
  if (!Array.isArray(value)) throw wrongType('slice', value)
  return value
}

/** Every element of the patch that is not a deletion must be in `order`, in the same order. */
function checkSetOrder(patch: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (order.length === 0 || patch.length === 0) return
  const kept = mergeKey === '' ? patch : patch.filter(item => checkObject(item) && !isDeletion(item))
  let next = 0
  let place = 0
  while (next < kept.length && place < order.length) {
    const item = kept[next]
    if (isPlainObject(item) && hasOwn(item, directiveKey)) {
      next++
      continue
    }
    if (isSameElement(item, order[place], mergeKey)) next++
    place++
  }
  if (next < kept.length && place >= order.length) {
    const lists = `${goPrint(patch)}\n doesn't match ${setOrderPrefix} list:\n${goPrint(order)}\n`
    throw inapplicable(`The order in patch list:\n${lists}`)
  }
}

function checkObject(item: unknown): boolean {
  if (!isPlainObject(item)) throw wrongType('map', item)
  return true
}

export function isSameElement(left: unknown, right: unknown, mergeKey: string): boolean {
  if (mergeKey === '') return left === right
  for (const item of [left, right]) {
    if (!isPlainObject(item)) throw wrongType('map', item)
    if (!hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
  }
  return identity(left, mergeKey) === identity(right, mergeKey)
}

/** `lists.original` belongs to the caller and is changed. */
function mergeList(
  lists: { original: unknown[]; patch: readonly unknown[] },
  meta: FieldMeta,
  mode: Mode,
  isDeleteList: boolean,
): unknown[] {
  const { original, patch } = lists
  if (meta.strategy !== 'merge' && !isDeleteList) return patch as unknown[]
  if (original.length === 0 && patch.length === 0) return original
  const type = elementTypeOf(original, patch)
  const { mergeKey } = meta
  if (type !== 'map') {
    if (isDeleteList) {
      const removed = new Set(patch)
      return original.filter(item => !removed.has(item))
    }
    const { shared, rest } = partition(deduplicate([...original, ...patch]), patch, mergeKey)
    return mergeInOrder(shared, rest, { patch, server: original, mergeKey, type })
  }
  if (mergeKey === '') throw inapplicable('cannot merge lists without merge key for struct')
  const { server, change, isReplaced } = obeyElementDirectives(original, patch as PlainObject[], mergeKey)
  const merged = isReplaced ? server.slice() : mergeElements(original, server.length, change, meta, mode)
  const { shared, rest } = partition(merged, change, mergeKey)
  return mergeInOrder(shared, rest, { patch: change, server, mergeKey, type })
}

interface UndirectedLists {
  /** The rest of the original list, or its replacement. */
  readonly server: readonly unknown[]
  /** The elements of the patch without a directive. */
  readonly change: readonly PlainObject[]
  readonly isReplaced: boolean
}

function obeyElementDirectives(
  original: unknown[],
  patch: readonly PlainObject[],
  mergeKey: string,
): UndirectedLists {
  const change: PlainObject[] = []
  const deleted = new Set<unknown>()
  let isReplaced = false
  for (const item of patch) {
    const directive = getOwn(item, directiveKey)
    if (directive === undefined) change.push(item)
    else if (directive === 'replace') isReplaced = true
    else if (directive === 'merge') throw inapplicable('merging lists cannot yet be specified in the patch')
    else if (directive !== 'delete') throw unknownDirective(directive, item)
    else if (!hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
    else deleted.add(item[mergeKey])
  }
  const kept = removeInPlace(original, deleted, mergeKey)
  return isReplaced ? { server: change, change: [], isReplaced } : { server: kept, change, isReplaced }
}

/**
 * Removes one element after the other, in the order of `deleted`: each time the elements behind it move up, and the
 * last place keeps what it had (see applySetElementOrder). The elements left are returned, and are the first ones.
 */
function removeInPlace(list: unknown[], deleted: ReadonlySet<unknown>, mergeKey: string): unknown[] {
  if (deleted.size === 0) return list.slice()
  const before = list.slice()
  const places = new Map<unknown, number[]>()
  before.forEach((item, place) => {
    const key = identity(item, mergeKey)
    if (!deleted.has(key)) return
    const known = places.get(key)
    if (known === undefined) places.set(key, [place])
    else known.push(place)
  })
  const gone = new Set<number>()
  let last = before.length - 1
  for (const key of deleted) {
    for (const place of places.get(key) ?? []) {
      while (gone.has(last)) last--
      list[before.length - 1 - gone.size] = before[last]
      gone.add(place)
    }
  }
  const kept = before.filter((_item, place) => !gone.has(place))
  for (let i = 0; i < kept.length; i++) list[i] = kept[i]
  return kept
}

/** Merges `change` into the first `length` elements of `original`; new ones follow, over what is behind them. */
function mergeElements(
  original: unknown[],
  length: number,
  change: readonly PlainObject[],
  meta: FieldMeta,
  mode: Mode,
): unknown[] {
  const merged = original.slice(0, length)
  const index = indexByIdentity(merged, meta.mergeKey)
  for (const item of change) {
    if (!hasOwn(item, meta.mergeKey)) throw noMergeKey(item, meta.mergeKey)
    const key = item[meta.mergeKey]
    const at = index.get(key)
    if (at === undefined) {
      index.set(key, merged.length)
      if (merged.length < original.length) original[merged.length] = item
      merged.push(item)
    } else {
      merged[at] = mergeMap(merged[at] as PlainObject, item, meta.inner, mode)
    }
  }
  return merged
}

/** `undefined` for an object with a `$patch`; others without such objects inside. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter(item => item !== undefined)
  if (!isPlainObject(value)) return value
  if (hasOwn(value, directiveKey)) return undefined
  const result: PlainObject = {}
  for (const key of Object.keys(value)) {
    const kept = withoutDirectives(value[key])
    if (kept !== undefined) setMember(result, key, kept)
  }
  return result
}

/** `value` without null members of objects, at any depth; null items of lists stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isPlainObject(value)) return value
  const result: PlainObject = {}
  for (const key of Object.keys(value)) {
    if (value[key] !== null) setMember(result, key, withoutNulls(value[key]))
  }
  return result
}
