import { compare } from '../equality.ts'
import { type Library, type Overload, overload } from '../functions.ts'
import { CelDouble, CelUint, checkedInt, fault, type ListValue, toInt, type Value } from '../values.ts'

function extreme(values: readonly Value[], sign: 1 | -1): Value {
  const [first, ...rest] = values
  if (first === undefined) return fault('math.@max(list) argument must not be empty')
  let best = first
  if (compare(best, 0) === undefined) fault('no such overload')
  for (const value of rest) {
    const order = compare(value, best)
    if (order === undefined) fault('no such overload')
    if (order * sign > 0) best = value
  }
  return best
}

const numbers = ['int', 'uint', 'double']

function extremes(fn: 'max' | 'min', sign: 1 | -1): Overload[] {
  const one = (a: Value): Value => extreme([a], sign)
  const two = (a: Value, b: Value): Value => extreme([a, b], sign)
  const list = (l: ListValue): Value => extreme(l.toArray(), sign)
  return [
    ...numbers.map(t => overload(`math_@${fn}_${t}`, `math.@${fn}(${t}): ${t}`, one)),
    ...numbers.flatMap(a =>
      numbers.map(b =>
        overload(`math_@${fn}_${a}_${b}`, `math.@${fn}(${a}, ${b}): ${a === b ? a : 'dyn'}`, two),
      ),
    ),
    ...numbers.map(t => overload(`math_@${fn}_list_${t}`, `math.@${fn}(list<${t}>): ${t}`, list)),
  ]
}

const double =
  (fn: (v: number) => number) =>
  (d: CelDouble): Value =>
    new CelDouble(fn(d.value))

function round(v: number): number {
  if (!Number.isFinite(v)) return v
  return v < 0 ? -Math.round(-v) : Math.round(v)
}

function sign(v: Value): Value {
  if (v instanceof CelDouble) return new CelDouble(Math.sign(v.value))
  if (v instanceof CelUint) return new CelUint(v.value === 0n ? 0n : 1n)
  return (v as number | bigint) > 0 ? 1 : (v as number | bigint) < 0 ? -1 : 0
}

function absolute(v: Value): Value {
  if (v instanceof CelDouble) return new CelDouble(Math.abs(v.value))
  if (v instanceof CelUint) return v
  const n = BigInt(v as number | bigint)
  return checkedInt(n < 0n ? -n : n)
}

function bits(fn: (a: bigint, b: bigint) => bigint): (a: Value, b: Value) => Value {
  return (a, b) => {
    if (a instanceof CelUint && b instanceof CelUint)
      return new CelUint(BigInt.asUintN(64, fn(a.value, b.value)))
    return toInt(BigInt.asIntN(64, fn(BigInt(a as number | bigint), BigInt(b as number | bigint))))
  }
}

function shift(left: boolean): (a: Value, by: number | bigint) => Value {
  return (a, by) => {
    const count = BigInt(by)
    if (count < 0n) fault(`math.${left ? 'bitShiftLeft' : 'bitShiftRight'}() negative offset: ${by}`)
    const value = BigInt.asUintN(64, a instanceof CelUint ? a.value : BigInt(a as number | bigint))
    const moved = count >= 64n ? 0n : BigInt.asUintN(64, left ? value << count : value >> count)
    return a instanceof CelUint ? new CelUint(moved) : toInt(BigInt.asIntN(64, moved))
  }
}

function invert(a: Value): Value {
  if (a instanceof CelUint) return new CelUint(BigInt.asUintN(64, ~a.value))
  return toInt(BigInt.asIntN(64, ~BigInt(a as number | bigint)))
}

const forBoth = (name: string, fn: string, implementation: (a: Value, b: Value) => Value): Overload[] =>
  ['int', 'uint'].map(t => overload(`math_${name}_${t}_${t}`, `math.${fn}(${t}, ${t}): ${t}`, implementation))

/** cel-go's math extension. Kubernetes does not offer it; the conformance suite tests it. */
export const mathLibrary: Library = {
  name: 'math',
  overloads: [
    ...extremes('max', 1),
    ...extremes('min', -1),
    overload('math_ceil_double', 'math.ceil(double): double', double(Math.ceil)),
    overload('math_floor_double', 'math.floor(double): double', double(Math.floor)),
    overload('math_round_double', 'math.round(double): double', double(round)),
    overload('math_trunc_double', 'math.trunc(double): double', double(Math.trunc)),
    overload('math_sqrt_double', 'math.sqrt(double): double', double(Math.sqrt)),
    ...numbers.map(t => overload(`math_abs_${t}`, `math.abs(${t}): ${t}`, absolute)),
    ...numbers.map(t => overload(`math_sign_${t}`, `math.sign(${t}): ${t}`, sign)),
    overload('math_isNaN_double', 'math.isNaN(double): bool', (d: CelDouble) => Number.isNaN(d.value)),
    overload(
      'math_isInf_double',
      'math.isInf(double): bool',
      (d: CelDouble) => Math.abs(d.value) === Number.POSITIVE_INFINITY,
    ),
    overload('math_isFinite_double', 'math.isFinite(double): bool', (d: CelDouble) =>
      Number.isFinite(d.value),
    ),
    ...forBoth(
      'bitAnd',
      'bitAnd',
      bits((a, b) => a & b),
    ),
    ...forBoth(
      'bitOr',
      'bitOr',
      bits((a, b) => a | b),
    ),
    ...forBoth(
      'bitXor',
      'bitXor',
      bits((a, b) => a ^ b),
    ),
    ...['int', 'uint'].map(t => overload(`math_bitNot_${t}_${t}`, `math.bitNot(${t}): ${t}`, invert)),
    ...['int', 'uint'].map(t =>
      overload(`math_bitShiftLeft_${t}_int`, `math.bitShiftLeft(${t}, int): ${t}`, shift(true)),
    ),
    ...['int', 'uint'].map(t =>
      overload(`math_bitShiftRight_${t}_int`, `math.bitShiftRight(${t}, int): ${t}`, shift(false)),
    ),
  ],
}
