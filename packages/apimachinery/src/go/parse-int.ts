const min = -(2n ** 63n)
const max = 2n ** 63n - 1n

/** A decimal int64 as Go's `strconv.ParseInt(text, 10, 64)` accepts it: an optional sign, digits, nothing else. */
export function parseInt64(text: string): bigint | undefined {
  const start = text[0] === '-' || text[0] === '+' ? 1 : 0
  if (text.length === start) return undefined
  let significant = text.length
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x30 || code > 0x39) return undefined
    if (significant === text.length && code !== 0x30) significant = i
  }
  if (text.length - significant > 19) return undefined
  const magnitude = BigInt(text.slice(significant) || '0')
  const value = text[0] === '-' ? -magnitude : magnitude
  return value < min || value > max ? undefined : value
}

/** Within int64, or undefined. */
export function fitInt64(value: bigint): bigint | undefined {
  return value < min || value > max ? undefined : value
}

const maxUint64 = 2n ** 64n - 1n

/**
 * The result of Go's `strconv.Atoi`, whose value callers often use despite an error: 0 for an invalid
 * number, the nearest int64 for one that is out of range. A text that overflows before its first invalid character is out
 * of range.
 */
export function atoi(text: string): { value: bigint; error?: 'invalid syntax' | 'value out of range' } {
  const negative = text[0] === '-'
  const start = negative || text[0] === '+' ? 1 : 0
  let magnitude = text.length === start ? undefined : 0n
  for (let i = start; magnitude !== undefined && i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) magnitude = undefined
    else if (magnitude * 10n + BigInt(digit) > maxUint64) {
      return { value: negative ? min : max, error: 'value out of range' }
    } else magnitude = magnitude * 10n + BigInt(digit)
  }
  if (magnitude === undefined) return { value: 0n, error: 'invalid syntax' }
  const value = negative ? -magnitude : magnitude
  if (value >= min && value <= max) return { value }
  return { value: negative ? min : max, error: 'value out of range' }
}
