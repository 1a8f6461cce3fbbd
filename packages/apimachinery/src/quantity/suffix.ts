import { parseInt64 } from '../go/parse-int.ts'

/** How a quantity is written: `12e6`, `12Mi` or `12M`. Sums keep the form of their first non-zero term. */
export type QuantityFormat = 'DecimalExponent' | 'BinarySI' | 'DecimalSI'

export interface Suffix {
  readonly base: 2 | 10
  readonly exponent: number
  readonly format: QuantityFormat
}

const decimal: readonly (readonly [string, number])[] = [
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]
const binary: readonly (readonly [string, number])[] = [
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
]

const bySuffix: ReadonlyMap<string, Suffix> = new Map([
  ...decimal.map(
    ([suffix, exponent]) => [suffix, { base: 10, exponent, format: 'DecimalSI' }] as [string, Suffix],
  ),
  ...binary.map(
    ([suffix, exponent]) => [suffix, { base: 2, exponent, format: 'BinarySI' }] as [string, Suffix],
  ),
])
const byDecimalExponent: ReadonlyMap<number, string> = new Map(
  decimal.map(([suffix, exponent]) => [exponent, suffix]),
)
const byBinaryExponent: ReadonlyMap<number, string> = new Map(
  binary.map(([suffix, exponent]) => [exponent, suffix]),
)

/** What a suffix means; undefined when it means nothing. Exponents wrap at 32 bits, as upstream. */
export function interpretSuffix(suffix: string): Suffix | undefined {
  const known = bySuffix.get(suffix)
  if (known) return known
  if (suffix.length < 2 || (suffix[0] !== 'e' && suffix[0] !== 'E')) return undefined
  const exponent = parseInt64(suffix.slice(1))
  if (exponent === undefined) return undefined
  return { base: 10, exponent: Number(BigInt.asIntN(32, exponent)), format: 'DecimalExponent' }
}

/** The suffix for 10^exponent; upstream writes none where there is none, such as for 10^21 in DecimalSI. */
export function decimalSuffix(exponent: number, format: QuantityFormat): string {
  if (format === 'DecimalExponent') return exponent === 0 ? '' : `e${exponent}`
  return byDecimalExponent.get(exponent) ?? ''
}

/** The suffix for 2^exponent. */
export function binarySuffix(exponent: number): string {
  return byBinaryExponent.get(exponent) ?? ''
}
