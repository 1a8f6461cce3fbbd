import { type GoType, goPrint, goTypeOf } from '../go/go-print.ts'
import { compareCodePoints } from '../go/print-value.ts'
import { getOwn, hasOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
import { directiveKey, inapplicable, noMergeKey, wrongType } from './strategic-schema.ts'

/**
 * The order of merged lists. Items in the patch keep the patch's order, items that are only in the live list keep
 * theirs, and the latter are interleaved as in the live list, as far as possible.
 */

/** The one type of all elements. Throws unless there is exactly one, and it is not a list. */
export function elementTypeOf(...lists: readonly (readonly unknown[])[]): GoType {
  let found: GoType | undefined
  for (const list of lists) {
    for (const item of list) {
      const type = goTypeOf(item)
      if (type === 'nil') throw inapplicable('a list to be merged holds null')
      if (found === undefined) {
        if (type === 'slice') throw inapplicable('lists of lists are not supported')
        found = type
      } else if (type !== found) {
        throw inapplicable(`list element types are not identical: [${lists.map(goPrint).join(' ')}]`)
      }
    }
  }
  if (found === undefined) throw inapplicable('no elements in any of the given slices')
  return found
}

/** What two elements are compared by: the merge key's value, or the scalar itself. */
export function identity(item: unknown, mergeKey: string): unknown {
  return isPlainObject(item) ? getOwn(item, mergeKey) : item
}

/** Where the first element of each identity is. */
export function indexByIdentity(list: readonly unknown[], mergeKey: string): Map<unknown, number> {
  const index = new Map<unknown, number>()
  for (let i = 0; i < list.length; i++) {
    const key = identity(list[i], mergeKey)
    if (!index.has(key)) index.set(key, i)
  }
  return index
}

/** Those elements of `list` that `by` has too, and the others. */
export function partition(
  list: readonly unknown[],
  by: readonly unknown[],
  mergeKey: string,
): { shared: unknown[]; rest: unknown[] } {
  const shared: unknown[] = []
  const rest: unknown[] = []
  const index = indexByIdentity(by, mergeKey)
  const firstScalar = mergeKey === '' ? -1 : by.findIndex(item => !isPlainObject(item))
  for (const item of list) {
    if (mergeKey !== '') checkMergeKey(item, mergeKey)
    const at = index.get(identity(item, mergeKey)) ?? -1
    if (firstScalar >= 0 && (at < 0 || at > firstScalar)) {
      throw inapplicable(`value for key ${firstScalar} is not a map`)
    }
    if (at < 0) rest.push(item)
    else shared.push(item)
  }
  return { shared, rest }
}

function checkMergeKey(item: unknown, mergeKey: string): asserts item is PlainObject {
  if (!isPlainObject(item)) throw wrongType('map', item)
  if (!hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
}

export interface ElementOrder {
  readonly patch: readonly unknown[]
  readonly server: readonly unknown[]
  readonly mergeKey: string
  readonly type: GoType
}

/** Both lists in one, `patchItems` in the order of `order.patch`, `serverItems` in that of `order.server`. */
export function mergeInOrder(
  patchItems: readonly unknown[],
  serverItems: readonly unknown[],
  order: ElementOrder,
): unknown[] {
  const right = sortByOrder(patchItems, order.patch, order)
  const left = sortByOrder(serverItems, order.server, order)
  const places = indexByIdentity(order.server, order.mergeKey)
  const placeOf = (item: unknown): number => places.get(identity(item, order.mergeKey)) ?? -1
  const merged: unknown[] = []
  let i = 0
  for (const item of right) {
    const place = placeOf(item)
    while (i < left.length) {
      const leftPlace = placeOf(left[i])
      if (place < 0 || leftPlace < 0 || leftPlace >= place) break
      merged.push(left[i++])
    }
    merged.push(item)
  }
  for (; i < left.length; i++) merged.push(left[i])
  return merged
}

/** What an order does not name moves about as it does upstream; in longer lists it comes first. */
const longestOddList = 1_000

/** `list` in the order that `order` has them; elements with `$patch: delete` come last. */
export function sortByOrder(
  list: readonly unknown[],
  order: readonly unknown[],
  { mergeKey, type }: Pick<ElementOrder, 'mergeKey' | 'type'>,
): unknown[] {
  const places = indexByIdentity(order, mergeKey)
  let items = list
  let deletions: unknown[] = []
  if (type === 'map') {
    for (const item of list) checkMergeKey(item, mergeKey)
    for (const item of order) checkMergeKey(item, mergeKey)
    deletions = list.filter(isDeletion)
    if (deletions.length > 0) items = list.filter(item => !isDeletion(item))
  }
  const keyed = items.map(item => ({ item, place: places.get(identity(item, mergeKey)) ?? -1 }))
  const isKnown = keyed.every(entry => entry.place >= 0)
  if (isKnown || keyed.length > longestOddList) keyed.sort((a, b) => a.place - b.place)
  else insertionSort(keyed, (a, b) => a.place < 0 || b.place < 0 || a.place < b.place)
  return [...keyed.map(entry => entry.item), ...deletions]
}

export function isDeletion(item: unknown): boolean {
  return isPlainObject(item) && getOwn(item, directiveKey) === 'delete'
}

/** Each element moves forward as long as `less` holds for it and the one before it. */
function insertionSort<T>(list: T[], less: (a: T, b: T) => boolean): void {
  for (let i = 1; i < list.length; i++) {
    for (let j = i; j > 0 && less(list[j]!, list[j - 1]!); j--) {
      const item = list[j]!
      list[j] = list[j - 1]!
      list[j - 1] = item
    }
  }
}

/** Up to this length Go sorts by insertion, which shows in the order of equal elements. */
const insertionSortLength = 12

/** A new list, sorted by what Go prints for each key; equal ones are reversed in short lists, as upstream's sort does. */
export function sortPrinted<T>(list: readonly T[], keyOf: (item: T) => unknown): T[] {
  const keyed = list.map(item => ({ item, text: goPrint(keyOf(item)) }))
  if (keyed.length <= insertionSortLength) {
    insertionSort(keyed, (a, b) => compareCodePoints(a.text, b.text) <= 0)
  } else {
    keyed.sort((a, b) => compareCodePoints(a.text, b.text))
  }
  return keyed.map(entry => entry.item)
}

/**
 * The scalars of `list`, each once. A later copy is replaced by the then last element, so that the order is that of
 * upstream's merged lists; past a thousand elements the copies are simply left out.
 */
export function deduplicate(list: readonly unknown[]): unknown[] {
  const unique = new Set(list)
  if (unique.size === list.length || list.length > 1000) return [...unique]
  const items = list.slice()
  for (let i = 0; i < items.length - 1; i++) {
    for (let j = i + 1; j < items.length; j++) {
      if (items[i] !== items[j]) continue
      items[j] = items[items.length - 1]
      items.pop()
      j--
    }
  }
  return items
}
