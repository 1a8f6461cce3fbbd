import { isPlainObject, type PlainObject } from '../json/plain.ts'
import { deepEqual } from '../json/value.ts'
import { emptyFieldSet, type FieldSet, PathCollector } from './field-set.ts'
import { elementOf, fieldElement, type PathElement, printElement, TypedValueError } from './path-element.ts'
import { leafSet, RecentSets, type SharedSet } from './recent-sets.ts'
import { type AtomKind, atomOf, type ListType, type MapType, type TypeNode } from './type-node.ts'

/** How one object differs from another. No path is in two of the sets. */
export interface Comparison {
  readonly removed: FieldSet
  readonly modified: FieldSet
  readonly added: FieldSet
}

/**
 * The changes from `before` to `after`; `undefined` if they are equal. Nothing is allocated for unchanged parts.
 * Throws a {@link TypedValueError} for lists whose elements cannot be distinguished.
 */
export function compareTyped(before: unknown, after: unknown, type: TypeNode): Comparison | undefined {
  if (before === after) return undefined
  const walk: Walk = { path: [], removed: undefined, modified: undefined, added: undefined }
  compareNode(walk, before, after, type)
  const { removed, modified, added } = walk
  if (removed === undefined && modified === undefined && added === undefined) return undefined
  return {
    removed: removed?.set ?? emptyFieldSet,
    modified: modified?.set ?? emptyFieldSet,
    added: added?.set ?? emptyFieldSet,
  }
}

interface Walk {
  readonly path: PathElement[]
  removed: PathCollector | undefined
  modified: PathCollector | undefined
  added: PathCollector | undefined
}

function insert(walk: Walk, into: 'removed' | 'modified' | 'added', below: FieldSet = emptyFieldSet): void {
  if (walk.path.length === 0) return
  walk[into] ??= new PathCollector()
  walk[into].insert(walk.path, below)
}

function leave(walk: Walk): void {
  walk.path.pop()
  const { length } = walk.path
  walk.removed?.leave(length)
  walk.modified?.leave(length)
  walk.added?.leave(length)
}

/** `undefined` is an absent value, which differs from null. At least one is present. */
function compareNode(walk: Walk, before: unknown, after: unknown, type: TypeNode | undefined): void {
  if (before === after) return
  if (before === undefined) insert(walk, 'added', everythingIn(after, type).set)
  else if (after === undefined) insert(walk, 'removed', everythingIn(before, type).set)
  else if (type === undefined) compareLeaf(walk, before, after)
  else {
    const left = atomOf(type, before)
    const right = atomOf(type, after)
    if (left !== right) compareAs(left, walk, before, after, type)
    compareAs(right, walk, before, after, type)
  }
}

function compareAs(
  kind: AtomKind | undefined,
  walk: Walk,
  before: unknown,
  after: unknown,
  type: TypeNode,
): void {
  if (kind === 'map') compareMaps(walk, before, after, type.map!)
  else if (kind === 'list') compareLists(walk, before, after, type.list!)
  else compareLeaf(walk, before, after)
}

function compareLeaf(walk: Walk, before: unknown, after: unknown): void {
  if (!deepEqual(before, after)) insert(walk, 'modified')
}

function compareMaps(walk: Walk, before: unknown, after: unknown, map: MapType): void {
  const left = isPlainObject(before) ? before : {}
  const right = isPlainObject(after) ? after : {}
  if (map.isAtomic || (isEmptyObject(left) && isEmptyObject(right))) {
    compareLeaf(walk, before, after)
    return
  }
  for (const key in left) {
    const value = left[key]
    const other = Object.hasOwn(right, key) ? right[key] : undefined
    if (value !== other) compareChild(walk, fieldElement(key), value, other, map.typeOf(key))
  }
  for (const key in right) {
    const value = right[key]
    if (value === undefined || (Object.hasOwn(left, key) && left[key] !== undefined)) continue
    compareChild(walk, fieldElement(key), undefined, value, map.typeOf(key))
  }
}

function compareChild(
  walk: Walk,
  element: PathElement,
  before: unknown,
  after: unknown,
  type: TypeNode | undefined,
): void {
  walk.path.push(element)
  compareNode(walk, before, after, type)
  leave(walk)
}

function compareLists(walk: Walk, before: unknown, after: unknown, list: ListType): void {
  const left: readonly unknown[] = Array.isArray(before) ? before : []
  const right: readonly unknown[] = Array.isArray(after) ? after : []
  if (list.kind === 'atomic' || (left.length === 0 && right.length === 0)) {
    compareLeaf(walk, before, after)
    return
  }
  const items = groupByElement(walk, left, list)
  const others = groupByElement(walk, right, list)
  for (const [element, group] of items) compareGroups(walk, element, group, others.get(element) ?? none, list)
  for (const [element, group] of others) {
    if (!items.has(element)) compareGroups(walk, element, none, group, list)
  }
}

const none: readonly unknown[] = []

/** The items of each element: more than one where a list has duplicates. */
function groupByElement(walk: Walk, items: readonly unknown[], list: ListType): Map<PathElement, unknown[]> {
  const groups = new Map<PathElement, unknown[]>()
  for (let i = 0; i < items.length; i++) {
    const element = elementAt(items, i, list, walk.path)
    const group = groups.get(element)
    if (group === undefined) groups.set(element, [items[i]])
    else group.push(items[i])
  }
  return groups
}

/** The element of the item at `index`; errors have `path` and the index. */
export function elementAt(
  items: readonly unknown[],
  index: number,
  list: ListType,
  path: readonly PathElement[],
): PathElement {
  try {
    return elementOf(list, items[index])
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error
    throw new TypedValueError(`element ${index}: ${error.message}`, path.map(printElement).join(''))
  }
}

/** Duplicates are compared as a whole and tracked by their element alone. */
function compareGroups(
  walk: Walk,
  element: PathElement,
  before: readonly unknown[],
  after: readonly unknown[],
  list: ListType,
): void {
  walk.path.push(element)
  if (before.length <= 1 && after.length <= 1) {
    compareNode(walk, before[0], after[0], list.items)
  } else if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) insert(walk, 'modified')
  } else if (before.length > 1) {
    if (after.length > 0) compareNode(walk, undefined, after[0], list.items)
    insert(walk, 'removed')
  } else {
    if (before.length > 0) compareNode(walk, before[0], undefined, list.items)
    insert(walk, 'added')
  }
  leave(walk)
}

const maps = new RecentSets(fieldElement)
const lists = new RecentSets(element => element)

/** Every path of a value that was not there before, its own among them. */
function everythingIn(value: unknown, type: TypeNode | undefined): SharedSet {
  const kind = type === undefined ? undefined : atomOf(type, value)
  if (kind === 'map' && isPlainObject(value) && !type!.map!.isAtomic)
    return everythingInMap(value, type!.map!)
  if (kind === 'list' && Array.isArray(value) && type!.list!.kind !== 'atomic') {
    return everythingInList(value, type!.list!)
  }
  return leafSet
}

function everythingInMap(value: PlainObject, map: MapType): SharedSet {
  const keys: string[] = []
  const children: SharedSet[] = []
  for (const key in value) {
    if (value[key] === undefined) continue
    keys.push(key)
    children.push(everythingIn(value[key], map.typeOf(key)))
  }
  return maps.find(keys, children)
}

function everythingInList(value: readonly unknown[], list: ListType): SharedSet {
  const elements: PathElement[] = []
  const children: SharedSet[] = []
  const known = new Set<PathElement>()
  for (let i = 0; i < value.length; i++) {
    const element = elementAt(value, i, list, none as [])
    elements.push(element)
    children.push(known.has(element) ? leafSet : everythingIn(value[i], list.items))
    known.add(element)
  }
  return lists.find(elements, children)
}

function isEmptyObject(object: PlainObject): boolean {
  for (const key in object) if (object[key] !== undefined) return false
  return true
}
