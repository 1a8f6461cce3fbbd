import { printJson, printValue } from '../go/print-value.ts'
import { quote } from '../go/quote.ts'
import type { StatusCause } from '../meta/status.ts'
import type { Path } from './path.ts'

/** The machine-readable half of a field error; equal to the `reason` of the cause it becomes. */
export type FieldErrorType = keyof typeof titles

const titles = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooShort: 'Too short',
  FieldValueTooMany: 'Too many',
  FieldValueTooFew: 'Too few',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
} as const

/** One error of one field. A value, not something to throw: a response has many of them. */
export interface FieldError {
  readonly type: FieldErrorType
  /** The path as text. */
  readonly field: string
  /** The message without the path: a cause's `message`. */
  readonly body: string
}

/** `spec.replicas: Invalid value: -1: must be greater than or equal to 0` */
export function formatFieldError(error: FieldError): string {
  return `${error.field}: ${error.body}`
}

/** A bad value that messages leave out. */
export const omitValue: unique symbol = Symbol('omitValue')

/** The longest printed value. */
const longestValue = 256 * 1024

/**
 * A bad value that has a text of its own. Plain objects print with their keys sorted, as those of custom resources do;
 * upstream prints the Go structs of built-in kinds member by member, often with Go's names.
 */
export class Printed {
  #text: string | (() => string)

  /** Keeps the order of members. */
  static inOrder(value: unknown): Printed {
    return new Printed(() => printJson(value, false, longestValue))
  }

  constructor(text: string | (() => string)) {
    this.#text = text
  }

  get text(): string {
    if (typeof this.#text !== 'string') this.#text = this.#text()
    return this.#text
  }
}

/** Formats its texts on first use: only as many errors as a response can hold are formatted. */
class WrittenLate implements FieldError {
  readonly type: FieldErrorType
  readonly #path: Path
  readonly #value: unknown
  readonly #detail: string | (() => string)
  #field: string | undefined
  #body: string | undefined

  constructor(type: FieldErrorType, path: Path, value: unknown, detail: string | (() => string)) {
    this.type = type
    this.#path = path
    this.#value = value
    this.#detail = detail
  }

  get field(): string {
    this.#field ??= this.#path.toString()
    return this.#field
  }

  get body(): string {
    this.#body ??= this.#write()
    return this.#body
  }

  #write(): string {
    const title = titles[this.type]
    const value = this.#value
    const detail = typeof this.#detail === 'string' ? this.#detail : this.#detail()
    const start =
      value === omitValue
        ? title
        : `${title}: ${value instanceof Printed ? value.text : printValue(value, longestValue)}`
    return detail === '' ? start : `${start}: ${detail}`
  }
}

function withoutValue(type: FieldErrorType, path: Path, detail: string): FieldError {
  return new WrittenLate(type, path, omitValue, detail)
}

function withValue(
  type: FieldErrorType,
  path: Path,
  value: unknown,
  detail: string | (() => string) = '',
): FieldError {
  return new WrittenLate(type, path, value, detail)
}

/** A value that was looked up and does not exist. */
export function notFound(path: Path, value: unknown, detail: string | (() => string) = ''): FieldError {
  return withValue('FieldValueNotFound', path, value, detail)
}

/** A required value: absent, null, an empty string or an empty list. */
export function required(path: Path, detail = ''): FieldError {
  return withoutValue('FieldValueRequired', path, detail)
}

/** A duplicate value that must be unique. */
export function duplicate(path: Path, value: unknown, detail = ''): FieldError {
  return withValue('FieldValueDuplicate', path, value, detail)
}

/** A malformed value. */
export function invalid(path: Path, value: unknown, detail: string): FieldError {
  return withValue('FieldValueInvalid', path, value, detail)
}

/** A value of the wrong JSON type. */
export function typeInvalid(path: Path, value: unknown, detail: string): FieldError {
  return withValue('FieldValueTypeInvalid', path, value, detail)
}

/** A value that is none of `validValues`, which are listed in the order given. */
export function notSupported(path: Path, value: unknown, validValues: readonly string[]): FieldError {
  const detail = () =>
    validValues.length > 0 ? `supported values: ${validValues.map(quote).join(', ')}` : ''
  return withValue('FieldValueNotSupported', path, value, detail)
}

/** A well-formed value that is not allowed here. */
export function forbidden(path: Path, detail: string): FieldError {
  return withoutValue('FieldValueForbidden', path, detail)
}

/** Longer than `maxLength` bytes; a negative `maxLength` is not printed. */
export function tooLong(path: Path, maxLength: number): FieldError {
  return withoutValue(
    'FieldValueTooLong',
    path,
    limit(maxLength, 'byte', 'may not be more than', 'value is too long'),
  )
}

/** Longer than `maxLength` characters. */
export function tooLongCharacters(path: Path, maxLength: number): FieldError {
  const detail = limit(maxLength, 'character', 'may not be more than', 'value is too long')
  return withoutValue('FieldValueTooLong', path, detail)
}

/** Shorter than `minLength` characters. */
export function tooShort(path: Path, minLength: number): FieldError {
  const detail = limit(minLength, 'character', 'must be at least', 'value is too short')
  return withoutValue('FieldValueTooShort', path, detail)
}

/** A list of more than `max` items; a negative `actual` is not printed. */
export function tooMany(path: Path, actual: number, max: number): FieldError {
  const detail = limit(max, 'item', 'must have at most', 'has too many items')
  return withValue('FieldValueTooMany', path, actual < 0 ? omitValue : actual, detail)
}

/** A list of fewer than `min` items. */
export function tooFew(path: Path, actual: number, min: number): FieldError {
  return withValue(
    'FieldValueTooFew',
    path,
    actual,
    limit(min, 'item', 'must have at least', 'has too few items'),
  )
}

/** An internal error during validation. */
export function internalError(path: Path, error: Error | string): FieldError {
  return withoutValue('InternalError', path, typeof error === 'string' ? error : error.message)
}

function limit(count: number, unit: string, phrase: string, otherwise: string): string {
  return count < 0 ? otherwise : `${phrase} ${count} ${unit}${count === 1 ? '' : 's'}`
}

/** The causes of a Status; duplicates stay, as upstream. */
export function toCauses(errors: Iterable<FieldError>): StatusCause[] {
  return Array.from(errors, ({ type, field, body }) => ({ reason: type, message: body, field }))
}

/** All messages as one: alone, or `[a, b]`; duplicates are dropped. Empty for no errors. */
export function aggregate(errors: Iterable<FieldError>): string {
  return aggregateMessages(Array.from(errors, formatFieldError))
}

/** The same for messages that are not about fields. */
export function aggregateMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)]
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : (distinct[0] ?? '')
}
