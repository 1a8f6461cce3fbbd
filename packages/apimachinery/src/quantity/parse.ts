import { MachineryError } from '../errors.ts'
import { fitInt64 } from '../go/parse-int.ts'
import { type Amount, compareAmounts, dec, int64, maxInt64, negateAmount, roundUpTo } from './amount.ts'
import { interpretSuffix, type QuantityFormat, type Suffix } from './suffix.ts'

export interface ParsedQuantity {
  readonly amount: Amount
  readonly format: QuantityFormat
  /** The text, where upstream takes it for canonical without looking closer. */
  readonly text?: string
}

const nano = -9

/** @throws MachineryError `BadQuantity` with one of upstream's three messages */
export function parseQuantityText(text: string): ParsedQuantity {
  if (text === '') throw formatError()
  if (text === '0') return { amount: int64(0n), format: 'DecimalSI', text }
  const parts = split(text)
  const suffix = interpretSuffix(parts.suffix)
  if (!suffix) throw new MachineryError('BadQuantity', "unable to parse quantity's suffix")
  return parseShort(text, parts, suffix) ?? parseLong(parts, suffix)
}

function formatError(): MachineryError {
  const pattern = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
  return new MachineryError('BadQuantity', `quantities must match the regular expression '${pattern}'`)
}

interface Parts {
  readonly negative: boolean
  /** Without leading zeros. */
  readonly whole: string
  readonly fraction: string
  /** Whether there is any digit before the suffix. */
  readonly hasDigits: boolean
  readonly suffix: string
}

function split(text: string): Parts {
  const start = text[0] === '-' || text[0] === '+' ? 1 : 0
  const negative = text[0] === '-'
  const firstDigit = skip(text, start, isZero)
  if (firstDigit === text.length) {
    return { negative, whole: '0', fraction: '', hasDigits: true, suffix: '' }
  }
  const wholeEnd = skip(text, firstDigit, isDigit)
  const fractionStart = text[wholeEnd] === '.' ? wholeEnd + 1 : wholeEnd
  const fractionEnd = fractionStart > wholeEnd ? skip(text, fractionStart, isDigit) : wholeEnd
  let end = skip(text, fractionEnd, isSuffixLetter)
  if (text[end] === '-' || text[end] === '+') end++
  if (skip(text, end, isDigit) !== text.length) throw formatError()
  return {
    negative,
    whole: text.slice(firstDigit, wholeEnd) || '0',
    fraction: text.slice(fractionStart, fractionEnd),
    hasDigits: wholeEnd > start || fractionEnd > fractionStart,
    suffix: text.slice(fractionEnd),
  }
}

function skip(text: string, from: number, accepts: (code: number) => boolean): number {
  let at = from
  while (at < text.length && accepts(text.charCodeAt(at))) at++
  return at
}

const suffixLetters: ReadonlySet<number> = new Set([...'eEinumkKMGTP'].map(char => char.charCodeAt(0)))
const isZero = (code: number): boolean => code === 0x30
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isSuffixLetter = (code: number): boolean => suffixLetters.has(code)

// Numbers that surely fit an int64. Anything else, undefined.
function parseShort(text: string, parts: Parts, suffix: Suffix): ParsedQuantity | undefined {
  const { whole, fraction, negative } = parts
  const { base, exponent, format } = suffix
  if (base === 2 && (fraction !== '' || 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1 < 0)) {
    return undefined
  }
  if (base === 10 && whole.length + fraction.length > 18) return undefined
  const scale = ((base === 10 ? exponent : 0) - fraction.length) | 0
  if (scale < nano) return undefined
  const digits = whole + fraction
  const value = BigInt(digits)
  const product = fitInt64(base === 2 ? value << BigInt(exponent) : value)
  if (product === undefined) return undefined
  const amount = int64(negative ? -product : product, scale)
  const canonical =
    base === 2 ? (value & 7n) !== 0n : scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0'
  return canonical ? { amount, format, text } : { amount, format }
}

const max = int64(maxInt64)
const one = int64(1n)

// Rounded up to nanos; binary quantities are capped at the largest int64.
function parseLong(parts: Parts, suffix: Suffix): ParsedQuantity {
  if (!parts.hasDigits) {
    throw new MachineryError('BadQuantity', 'unable to parse numeric part of quantity')
  }
  let amount = suffix.base === 10 ? readDecimal(parts, suffix.exponent) : readBinary(parts, suffix.exponent)
  const isZero = amount.unscaled === 0n
  if (!isZero) amount = roundUpTo(amount, nano).amount
  let { format } = suffix
  if (format === 'BinarySI' && compareAmounts(amount, max) > 0) amount = dec(maxInt64, 0)
  if (format === 'BinarySI' && !isZero && compareAmounts(amount, one) < 0) format = 'DecimalSI'
  return { amount: parts.negative ? negateAmount(amount) : amount, format }
}

// Digits below a nano are cut off before the rest becomes a number: one more stands for them, which rounds up.
function readDecimal({ whole, fraction }: Parts, exponent: number): Amount {
  const digits = whole + fraction
  const scale = exponent - fraction.length
  const surplus = nano - 1 - scale
  if (surplus <= 0) return dec(BigInt(digits), scale)
  return cut(digits, Math.max(0, digits.length - surplus), scale)
}

// More digits than these are beyond the cap, or below a nano even when multiplied by the largest suffix.
const binaryDigits = 40

function readBinary({ whole, fraction }: Parts, exponent: number): Amount {
  if (whole.length > binaryDigits) return dec(maxInt64 + 1n, 0)
  const amount = cut(whole + fraction, whole.length + binaryDigits, -fraction.length)
  return dec(amount.unscaled << BigInt(exponent), amount.scale)
}

// The first `count` digits, and a 1 for all others unless those are zeros. Zero keeps its scale, which sums show.
function cut(digits: string, count: number, scale: number): Amount {
  if (digits.length <= count) return dec(BigInt(digits), scale)
  const kept = BigInt(digits.slice(0, count))
  const isExact = skip(digits, count, isZero) === digits.length
  if (isExact && kept === 0n) return dec(0n, scale)
  return dec(kept * 10n + (isExact ? 0n : 1n), scale + digits.length - count - 1)
}
