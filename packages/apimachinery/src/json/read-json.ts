import { MachineryError } from '../errors.ts'
import { type Literals, readExactly } from './exact-reader.ts'
import { countMembers, FRACTION, INEXACT, scan } from './proof.ts'

/** The maximum size of a request body, as in kube-apiserver. */
export const maxJsonBytes: number = 3 * 1024 * 1024

/** Nesting up to which the fast path's recursive walk is used. */
const shallow = 500

export interface ReadJsonOptions {
  /** The maximum number of bytes. @default maxJsonBytes */
  readonly maxBytes?: number
  /**
   * Keep the spelling of numbers with a decimal point, so that a `1.0` for an integer field can be rejected. Built-in
   * kinds need it; custom resources accept `1.0` for 1, and are read faster without.
   * @default true
   */
  readonly literals?: boolean
  /**
   * Merge duplicate objects, as Go does for its own types. Built-in kinds need it; for
   * custom resources the last one counts.
   * @default false
   */
  readonly mergeRepeated?: boolean
}

export interface JsonDocument {
  readonly value: unknown
  /** Paths of members that occur more than once (`spec.containers[0].name`), the first hundred. The last one won. */
  readonly duplicates: readonly string[]
  /** How numbers are spelt that are not plain whole numbers within int64, where the holder is a part of `value`. */
  readonly literals?: Literals
}

const none: readonly string[] = []
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Reads a JSON document from a client as Kubernetes does. Whole numbers beyond 2^53 become bigint as long as they fit
 * int64, else the nearest double. Invalid UTF-8 and unpaired surrogates become U+FFFD. `__proto__` is an own member
 * like any other. Nesting beyond 10,000 is rejected.
 *
 *   bytes -> JSON.parse -> proofs that nothing was lost -> done
 *                  |              | one fails
 *                  +-- rejected --+-> the exact reader
 *
 * Throws a MachineryError: `BadJson` in the words of Go's decoder, `JsonTooLarge` past the size.
 */
export function readJson(bytes: Uint8Array, options: ReadJsonOptions = {}): JsonDocument {
  const maxBytes = options.maxBytes ?? maxJsonBytes
  if (bytes.length > maxBytes) throw new MachineryError('JsonTooLarge', `limit is ${maxBytes}`)
  const text = decoder.decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return readSlowly(bytes, text, options)
  }
  const { members, depth, flags } = scan(bytes)
  if (
    flags & INEXACT ||
    (flags & FRACTION && options.literals !== false) ||
    depth > shallow ||
    text.includes('\uFFFD') ||
    (typeof value === 'object' && value !== null && countMembers(value) !== members)
  ) {
    return readSlowly(bytes, text, options)
  }
  return { value, duplicates: none }
}

function readSlowly(bytes: Uint8Array, text: string, { mergeRepeated }: ReadJsonOptions): JsonDocument {
  const exact = text.includes('\uFFFD') ? decodeLikeGo(bytes) : text
  const { value, duplicates, literals } = readExactly(exact, mergeRepeated)
  return literals.size === 0 ? { value, duplicates } : { value, duplicates, literals }
}

/** Go replaces every single byte that is not part of a valid sequence; a TextDecoder replaces runs of them. */
function decodeLikeGo(bytes: Uint8Array): string {
  let text = ''
  let start = 0
  for (let i = 0; i < bytes.length; ) {
    const size = sequenceLength(bytes, i)
    if (size === 0) {
      text += `${decoder.decode(bytes.subarray(start, i))}\uFFFD`
      start = ++i
    } else {
      i += size
    }
  }
  return text + decoder.decode(bytes.subarray(start))
}

/** Length of the valid UTF-8 sequence at `at`, 0 when there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return 1
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (first < 0xc2 || first > 0xf4) return 0
  const second = bytes[at + 1] ?? 0
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < low || second > high) return 0
  for (let i = 2; i < size; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0
  return size
}
