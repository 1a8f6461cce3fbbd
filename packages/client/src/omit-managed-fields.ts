import { encodeText } from '@coxswain/kit'

/**
 * Hot path: `metadata.managedFields` is often half of an object. Left out before the text is parsed, it costs a scan
 * instead of objects that are garbage at once: an event of a pod with 2 KB of them is read in less than half the time.
 * Measure with `npm run bench -- framework --only "sync|events"`.
 */

/** A part of a text, which begins at `start` and ends before `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const objectKey = encodeText('"object":')
const metadataKey = encodeText('"metadata":')
const managedFieldsKey = encodeText('"managedFields":[')

/** How deep `object.metadata` is. */
const metadataDepth = 3

/**
 * What to leave out of a watch event for it to have no `object.metadata.managedFields`. Nothing when it has none, and when
 * it is written otherwise than servers do, with spaces.
 */
export function findManagedFields(bytes: Uint8Array): Span | undefined {
  let depth = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === quote) {
      if (depth === metadataDepth && isMember(bytes, i, managedFieldsKey)) return spanOf(bytes, i)
      i = endOfString(bytes, i) - 1
    } else if (byte === openBrace || byte === openBracket) {
      depth++
      // Of what is not on the way there only the end matters.
      const name = depth === 2 ? objectKey : depth === metadataDepth ? metadataKey : undefined
      const isOnTheWay = depth === 1 || (name && isMember(bytes, i - name.length, name))
      if (isOnTheWay) continue
      i = endOfValue(bytes, i) - 1
      depth--
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === metadataDepth) return undefined
      depth--
    }
  }
  return undefined
}

/** The member that begins at `at`, with one of the commas beside it. */
function spanOf(bytes: Uint8Array, at: number): Span {
  const end = endOfValue(bytes, at + managedFieldsKey.length - 1)
  if (bytes[at - 1] === comma) return { start: at - 1, end }
  return { start: at, end: bytes[end] === comma ? end + 1 : end }
}

/** Whether a member begins at `at` and is called that. A quote that is escaped, inside of another key, begins none. */
function isMember(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  const before = bytes[at - 1]
  if (before !== comma && before !== openBrace) return false
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false
  return true
}

/** Where the array or object that begins at `at` has ended. */
function endOfValue(bytes: Uint8Array, at: number): number {
  let depth = 0
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === quote) i = endOfString(bytes, i) - 1
    else if (byte === openBrace || byte === openBracket) depth++
    else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return i + 1
  }
  return bytes.length
}

/** Where the string that begins at `at` has ended. */
function endOfString(bytes: Uint8Array, at: number): number {
  for (let i = at + 1; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === backslash) i++
    else if (byte === quote) return i + 1
  }
  return bytes.length
}
