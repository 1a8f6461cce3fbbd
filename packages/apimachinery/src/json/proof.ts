/**
 * The cheap proofs behind the strict reader: one pass over the bytes of a text that `JSON.parse` has accepted, and one
 * walk over what it returned. Together they show that nothing was lost; when they cannot, the exact reader does the work
 * again.
 *
 * Hot path. Measured with `npm run bench -- apimachinery`: scan and count together take about half of `JSON.parse`.
 */

/** Something the fast path cannot represent: a number of 16 digits or more, an exponent, an escaped surrogate. */
export const INEXACT = 1
/** A number with a decimal point: its value is right, its spelling is lost. */
export const FRACTION = 2

export interface Scan {
  /** Members of all objects, repeated ones included. */
  readonly members: number
  /** The deepest nesting of arrays and objects. */
  readonly depth: number
  readonly flags: number
}

/** Only for bytes that `JSON.parse` has accepted: structure is counted, not checked. */
export function scan(bytes: Uint8Array): Scan {
  const end = bytes.length
  let members = 0
  let depth = 0
  let deepest = 0
  let flags = 0
  let i = 0
  while (i < end) {
    const c = bytes[i++]!
    if (c <= 0x20) continue
    if (c === 0x22) {
      // A string: skip to its closing quote. An escaped surrogate may be unpaired, which only the exact reader mends.
      for (let d = bytes[i++]; d !== 0x22 && i < end; d = bytes[i++]) {
        if (d !== 0x5c) continue
        if (bytes[i] === 0x75 && (bytes[i + 1]! | 0x20) === 0x64) flags |= INEXACT
        i++
      }
    } else if (c === 0x3a) {
      members++
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > deepest) deepest = depth
    } else if (c === 0x7d || c === 0x5d) {
      depth--
    } else if (c >= 0x30 && c <= 0x39) {
      const start = i
      while (i < end && (bytes[i]! - 0x30) >>> 0 < 10) i++
      if (i - start >= 15) flags |= INEXACT
      const next = bytes[i]!
      if (next === 0x2e) flags |= FRACTION
      else if ((next | 0x20) === 0x65) flags |= INEXACT
    }
  }
  return { members, depth: deepest, flags }
}

/** Members of all objects in `value`. The nesting must be shallow: the caller knows it from {@link scan}. */
export function countMembers(value: object): number {
  let count = 0
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i]
      if (typeof item === 'object' && item !== null) count += countMembers(item)
    }
    return count
  }
  // Everything a JSON text names is an own member, and Object.prototype has no enumerable ones.
  for (const key in value) {
    count++
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object' && member !== null) count += countMembers(member)
  }
  return count
}
