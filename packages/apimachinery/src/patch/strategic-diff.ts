import { isMachineryError, MachineryError } from '../errors.ts'
import { goPrint, goTypeOf } from '../go/go-print.ts'
import { compareCodePoints, printJson } from '../go/print-value.ts'
import { getOwn, hasOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
import { deepClone, deepEqual, setMember } from '../json/value.ts'
import type { Schema } from '../schema/schema.ts'
import { resolveSchema } from '../schema/schema-walk.ts'
import { hasStrategicConflict } from './strategic-conflict.ts'
import { isSameElement, mergeStrategicPatches } from './strategic-merge.ts'
import { deduplicate, elementTypeOf, sortByOrder, sortPrinted } from './strategic-order.ts'
import {
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

/** Which differences a patch consists of. */
interface DiffOptions {
  readonly setElementOrder: boolean
  readonly changes: boolean
  readonly deletions: boolean
}

/** Checks of a two-way patch. */
export interface TwoWayOptions {
  /** Dotted paths, of one or two parts, that the patch may not touch: otherwise it throws `PatchPrecondition`. */
  readonly unchanged?: readonly string[]
}

/** The three objects of a three-way patch, and its checks. */
export interface ThreeWayOptions extends TwoWayOptions {
  /** The last applied configuration. */
  readonly original: PlainObject
  /** The configuration to apply now. */
  readonly modified: PlainObject
  /** The live object. */
  readonly current: PlainObject
  /** False throws `PatchConflict` when the patch and other clients have changed the same field. @default true */
  readonly overwrite?: boolean
}

/** The strategic merge patch from `original` to `modified`. */
export function createTwoWayMergePatch(
  original: PlainObject,
  modified: PlainObject,
  schema: Schema,
  options: TwoWayOptions = {},
): PlainObject {
  const all: DiffOptions = { setElementOrder: true, changes: true, deletions: true }
  const patch = diffMaps(deepClone(original), modified, resolveSchema(schema), all, false)
  checkUnchanged(patch, options.unchanged ?? [])
  return patch
}

/**
 * The strategic merge patch that `kubectl apply` sends: what is missing or different in `current`, and a
 * removal for what `original` had and `modified` no longer has.
 */
export function createThreeWayMergePatch(schema: Schema, options: ThreeWayOptions): PlainObject {
  const { modified } = options
  // The diff sorts lists of scalars in place, and depends on that: it works on copies.
  const original = deepClone(options.original)
  const current = deepClone(options.current)
  const node = resolveSchema(schema)
  const delta = diffMaps(
    current,
    modified,
    node,
    { setElementOrder: true, changes: true, deletions: false },
    false,
  )
  const deletions = diffMaps(
    original,
    modified,
    node,
    { setElementOrder: true, changes: false, deletions: true },
    false,
  )
  const patch = mergeStrategicPatches(deletions, delta, schema)
  checkUnchanged(patch, options.unchanged ?? [])
  if (options.overwrite === false) {
    const changed = diffMaps(
      original,
      current,
      node,
      { setElementOrder: false, changes: true, deletions: true },
      false,
    )
    if (hasStrategicConflict(patch, changed, schema)) {
      const message = `patch:\n${printJson(patch)}\n\nconflicts with changes made from original to current:`
      throw new MachineryError('PatchConflict', `${message}\n${printJson(changed)}\n\n`)
    }
  }
  return patch
}

function checkUnchanged(patch: PlainObject, paths: readonly string[]): void {
  for (const path of paths) {
    const [first, second] = path.split('.') as [string, string | undefined]
    const value = getOwn(patch, first)
    if (value === undefined) continue
    if (second === undefined || (isPlainObject(value) && hasOwn(value, second))) {
      throw new MachineryError('PatchPrecondition', `precondition failed for: ${goPrint(patch)}`)
    }
  }
}

function diffMaps(
  original: PlainObject,
  modified: PlainObject,
  schema: Schema | undefined,
  options: DiffOptions,
  retainKeys: boolean,
): PlainObject {
  const patch: PlainObject = {}
  for (const key of Object.keys(modified)) {
    const after = modified[key]
    if (!hasOwn(original, key)) {
      if (options.changes) setMember(patch, key, after)
      continue
    }
    const before = original[key]
    if (key === directiveKey) {
      if (typeof before !== 'string' || typeof after !== 'string') {
        throw inapplicable(`invalid value for special key: ${directiveKey}`)
      }
      if (before !== after) patch[key] = after
      continue
    }
    const type = goTypeOf(before)
    if (type !== goTypeOf(after)) {
      if (options.changes) setMember(patch, key, after)
    } else if (type === 'map') {
      diffMapField(
        patch,
        key,
        { before: before as PlainObject, after: after as PlainObject },
        schema,
        options,
      )
    } else if (type === 'slice') {
      diffListField(patch, key, { before: before as unknown[], after: after as unknown[] }, schema, options)
    } else if (options.changes && before !== after) {
      setMember(patch, key, after)
    }
  }
  if (options.deletions) {
    for (const key of Object.keys(original)) if (!hasOwn(modified, key)) setMember(patch, key, null)
  }
  if (retainKeys) addRetainKeys(patch, original, modified)
  return patch
}

function addRetainKeys(patch: PlainObject, original: PlainObject, modified: PlainObject): void {
  const keys = Object.keys(modified).filter(key => modified[key] !== null)
  if (keys.length === 0) return
  const hasMore = Object.keys(original).some(key => original[key] !== null && !hasOwn(modified, key))
  if (hasMore || Object.keys(patch).length > 0) patch[retainKeysKey] = keys.sort(compareCodePoints)
}

function diffMapField(
  patch: PlainObject,
  key: string,
  { before, after }: { before: PlainObject; after: PlainObject },
  schema: Schema | undefined,
  options: DiffOptions,
): void {
  const meta = metaUnlessEqual(objectFieldMeta, schema, key, before, after)
  if (meta === undefined) return
  if (meta.strategy === 'replace') {
    if (options.changes) setMember(patch, key, after)
    return
  }
  const inner = diffMaps(before, after, meta.inner, options, meta.retainKeys)
  if (Object.keys(inner).length > 0) setMember(patch, key, inner)
}

/** An unknown field is an error only if it has changed. */
function metaUnlessEqual(
  lookup: (schema: Schema | undefined, key: string) => FieldMeta,
  schema: Schema | undefined,
  key: string,
  before: unknown,
  after: unknown,
): FieldMeta | undefined {
  try {
    return lookup(schema, key)
  } catch (error) {
    if (isMachineryError(error, 'PatchInapplicable') && deepEqual(before, after)) return undefined
    throw error
  }
}

interface Lists {
  /** Sorted in place when it is a list of scalars that merges. */
  readonly before: unknown[]
  readonly after: readonly unknown[]
}

function diffListField(
  patch: PlainObject,
  key: string,
  lists: Lists,
  schema: Schema | undefined,
  options: DiffOptions,
): void {
  const { before, after } = lists
  const meta = metaUnlessEqual(listFieldMeta, schema, key, before, after)
  if (meta === undefined) return
  if (meta.strategy !== 'merge') {
    if (options.changes && !deepEqual(before, after)) setMember(patch, key, after)
    return
  }
  const { items, deletions, order } = diffLists(lists, meta, options)
  if (items.length > 0) setMember(patch, key, items)
  if (deletions.length > 0) patch[`${deleteFromListPrefix}/${key}`] = deletions
  if (order.length > 0) patch[`${setOrderPrefix}/${key}`] = order
}

interface ListDiff {
  readonly items: readonly unknown[]
  readonly deletions: readonly unknown[]
  readonly order: readonly unknown[]
}

const noDiff: ListDiff = { items: [], deletions: [], order: [] }

function diffLists(lists: Lists, meta: FieldMeta, options: DiffOptions): ListDiff {
  const { before, after } = lists
  const { mergeKey } = meta
  if (before.length === 0) return options.changes ? { ...noDiff, items: after } : noDiff
  const type = elementTypeOf(before, after)
  if (type !== 'map') {
    const { added, deleted } = diffScalars(lists, options)
    const items = sortByOrder(added, after, { mergeKey, type })
    const isOrdered =
      (options.deletions && deleted.length > 0) || (options.changes && !deepEqual(before, after))
    return { items, deletions: deleted, order: options.setElementOrder && isOrdered ? after : [] }
  }
  const { changed, deleted } = diffElements(
    lists as { before: PlainObject[]; after: PlainObject[] },
    meta,
    options,
  )
  const items = [...sortByOrder(changed, after, { mergeKey, type }), ...deleted]
  const isSameOrder =
    before.length === after.length && after.every((item, i) => isSameElement(before[i], item, mergeKey))
  const isOrdered =
    (options.changes && (items.length > 0 || !isSameOrder)) || (options.deletions && items.length > 0)
  if (!options.setElementOrder || !isOrdered) return { items, deletions: [], order: [] }
  return { items, deletions: [], order: after.map(item => ({ [mergeKey]: (item as PlainObject)[mergeKey] })) }
}

function diffScalars(
  { before, after }: Lists,
  options: DiffOptions,
): { added: unknown[]; deleted: unknown[] } {
  const identityOf = (item: unknown): unknown => item
  const left = sortPrinted(before, identityOf)
  for (let i = 0; i < left.length; i++) before[i] = left[i]
  const right = sortPrinted(after, identityOf)
  const added: unknown[] = []
  const deleted: unknown[] = []
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const side = compareSorted(left, right, i, j, goPrint)
    if (side === 0) {
      i++
      j++
    } else if (side < 0) {
      if (options.deletions) deleted.push(left[i])
      i++
    } else {
      if (options.changes) added.push(right[j])
      j++
    }
  }
  return { added, deleted: deduplicate(deleted) }
}

/** Below 0: the next element is only on the left; above: only on the right; 0: on both. */
function compareSorted<T>(
  left: readonly T[],
  right: readonly T[],
  i: number,
  j: number,
  print: (item: T) => string,
): number {
  if (i >= left.length) return 1
  if (j >= right.length) return -1
  return compareCodePoints(print(left[i]!), print(right[j]!))
}

function diffElements(
  lists: { before: readonly PlainObject[]; after: readonly PlainObject[] },
  meta: FieldMeta,
  options: DiffOptions,
): { changed: PlainObject[]; deleted: PlainObject[] } {
  const { mergeKey } = meta
  const keyOf = (item: PlainObject): unknown => {
    if (!isPlainObject(item)) throw wrongType('map', item)
    return getOwn(item, mergeKey)
  }
  const left = sortPrinted(lists.before, keyOf)
  const right = sortPrinted(lists.after, keyOf)
  const print = (item: PlainObject): string => {
    if (!hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
    return goPrint(item[mergeKey])
  }
  const changed: PlainObject[] = []
  const deleted: PlainObject[] = []
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const side = compareSorted(left, right, i, j, print)
    if (side === 0) {
      const after = right[j++]!
      const inner = diffMaps(left[i++]!, after, meta.inner, options, meta.retainKeys)
      if (Object.keys(inner).length === 0) continue
      setMember(inner, mergeKey, after[mergeKey])
      changed.push(inner)
    } else if (side < 0) {
      const before = left[i++]!
      print(before)
      if (options.deletions) deleted.push({ [mergeKey]: before[mergeKey], [directiveKey]: 'delete' })
    } else {
      const after = right[j++]!
      print(after)
      if (options.changes) changed.push(after)
    }
  }
  return { changed, deleted }
}
