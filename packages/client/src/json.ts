import { writeJsonBytes } from '@coxswain/apimachinery/wire-format'
import { decodeText } from '@coxswain/kit'
import { ClientError } from './errors.ts'
import type { Span } from './omit-managed-fields.ts'

/** An integer value with so many digits that a double may not represent it. */
const longInteger = /[[:,]\s*-?\d{16}/
const wholeNumber = /^-?\d+$/

export interface DecodeOptions {
  /** The part that is left out. */
  readonly omit?: Span | undefined
  /** Called with a value that may contain nulls, to drop them. */
  readonly onNulls?: (value: unknown) => void
}

/** Parses a server's answer. A whole number that a `number` cannot hold exactly is a `bigint`. */
export function decodeJson(bytes: Uint8Array, { omit, onNulls }: DecodeOptions = {}): unknown {
  const text = omit
    ? decodeText(bytes.subarray(0, omit.start)) + decodeText(bytes.subarray(omit.end))
    : decodeText(bytes)
  let value: unknown
  try {
    const isLong = hasManyDigits(bytes) && longInteger.test(text)
    value = isLong ? JSON.parse(text, keepExact) : JSON.parse(text)
  } catch (cause) {
    throw new ClientError('BadAnswer', `the server sent something that is not JSON: ${excerpt(text)}`, {
      cause,
    })
  }
  if (onNulls && text.includes('null')) onNulls(value)
  return value
}

/** Writes what {@link decodeJson} reads: `bigint`s become plain digits. */
export function encodeJson(value: unknown): Uint8Array {
  return writeJsonBytes(value)
}

const digits = 16

/**
 * Whether there are sixteen digits in a row. Checks every sixteenth byte only, one of which would be among them: the
 * regular expression that finds them takes longer than parsing half of the object.
 */
function hasManyDigits(bytes: Uint8Array): boolean {
  for (let at = digits - 1; at < bytes.length; at += digits) {
    if (!isDigit(bytes[at])) continue
    let first = at
    while (isDigit(bytes[first - 1])) first--
    let last = at
    while (isDigit(bytes[last + 1])) last++
    if (last - first + 1 >= digits) return true
  }
  return false
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

interface ReviverContext {
  readonly source?: string
}

function keepExact(_key: string, value: unknown, context?: ReviverContext): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && wholeNumber.test(source) ? BigInt(source) : value
}

export function excerpt(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
