import { writeJsonBytes } from '@coxswain/apimachinery'
import { ClientError } from './errors.ts'

/** An integer of so many digits that a double may not hold it, where a value stands. */
const longInteger = /[[:,]\s*-?\d{16}/
const wholeNumber = /^-?\d+$/
const decoder = new TextDecoder()

/** Reads what a server sent. A whole number that a `number` cannot hold exactly is a `bigint`. */
export function decodeJson(bytes: Uint8Array): unknown {
  const text = decoder.decode(bytes)
  try {
    return longInteger.test(text) ? JSON.parse(text, keepExact) : JSON.parse(text)
  } catch (cause) {
    throw new ClientError('BadAnswer', `the server sent something that is not JSON: ${excerpt(text)}`, {
      cause,
    })
  }
}

/** Writes what {@link decodeJson} reads: `bigint`s become plain digits. */
export function encodeJson(value: unknown): Uint8Array {
  return writeJsonBytes(value)
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
