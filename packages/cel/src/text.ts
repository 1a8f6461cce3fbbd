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

/** toFixed with ties to the even digit, as Go rounds. */
export function halfEven(number: number, precision: number): string {
  const text = number.toFixed(precision)
  const scaled = Math.abs(number) * 10 ** precision
  const isTie = precision < 15 && scaled % 1 === 0.5 && Number.isSafeInteger(Math.floor(scaled))
  if (!isTie || Math.floor(scaled) % 2 !== 0) return text
  return (Math.sign(number) * (Math.floor(scaled) / 10 ** precision)).toFixed(precision)
}
