/**
 * Character classes of names. Names are scanned by hand rather than matched by patterns: one pass, no backtracking,
 * whatever a client sends.
 */
export const lower = 1
export const upper = 2
export const digit = 4
export const dash = 8
export const underscore = 16
export const dot = 32

const classes: Uint8Array = new Uint8Array(128)
for (let code = 0x61; code <= 0x7a; code++) classes[code] = lower
for (let code = 0x41; code <= 0x5a; code++) classes[code] = upper
for (let code = 0x30; code <= 0x39; code++) classes[code] = digit
classes[0x2d] = dash
classes[0x5f] = underscore
classes[0x2e] = dot

/** True when the character at `index` is in one of the classes. */
export function isAt(text: string, index: number, mask: number): boolean {
  const code = text.charCodeAt(index)
  return code < 128 && (classes[code]! & mask) !== 0
}

/** True when every character in [from, to) is in one of the classes. */
export function isEvery(text: string, mask: number, from = 0, to: number = text.length): boolean {
  for (let i = from; i < to; i++) if (!isAt(text, i, mask)) return false
  return true
}

/** True for at least one character, the first in `first`, the last in `last`, those between in `middle`. */
export function isShaped(text: string, first: number, middle: number, last: number): boolean {
  return isShapedBetween(text, 0, text.length, first, middle, last)
}

export function isShapedBetween(
  text: string,
  from: number,
  to: number,
  first: number,
  middle: number,
  last: number,
): boolean {
  if (to <= from || !isAt(text, from, first)) return false
  return to - from === 1 || (isAt(text, to - 1, last) && isEvery(text, middle, from + 1, to - 1))
}

/** How many bytes a string has in UTF-8: what Go calls its length. Lone surrogates count three, as their replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) continue
    if (code < 0x800) bytes += 1
    else if (code >= 0xd800 && code <= 0xdbff && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2
      i++
    } else bytes += 2
  }
  return bytes
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
