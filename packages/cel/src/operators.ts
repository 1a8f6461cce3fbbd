import { concatBytes } from '@coxswain/kit'
import { compare, equals, typeOfValue } from './equality.ts'
import { type Library, type Overload, overload } from './functions.ts'
import { addDuration, addTimestamp, subtractTimestamps } from './time.ts'
import {
  CelDouble,
  CelUint,
  checkedInt,
  checkedUint,
  Duration,
  fault,
  isInt,
  isMapValue,
  type ListSemantics,
  ListValue,
  noneValue,
  OptionalValue,
  Timestamp,
  type Value,
} from './values.ts'

const overloadFault = 'no such overload'

/** cel-go names the operator where the left operand has no such operation at all. */
function refuse(fn: string, left: Value, supported: string): never {
  return fault(
    supported.split(' ').includes(typeOfValue(left).kind) ? overloadFault : `${overloadFault}: ${fn}`,
  )
}

export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    return Number.isSafeInteger(sum) ? sum : checkedInt(BigInt(a) + BigInt(b))
  }
  if (typeof a === 'string' && typeof b === 'string') return a + b
  if (isInt(a) && isInt(b)) return checkedInt(BigInt(a) + BigInt(b))
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value + b.value)
  if (a instanceof CelUint && b instanceof CelUint) return checkedUint(a.value + b.value)
  if (a instanceof ListValue && b instanceof ListValue) {
    if (a.semantics !== undefined) return merge(a, b, a.semantics)
    if (a.size === 0) return b
    if (b.size === 0) return a
    return new ListValue(a.toArray().concat(b.toArray()))
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return concatBytes([a, b])
  if (a instanceof Duration && b instanceof Duration) return addDuration(a, b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return addTimestamp(a, b.nanos)
  if (a instanceof Duration && b instanceof Timestamp) return addTimestamp(b, a.nanos)
  return refuse('_+_', a, 'int uint double string bytes list duration timestamp')
}

/** Sets get what they lack; map lists have the elements of equal key replaced. */
function merge(a: ListValue, b: ListValue, semantics: ListSemantics): ListValue {
  const { keyOf, isMap } = semantics
  const items = [...a.items]
  const places = new Map(items.map((item, i) => [keyOf(item), i]))
  for (const item of b.items) {
    const place = places.get(keyOf(item))
    if (place === undefined) {
      places.set(keyOf(item), items.length)
      items.push(item)
    } else if (isMap) items[place] = item
  }
  return new ListValue(items, a.convert, semantics)
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    return Number.isSafeInteger(difference) ? difference : checkedInt(BigInt(a) - BigInt(b))
  }
  if (isInt(a) && isInt(b)) return checkedInt(BigInt(a) - BigInt(b))
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value - b.value)
  if (a instanceof CelUint && b instanceof CelUint) return checkedUint(a.value - b.value)
  if (a instanceof Duration && b instanceof Duration) return addDuration(a, -b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return addTimestamp(a, -b.nanos)
  if (a instanceof Timestamp && b instanceof Timestamp) return subtractTimestamps(a, b)
  return refuse('_-_', a, 'int uint double duration timestamp')
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    return Number.isSafeInteger(product) ? product + 0 : checkedInt(BigInt(a) * BigInt(b))
  }
  if (isInt(a) && isInt(b)) return checkedInt(BigInt(a) * BigInt(b))
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value * b.value)
  if (a instanceof CelUint && b instanceof CelUint) return checkedUint(a.value * b.value)
  return refuse('_*_', a, 'int uint double')
}

export function divide(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) {
    // biome-ignore lint/suspicious/noDoubleEquals: number or bigint
    if (b == 0) fault('division by zero')
    if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0
    return checkedInt(BigInt(a) / BigInt(b))
  }
  if (a instanceof CelDouble && b instanceof CelDouble) return new CelDouble(a.value / b.value)
  if (a instanceof CelUint && b instanceof CelUint) {
    if (b.value === 0n) fault('division by zero')
    return new CelUint(a.value / b.value)
  }
  return refuse('_/_', a, 'int uint double')
}

export function modulo(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) {
    // biome-ignore lint/suspicious/noDoubleEquals: number or bigint
    if (b == 0) fault('modulus by zero')
    if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0
    return checkedInt(BigInt(a) % BigInt(b))
  }
  if (a instanceof CelUint && b instanceof CelUint) {
    if (b.value === 0n) fault('modulus by zero')
    return new CelUint(a.value % b.value)
  }
  return refuse('_%_', a, 'int uint')
}

export function negate(a: Value): Value {
  if (typeof a === 'number') return 0 - a
  if (typeof a === 'bigint') return checkedInt(-a)
  if (a instanceof CelDouble) return new CelDouble(-a.value)
  return fault(overloadFault)
}

function ordered(a: Value, b: Value): number {
  return compare(a, b) ?? fault(overloadFault)
}

export const less = (a: Value, b: Value): boolean => ordered(a, b) < 0
export const lessEquals = (a: Value, b: Value): boolean => ordered(a, b) <= 0
export const greater = (a: Value, b: Value): boolean => ordered(a, b) > 0
export const greaterEquals = (a: Value, b: Value): boolean => ordered(a, b) >= 0

export function contains(element: Value, container: Value): boolean {
  if (container instanceof ListValue) {
    for (let i = 0; i < container.size; i++) if (equals(container.at(i), element)) return true
    return false
  }
  if (isMapValue(container)) return container.has?.(element) ?? container.get(element) !== undefined
  return fault(overloadFault)
}

/** `container[key]`, or undefined where a key or index is not there; what is no container has nothing. */
export function lookUp(container: Value, key: Value): Value | undefined {
  if (container instanceof ListValue) {
    const at = listIndex(key)
    return at >= 0 && at < container.size ? container.at(at) : undefined
  }
  if (!isMapValue(container)) return undefined
  const found = container.get(key)
  if (found === undefined && (key === null || key instanceof ListValue || isMapValue(key)))
    fault('unsupported key type')
  return found
}

function listIndex(key: Value): number {
  if (typeof key === 'number') return key
  if (key instanceof CelUint || typeof key === 'bigint')
    return Number(key instanceof CelUint ? key.value : key)
  if (!(key instanceof CelDouble)) return fault(`unsupported index type '${typeOfValue(key).name}' in list`)
  return Number.isInteger(key.value) ? key.value : fault(`unsupported index value ${key.value} in list`)
}

export function index(container: Value, key: Value): Value {
  const found = lookUp(container, key)
  if (found !== undefined) return found
  return container instanceof ListValue ? fault(`index out of bounds: ${describeKey(key)}`) : noSuchKey(key)
}

export function describeKey(key: Value): string {
  return key instanceof CelDouble || key instanceof CelUint ? String(key.value) : String(key)
}

export function noSuchKey(key: Value): never {
  return fault(`no such key: ${describeKey(key)}`)
}

export function optionalIndex(container: Value, key: Value): Value {
  if (container instanceof OptionalValue) {
    return container.value === undefined ? noneValue : optionalIndex(container.value, key)
  }
  const found = lookUp(container, key)
  return found === undefined ? noneValue : new OptionalValue(found)
}

const orderedTypes = [
  'bool',
  'int64:int',
  'uint64:uint',
  'double',
  'string',
  'bytes',
  'timestamp',
  'duration',
]
const mixed = [
  ['int64_double', 'int, double'],
  ['int64_uint64', 'int, uint'],
  ['uint64_double', 'uint, double'],
  ['uint64_int64', 'uint, int'],
  ['double_int64', 'double, int'],
  ['double_uint64', 'double, uint'],
] as const

function comparison(prefix: string, fn: string, implementation: (a: Value, b: Value) => boolean): Overload[] {
  const same = orderedTypes.map(entry => {
    const [id = '', type = id] = entry.split(':')
    return overload(`${prefix}_${id}`, `${fn}(${type}, ${type}): bool`, implementation)
  })
  const cross = mixed.map(([id, args]) => overload(`${prefix}_${id}`, `${fn}(${args}): bool`, implementation))
  return [...same, ...cross]
}

function arithmetic(
  prefix: string,
  fn: string,
  types: string,
  implementation: (a: Value, b: Value) => Value,
): Overload[] {
  return types.split(' ').map(entry => {
    const [id = '', type = id] = entry.split(':')
    return overload(`${prefix}_${id}`, `${fn}(${type}, ${type}): ${type}`, implementation)
  })
}

export const operatorLibrary: Library = {
  name: 'operators',
  overloads: [
    ...arithmetic(
      'add',
      '_+_',
      'bytes double duration:duration int64:int list:list<A> string uint64:uint',
      add,
    ).map(o => (o.id === 'add_duration' ? { ...o, id: 'add_duration_duration' } : o)),
    overload('add_duration_timestamp', '_+_(duration, timestamp): timestamp', add),
    overload('add_timestamp_duration', '_+_(timestamp, duration): timestamp', add),
    ...arithmetic('subtract', '_-_', 'double int64:int uint64:uint', subtract),
    overload('subtract_duration_duration', '_-_(duration, duration): duration', subtract),
    overload('subtract_timestamp_duration', '_-_(timestamp, duration): timestamp', subtract),
    overload('subtract_timestamp_timestamp', '_-_(timestamp, timestamp): duration', subtract),
    ...arithmetic('multiply', '_*_', 'double int64:int uint64:uint', multiply),
    ...arithmetic('divide', '_/_', 'double int64:int uint64:uint', divide),
    ...arithmetic('modulo', '_%_', 'int64:int uint64:uint', modulo),
    overload('negate_double', '-_(double): double', negate),
    overload('negate_int64', '-_(int): int', negate),
    overload('logical_not', '!_(bool): bool', (a: Value) =>
      typeof a === 'boolean' ? !a : fault(overloadFault),
    ),
    overload('not_strictly_false', '@not_strictly_false(bool): bool', (a: Value) => a !== false),
    overload('equals', '_==_(A, A): bool', equals),
    overload('not_equals', '_!=_(A, A): bool', (a: Value, b: Value) => !equals(a, b)),
    ...comparison('less', '_<_', less),
    ...comparison('less_equals', '_<=_', lessEquals),
    ...comparison('greater', '_>_', greater),
    ...comparison('greater_equals', '_>=_', greaterEquals),
    overload('in_list', '@in(A, list<A>): bool', contains),
    overload('in_map', '@in(A, map<A, B>): bool', contains),
    overload('index_list', '_[_](list<A>, int): A', index),
    overload('index_map', '_[_](map<A, B>, A): B', index),
    overload('logical_and', '_&&_(bool, bool): bool', (a: boolean, b: boolean) => a && b),
    overload('logical_or', '_||_(bool, bool): bool', (a: boolean, b: boolean) => a || b),
    overload('conditional', '_?_:_(bool, A, A): A', (c: boolean, a: Value, b: Value) => (c ? a : b)),
  ],
}
