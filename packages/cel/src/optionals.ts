import { equals } from './equality.ts'
import { type Library, overload } from './functions.ts'
import { optionalIndex } from './operators.ts'
import { codePointLength } from './text.ts'
import { optionalOf, typeParam } from './types.ts'
import {
  CelDouble,
  CelUint,
  Duration,
  fault,
  isMapValue,
  ListValue,
  noneValue,
  OptionalValue,
  Timestamp,
  type Value,
} from './values.ts'

/** Whether `optional.ofNonZeroValue` takes a value for nothing. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0) return true
  if (typeof value === 'string') return codePointLength(value) === 0
  if (value instanceof CelDouble) return value.value === 0
  if (value instanceof CelUint) return value.value === 0n
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof ListValue || isMapValue(value)) return value.size === 0
  if (value instanceof Duration) return value.nanos === 0n
  if (value instanceof Timestamp) return equals(value, new Timestamp(-62135596800, 0))
  if (value instanceof OptionalValue) return value.value === undefined
  return false
}

function unwrap(list: ListValue): Value {
  const present: Value[] = []
  for (const item of list.toArray()) {
    if (!(item instanceof OptionalValue)) return fault('no such overload')
    if (item.value !== undefined) present.push(item.value)
  }
  return new ListValue(present)
}

const some = (value: Value): OptionalValue => new OptionalValue(value)

export const optionalLibrary: Library = {
  name: 'optional',
  types: [optionalOf(typeParam('V'))],
  overloads: [
    overload('optional_of', 'optional.of(V): optional<V>', some),
    overload('optional_ofNonZeroValue', 'optional.ofNonZeroValue(V): optional<V>', (v: Value) =>
      isZero(v) ? noneValue : some(v),
    ),
    overload('optional_none', 'optional.none(): optional<V>', () => noneValue),
    overload('optional_value', 'value(this optional<V>): V', (o: OptionalValue) => o.value ?? absent(o)),
    overload(
      'optional_hasValue',
      'hasValue(this optional<V>): bool',
      (o: OptionalValue) => o.value !== undefined,
    ),
    overload(
      'optional_or_optional',
      'or(this optional<V>, optional<V>): optional<V>',
      (a: OptionalValue, b: OptionalValue) => (a.value === undefined ? b : a),
    ),
    overload('optional_orValue_value', 'orValue(this optional<V>, V): V', (a: OptionalValue, b: Value) =>
      a.value === undefined ? b : a.value,
    ),
    overload('optional_unwrap', 'optional.unwrap(list<optional<V>>): list<V>', unwrap),
    overload('optional_unwrapOpt', 'unwrapOpt(this list<optional<V>>): list<V>', unwrap),
    overload('list_first', 'first(this list<V>): optional<V>', (l: ListValue) =>
      l.size === 0 ? noneValue : some(l.at(0)),
    ),
    overload('list_last', 'last(this list<V>): optional<V>', (l: ListValue) =>
      l.size === 0 ? noneValue : some(l.at(l.size - 1)),
    ),
    overload('select_optional_field', '_?._(dyn, string): optional<V>', optionalIndex),
    overload('list_optindex_optional_int', '_[?_](list<V>, int): optional<V>', optionalIndex),
    overload(
      'optional_list_optindex_optional_int',
      '_[?_](optional<list<V>>, int): optional<V>',
      optionalIndex,
    ),
    overload('map_optindex_optional_value', '_[?_](map<K, V>, K): optional<V>', optionalIndex),
    overload(
      'optional_map_optindex_optional_value',
      '_[?_](optional<map<K, V>>, K): optional<V>',
      optionalIndex,
    ),
    overload('optional_list_index_int', '_[_](optional<list<V>>, int): optional<V>', optionalIndex),
    overload('optional_map_index_value', '_[_](optional<map<K, V>>, K): optional<V>', optionalIndex),
  ],
}

function absent(o: OptionalValue): Value {
  return o.value === null ? null : fault('optional.none() dereference')
}
