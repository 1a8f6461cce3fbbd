import type { StatusCause } from '../meta/status.ts'
import { aggregateMessages, type FieldError, formatFieldError, toCauses } from './error.ts'

/** The limits of a response: errors, and UTF-16 units of their texts. Upstream has no such limit. */
export const maxErrors: number = 1_000
export const maxErrorLength: number = 256 * 1024

/**
 * Field errors for one response, up to its limits. Validators that are generators are not asked for more than
 * that, so a request with a million errors costs as much as one with a thousand.
 */
export class ErrorList implements Iterable<FieldError> {
  readonly #errors: FieldError[] = []
  #length = 0
  /** There were more errors. */
  #truncated = false

  constructor(errors: Iterable<FieldError> = []) {
    this.addAll(errors)
  }

  get length(): number {
    return this.#errors.length
  }

  addAll(errors: Iterable<FieldError>): void {
    for (const error of errors) {
      if (this.#errors.length === maxErrors || this.#length > maxErrorLength) {
        this.#truncated = true
        return
      }
      const shown = shorten(error)
      this.#length += shown.field.length + shown.body.length
      this.#errors.push(shown)
    }
  }

  [Symbol.iterator](): Iterator<FieldError> {
    return this.#errors[Symbol.iterator]()
  }

  /** One cause each; duplicates stay, as upstream. */
  toCauses(): StatusCause[] {
    return toCauses(this.#errors)
  }

  /** As `aggregate`, and a last message that says so when there were more errors. */
  toString(): string {
    const messages = this.#errors.map(formatFieldError)
    if (this.#truncated) messages.push(`too many errors: only the first ${messages.length} are reported`)
    return aggregateMessages(messages)
  }
}

/** Truncates the text of an error whose value alone exceeds a response. */
function shorten(error: FieldError): FieldError {
  const { type, field, body } = error
  if (field.length <= maxErrorLength && body.length <= maxErrorLength) return error
  const cut = (text: string) => (text.length <= maxErrorLength ? text : `${text.slice(0, maxErrorLength)}...`)
  return { type, field: cut(field), body: cut(body) }
}
