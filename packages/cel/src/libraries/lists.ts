import { compare, equals, typeOfValue } from '../equality.ts'
import { type Library, type Overload, overload } from '../functions.ts'
import { add } from '../operators.ts'
import { CelDouble, CelUint, Duration, fault, ListValue, type Value } from '../values.ts'

const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']
const zeros: Readonly<Record<string, Value>> = {
  int: 0,
  uint: new CelUint(0n),
  double: new CelDouble(0),
  duration: new Duration(0n),
}

function order(a: Value, b: Value): number {
  return compare(a, b) ?? fault('no such overload')
}

function isSorted(list: ListValue): boolean {
  for (let i = 1; i < list.size; i++) if (order(list.at(i - 1), list.at(i)) > 0) return false
  return true
}

function extreme(name: 'min' | 'max'): (list: ListValue) => Value {
  const sign = name === 'min' ? 1 : -1
  return list => {
    if (list.size === 0) fault(`${name} called on empty list`)
    return list.toArray().reduce((best, next) => (order(best, next) * sign > 0 ? next : best))
  }
}

function indexOf(list: ListValue, item: Value): number {
  return list.toArray().findIndex(v => equals(v, item))
}

function lastIndexOf(list: ListValue, item: Value): number {
  return list.toArray().findLastIndex(v => equals(v, item))
}

/** Kubernetes' own list functions. */
export const kubernetesListsLibrary: Library = {
  name: 'kubernetes.lists',
  overloads: [
    ...comparable.map(t => overload(`list_${t}_is_sorted_bool`, `isSorted(this list<${t}>): bool`, isSorted)),
    ...Object.entries(zeros).map(([t, zero]) =>
      overload(`list_${t}_sum_${t}`, `sum(this list<${t}>): ${t}`, (list: ListValue) =>
        list.toArray().reduce(add, zero),
      ),
    ),
    ...comparable.map(t => overload(`list_${t}_max_${t}`, `max(this list<${t}>): ${t}`, extreme('max'))),
    ...comparable.map(t => overload(`list_${t}_min_${t}`, `min(this list<${t}>): ${t}`, extreme('min'))),
    overload('list_a_index_of_int', 'indexOf(this list<A>, A): int', indexOf),
    overload('list_a_last_index_of_int', 'lastIndexOf(this list<A>, A): int', lastIndexOf),
  ],
}

function slice(list: ListValue, start: number, end: number): Value {
  if (start < 0 || end < 0) fault(`cannot slice(${start}, ${end}), negative indexes not supported`)
  if (start > end)
    fault(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`)
  if (list.size < end) fault(`cannot slice(${start}, ${end}), list is length ${list.size}`)
  return new ListValue(list.items.slice(start, end), list.convert)
}

function flatten(list: ListValue, depth = 1): Value {
  if (depth < 0) fault('level must be non-negative')
  const flat = (items: readonly Value[], left: number): Value[] =>
    items.flatMap(v => (v instanceof ListValue && left > 0 ? flat(v.toArray(), left - 1) : [v]))
  return new ListValue(flat(list.toArray(), depth))
}

function distinct(list: ListValue): Value {
  const seen: Value[] = []
  for (const value of list.toArray()) if (!seen.some(s => equals(s, value))) seen.push(value)
  return new ListValue(seen)
}

function sortBy(list: ListValue, keys: ListValue): Value {
  if (keys.size !== list.size) {
    fault(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    )
  }
  const pairs = list.toArray().map((value, i) => ({ value, key: keys.at(i) }))
  const first = pairs[0]
  if (first === undefined) return list
  if (compare(first.key, first.key) === undefined) fault('list elements must be comparable')
  const kind = typeOfValue(first.key).kind
  if (pairs.some(p => typeOfValue(p.key).kind !== kind)) fault('list elements must have the same type')
  pairs.sort((a, b) => order(a.key, b.key))
  return new ListValue(pairs.map(p => p.value))
}

const maxRange = 1_000_000

function range(count: number): Value {
  if (count > maxRange) fault(`lists.range(${count}) exceeds the limit of ${maxRange}`)
  return new ListValue(Array.from({ length: Math.max(0, count) }, (_, i) => i))
}

function sorting(): Overload[] {
  return comparable.flatMap(t => [
    overload(`list_${t}_sort`, `sort(this list<${t}>): list<${t}>`, (l: ListValue) => sortBy(l, l)),
    overload(
      `list_${t}_sortByAssociatedKeys`,
      `@sortByAssociatedKeys(this list<T>, list<${t}>): list<T>`,
      sortBy,
    ),
  ])
}

/** cel-go's list extension, version 3. */
export const listsLibrary: Library = {
  name: 'lists',
  overloads: [
    overload('list_slice', 'slice(this list<T>, int, int): list<T>', slice),
    overload('list_flatten', 'flatten(this list<list<T>>): list<T>', flatten),
    overload('list_flatten_int', 'flatten(this list<dyn>, int): list<dyn>', flatten),
    overload('lists_range', 'lists.range(int): list<int>', range),
    overload(
      'list_reverse',
      'reverse(this list<T>): list<T>',
      (l: ListValue) => new ListValue(l.toArray().toReversed()),
    ),
    overload('list_distinct', 'distinct(this list<T>): list<T>', distinct),
    ...sorting(),
  ],
}

function contains(list: ListValue, other: ListValue): boolean {
  const items = list.toArray()
  return other.toArray().every(v => items.some(i => equals(i, v)))
}

export const setsLibrary: Library = {
  name: 'sets',
  overloads: [
    overload('list_sets_contains_list', 'sets.contains(list<T>, list<T>): bool', contains),
    overload(
      'list_sets_equivalent_list',
      'sets.equivalent(list<T>, list<T>): bool',
      (a: ListValue, b: ListValue) => contains(a, b) && contains(b, a),
    ),
    overload(
      'list_sets_intersects_list',
      'sets.intersects(list<T>, list<T>): bool',
      (a: ListValue, b: ListValue) => {
        const items = a.toArray()
        return b.toArray().some(v => items.some(i => equals(i, v)))
      },
    ),
  ],
}
