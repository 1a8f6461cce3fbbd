import {
  type Amount,
  addAmounts,
  compareAmounts,
  int64,
  multiplyAmount,
  negateAmount,
  pow10,
  roundUpTo,
  scaledInt64,
  scaleUpInt64,
  signOf,
} from './amount.ts'
import { parseQuantityText } from './parse.ts'
import { binarySuffix, decimalSuffix, type QuantityFormat } from './suffix.ts'

const brand = Symbol.for('coxswain.apimachinery.Quantity')

/** An exact amount of something: `100m`, `1.5Gi`, `12e6`. Immutable; arithmetic gives new ones. */
export class Quantity {
  readonly format: QuantityFormat
  /** How the amount is held; for this package's own arithmetic. */
  readonly amount: Amount
  #text: string | undefined

  private constructor(amount: Amount, format: QuantityFormat, text?: string) {
    this.amount = amount
    this.format = format
    this.#text = text
  }

  static readonly zero: Quantity = new Quantity(int64(0n), 'DecimalSI')

  /** @throws MachineryError `BadQuantity` with upstream's message */
  static parse(text: string): Quantity {
    const { amount, format, text: canonical } = parseQuantityText(text)
    return new Quantity(amount, format, canonical)
  }

  /** `value * 10^scale`, for an int64 `value`: `Quantity.of(250, { scale: -3 })` is `250m`. */
  static of(
    value: bigint | number,
    { scale = 0, format = 'DecimalSI' }: { scale?: number; format?: QuantityFormat } = {},
  ): Quantity {
    return new Quantity(int64(BigInt(value), scale), format)
  }

  get isZero(): boolean {
    return this.amount.unscaled === 0n
  }

  get sign(): -1 | 0 | 1 {
    return signOf(this.amount.unscaled)
  }

  /** Exact, whatever the forms. For `sort`. */
  compare(other: Quantity): -1 | 0 | 1 {
    return compareAmounts(this.amount, other.amount)
  }

  /** The same amount, whatever the forms: `1` equals `1000m`. */
  equals(other: Quantity): boolean {
    return this.compare(other) === 0
  }

  add(other: Quantity): Quantity {
    return new Quantity(addAmounts(this.amount, other.amount), this.isZero ? other.format : this.format)
  }

  subtract(other: Quantity): Quantity {
    const amount = addAmounts(this.amount, negateAmount(other.amount))
    return new Quantity(amount, this.isZero ? other.format : this.format)
  }

  negate(): Quantity {
    return new Quantity(negateAmount(this.amount), this.format)
  }

  multiply(factor: bigint | number): Quantity {
    return new Quantity(multiplyAmount(this.amount, BigInt(factor)), this.format)
  }

  /** Rounded away from zero to a multiple of `10^scale`. */
  roundUp(scale: number): Quantity {
    const { amount } = roundUpTo(this.amount, scale)
    return amount === this.amount ? this : new Quantity(amount, this.format)
  }

  /** The whole number, rounded up; beyond int64 it wraps, as upstream's. */
  get value(): bigint {
    return scaledInt64(this.amount, 0)
  }

  /** Thousandths, rounded up; beyond int64 it wraps, as upstream's. */
  get milliValue(): bigint {
    return scaledInt64(this.amount, -3)
  }

  /** Multiples of `10^scale`, rounded up; beyond int64 it wraps, as upstream's. */
  scaledValue(scale: number): bigint {
    return scaledInt64(this.amount, scale)
  }

  /** The whole number if it is one, fits an int64 and was never written with more digits than that. */
  asInt64(): bigint | undefined {
    const { unscaled, scale, arbitrary } = this.amount
    if (arbitrary || scale < 0) return undefined
    return scaleUpInt64(unscaled, scale)
  }

  /** The nearest number. */
  toNumber(): number {
    return Number(`${this.amount.unscaled}e${this.amount.scale}`)
  }

  /** The canonical form: no fraction, the largest suffix that leaves none. */
  toString(): string {
    this.#text ??= format(this.amount, this.format)
    return this.#text
  }

  toJSON(): string {
    return this.toString()
  }
}

Object.defineProperty(Quantity.prototype, brand, { value: true })

const kibi = int64(1024n)
const minusKibi = int64(-1024n)

function format(amount: Amount, wanted: QuantityFormat): string {
  if (amount.unscaled === 0n) return '0'
  if (wanted === 'BinarySI') {
    const small = compareAmounts(amount, minusKibi) > 0 && compareAmounts(amount, kibi) < 0
    const { amount: whole, exact } = roundUpTo(amount, 0)
    if (!small && exact) return formatBinary(whole.unscaled * pow10(whole.scale))
  }
  return formatDecimal(amount, wanted === 'DecimalExponent' ? wanted : 'DecimalSI')
}

function formatBinary(whole: bigint): string {
  let value = whole
  let exponent = 0
  while ((value & 1023n) === 0n) {
    value >>= 10n
    exponent += 10
  }
  return `${value}${binarySuffix(exponent)}`
}

function formatDecimal({ unscaled, scale }: Amount, wanted: QuantityFormat): string {
  let digits = unscaled.toString()
  let end = digits.length
  while (digits[end - 1] === '0') end--
  let exponent = scale + digits.length - end
  digits = digits.slice(0, end)
  for (; exponent % 3 !== 0; exponent--) digits += '0'
  return digits + decimalSuffix(exponent, wanted)
}

/** True also for a quantity made by another copy of this package. */
export function isQuantity(value: unknown): value is Quantity {
  return typeof value === 'object' && value !== null && brand in value
}

/**
 * A quantity as it stands in an object: a string, around which spaces do not matter, or a number.
 * @throws MachineryError `BadQuantity`
 */
export function parseQuantity(value: string | number | bigint): Quantity {
  return Quantity.parse(typeof value === 'string' ? trimSpace(value) : String(value))
}

/** As a server stores it. */
export function canonicalizeQuantity(value: string | number | bigint): string {
  return parseQuantity(value).toString()
}

// Go's white space, which is not JavaScript's: no U+FEFF, but U+0085.
function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d)
  if (code < 0x1680) return code === 0x85 || code === 0xa0
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  )
}
