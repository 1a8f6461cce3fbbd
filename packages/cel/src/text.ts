import { fault } from './values.ts'

const surrogates = /[\ud800-\udfff]/

/** Code points in a string; JavaScript's length where no character lies outside the basic plane. */
export function codePointLength(text: string): number {
  if (!surrogates.test(text)) return text.length
  let count = 0
  for (const _ of text) count++
  return count
}

export function codePoints(text: string): string[] {
  return surrogates.test(text) ? [...text] : text.split('')
}

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return fault('invalid UTF-8 in bytes, cannot convert to string')
  }
}

/** Go's strconv.FormatFloat(v, 'g', -1, 64) with CEL's spelling of infinities. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const exponent = Math.floor(Math.log10(Math.abs(value)))
  const [mantissa = '', power = '0'] = value.toExponential().split('e')
  const exact = Number(power)
  if (exponent < -5 || exact < -4 || exact >= 21) {
    const digits = String(Math.abs(exact)).padStart(2, '0')
    return `${mantissa}e${exact < 0 ? '-' : '+'}${digits}`
  }
  return String(value)
}
