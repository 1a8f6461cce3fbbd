import type { FieldError } from '../field/error.ts'
import * as field from '../field/error.ts'
import { maxErrorLength, maxErrors } from '../field/error-list.ts'
import type { Path } from '../field/path.ts'
import { quote } from '../go/quote.ts'
import type { Schema } from './schema.ts'

/** Validates one value. `old` is the value it replaces, undefined when there is none or it cannot be correlated. */
export type Validator = (value: unknown, context: Context, old: unknown) => void

/**
 * What validators share while they walk a value: the path and the errors. Nothing is formatted before there is
 * an error.
 */
export class Context {
  errors: FieldError[] = []
  /** Keys and indices from the validated value down to the present one. */
  readonly path: (string | number)[] = []
  /** Checks that passed: upstream's measure of which failed alternative of an `anyOf` came closest. */
  matches = 0
  /** A set or list map has duplicates, or invalid items. */
  suspicious = false
  readonly #base: Path

  constructor(base: Path) {
    this.#base = base
  }

  /** The response is full: the walk continues, for its counts, and adds no errors. */
  get #isFull(): boolean {
    return this.errors.length > maxErrors
  }

  /** The current path as messages name it: relative to the validated value. */
  name(): string {
    let name = ''
    for (const step of this.path) {
      if (typeof step === 'number') name += `[${step}]`
      else name += name === '' ? step : `.${step}`
    }
    return name
  }

  #place(name: string = this.name()): Path {
    return name === '' ? this.#base : this.#base.child(name)
  }

  invalid(value: unknown, rule: string): void {
    if (this.#isFull) return
    const name = this.name()
    this.#add(field.invalid(this.#place(name), value, `${name} in body ${rule}`))
  }

  wrongType(type: string, found: string): void {
    if (this.#isFull) return
    const name = this.name()
    const detail = `${name} in body must be of type ${type}: ${quote(found)}`
    this.#add(field.typeInvalid(this.#place(name), found, detail))
  }

  notSupported(value: unknown, values: readonly string[]): void {
    if (!this.#isFull) this.#add(field.notSupported(this.#place(), value, values))
  }

  tooLong(max: number): void {
    if (!this.#isFull) this.#add(field.tooLong(this.#place(), max))
  }

  tooMany(count: number, max: number): void {
    if (!this.#isFull) this.#add(field.tooMany(this.#place(), count, max))
  }

  required(key: string): void {
    if (this.#isFull) return
    this.path.push(key)
    this.#add(field.required(this.#place()))
    this.path.pop()
  }

  forbidden(key: string): void {
    if (this.#isFull) return
    const name = this.name()
    this.#add(field.invalid(this.#place(), key, `${name}.${key} in body is a forbidden property`))
  }

  /** Errors about the whole value rather than a field of it: alternatives and ranges of number types. */
  whole(message: string): void {
    this.#add(field.invalid(this.#base, '', message))
  }

  #add(error: FieldError): void {
    if (!this.#isFull) this.errors.push(error)
  }

  /** Runs `check` with an empty list of errors and returns what it found. */
  isolate(check: () => void): { readonly errors: FieldError[]; readonly matches: number } {
    const { errors, matches } = this
    this.errors = []
    this.matches = 0
    check()
    const found = { errors: this.errors, matches: this.matches }
    this.errors = errors
    this.matches = matches
    return found
  }

  merge(errors: readonly FieldError[]): void {
    for (const error of errors) this.#add(error)
  }

  /** The errors without duplicates: alternatives repeat those of their schema. */
  distinct(): FieldError[] {
    if (this.errors.length < 2) return this.errors
    const distinct = new Map<string, FieldError>()
    let length = 0
    for (const error of this.errors) {
      const text = `${error.field}\n${error.body}`
      if (distinct.has(text)) continue
      distinct.set(text, error)
      if (length > maxErrorLength) break
      length += text.length
    }
    return [...distinct.values()]
  }
}

/** True for a schema without any rule for values, such as that of a free-form field. */
export function isNothing(schema: Schema): boolean {
  return (
    schema['x-kubernetes-preserve-unknown-fields'] === true &&
    schema.type === undefined &&
    Object.keys(schema).length === 1
  )
}
