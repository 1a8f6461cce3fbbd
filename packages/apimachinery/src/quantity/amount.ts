/**
 * Exact decimal amounts: `unscaled * 10^scale`. Upstream has two representations, int64 and arbitrary, which round and
 * overflow differently where a value has to become an int64; `arbitrary` says which one a value would have there.
 */
import { MachineryError } from '../errors.ts'
import { fitInt64 } from '../go/parse-int.ts'

export interface Amount {
  readonly unscaled: bigint
  readonly scale: number
  readonly arbitrary: boolean
}

export const minInt64: bigint = -(2n ** 63n)
export const maxInt64: bigint = 2n ** 63n - 1n

/** Amounts whose scales are further apart cannot be added: the sum would have more digits than anyone can mean. */
const maxScaleDistance = 5_000

export function pow10(exponent: number): bigint {
  return 10n ** BigInt(exponent)
}

export function int64(unscaled: bigint, scale = 0): Amount {
  return { unscaled, scale, arbitrary: false }
}

export function dec(unscaled: bigint, scale: number): Amount {
  return { unscaled, scale, arbitrary: true }
}

export function signOf(value: bigint): -1 | 0 | 1 {
  return value > 0n ? 1 : value < 0n ? -1 : 0
}

function digitsOf(value: bigint): number {
  return (value < 0n ? -value : value).toString().length
}

/**
 * The amount at `scale` or above, rounded away from zero, and whether nothing was lost. An arbitrary one is then at
 * `scale`, which shows when it has to become an int64.
 */
export function roundUpTo(amount: Amount, scale: number): { amount: Amount; exact: boolean } {
  const { unscaled, arbitrary } = amount
  const distance = scale - amount.scale
  if (distance <= 0) return { amount: arbitrary ? rescale(amount, scale) : amount, exact: true }
  if (unscaled === 0n) return { amount: { unscaled, scale, arbitrary }, exact: true }
  const sign = BigInt(signOf(unscaled))
  if (distance > 40 && distance > digitsOf(unscaled)) {
    return { amount: { unscaled: sign, scale, arbitrary }, exact: false }
  }
  const divisor = pow10(distance)
  const quotient = unscaled / divisor
  const exact = quotient * divisor === unscaled
  return { amount: { unscaled: exact ? quotient : quotient + sign, scale, arbitrary }, exact }
}

/** The same amount at a lower scale, for as long as that is a sane number of digits. */
export function rescale(amount: Amount, scale: number): Amount {
  const distance = amount.scale - scale
  if (distance <= 0 || distance > maxScaleDistance) return amount
  return { unscaled: amount.unscaled * pow10(distance), scale, arbitrary: amount.arbitrary }
}

export function compareAmounts(a: Amount, b: Amount): -1 | 0 | 1 {
  if (a.scale === b.scale) return signOf(a.unscaled - b.unscaled)
  const sign = signOf(a.unscaled)
  if (sign !== signOf(b.unscaled)) return signOf(BigInt(sign - signOf(b.unscaled)))
  if (sign === 0) return 0
  if (Math.abs(a.scale - b.scale) > 40) {
    const magnitude = digitsOf(a.unscaled) + a.scale - (digitsOf(b.unscaled) + b.scale)
    if (magnitude !== 0) return magnitude > 0 ? sign : (-sign as -1 | 1)
  }
  const scale = Math.min(a.scale, b.scale)
  return signOf(a.unscaled * pow10(a.scale - scale) - b.unscaled * pow10(b.scale - scale))
}

/** @throws MachineryError `BadQuantity` when the scales are absurdly far apart */
export function addAmounts(a: Amount, b: Amount): Amount {
  if (!a.arbitrary && !b.arbitrary) {
    const sum = addInt64(a, b)
    if (sum) return sum
  }
  if (Math.abs(a.scale - b.scale) > maxScaleDistance) {
    throw new MachineryError('BadQuantity', 'quantities are too far apart to be added exactly')
  }
  const scale = Math.min(a.scale, b.scale)
  return dec(a.unscaled * pow10(a.scale - scale) + b.unscaled * pow10(b.scale - scale), scale)
}

function addInt64(a: Amount, b: Amount): Amount | undefined {
  if (b.unscaled === 0n) return a
  if (a.unscaled === 0n) return b
  const scale = Math.min(a.scale, b.scale)
  const left = scaleUpInt64(a.unscaled, a.scale - scale)
  const right = scaleUpInt64(b.unscaled, b.scale - scale)
  if (left === undefined || right === undefined) return undefined
  const sum = fitInt64(left + right)
  return sum === undefined ? undefined : int64(sum, scale)
}

export function negateAmount({ unscaled, scale, arbitrary }: Amount): Amount {
  return { unscaled: arbitrary ? -unscaled : BigInt.asIntN(64, -unscaled), scale, arbitrary }
}

export function multiplyAmount(amount: Amount, factor: bigint): Amount {
  if (!amount.arbitrary) {
    const product = multiplyInt64(amount, factor)
    if (product) return product
  }
  return dec(amount.unscaled * factor, amount.scale)
}

function multiplyInt64(amount: Amount, factor: bigint): Amount | undefined {
  const { unscaled, scale } = amount
  if (unscaled === 0n) return amount
  if (factor === 0n) return int64(0n)
  if (unscaled !== 1n && factor !== 1n && (unscaled === minInt64 || factor === minInt64)) return undefined
  const product = fitInt64(unscaled * factor)
  if (product === undefined) return undefined
  if (scale > 0 && scaleUpInt64(product, scale) === undefined) return undefined
  if (scale < 0 && !roundUpTo(int64(product, scale), 0).exact) return undefined
  return int64(product, scale)
}

/** `value * 10^exponent`, when that is an int64. */
export function scaleUpInt64(value: bigint, exponent: number): bigint | undefined {
  if (exponent <= 0 || value === 0n) return value
  if (exponent > 18 || value === minInt64) return undefined
  return fitInt64(value * pow10(exponent))
}

/** The amount as a whole number of `10^scale`, rounded and wrapped as upstream does it. */
export function scaledInt64(amount: Amount, scale: number): bigint {
  return amount.arbitrary ? scaledArbitrary(amount, scale) : scaledFromInt64(amount, scale)
}

// The steps in which upstream multiplies without looking at the overflow.
const unchecked: ReadonlySet<number> = new Set([1, 2, 3, 6, 9])

function scaledFromInt64(amount: Amount, scale: number): bigint {
  if (amount.scale < scale) return roundUpTo(amount, scale).amount.unscaled
  const exponent = (amount.scale - scale) | 0 // wraps, as upstream
  const exact = scaleUpInt64(amount.unscaled, exponent)
  if (exact !== undefined) return exact
  if (!unchecked.has(exponent) || amount.unscaled === minInt64) return 0n
  return BigInt.asIntN(64, amount.unscaled * pow10(exponent))
}

function scaledArbitrary({ unscaled, scale }: Amount, newScale: number): bigint {
  const distance = newScale - scale
  const low = BigInt.asIntN(64, unscaled)
  if (distance === 0) return low
  // From 10^19 on the factor is no int64 any more and becomes the smallest one.
  if (distance < 0) return BigInt.asIntN(64, low * (distance < -18 ? minInt64 : pow10(-distance)))
  if (unscaled < maxInt64 && distance < 19) {
    const divisor = pow10(distance)
    return low % divisor === 0n ? low / divisor : low / divisor + 1n
  }
  if (distance > digitsOf(unscaled)) return unscaled > 0n ? 1n : 0n
  const divisor = pow10(distance)
  const remainder = ((unscaled % divisor) + divisor) % divisor
  const floor = (unscaled - remainder) / divisor
  return BigInt.asIntN(64, remainder === 0n ? floor : BigInt.asIntN(64, floor) + 1n)
}
