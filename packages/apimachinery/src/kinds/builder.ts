import { MachineryError } from '../errors.ts'
import type { Schema, ValidationRule } from '../schema/schema.ts'
import type { Presence } from './builder-types.ts'
import { featureGate, immutable, type MarkedSchema } from './marked-schema.ts'

/** Extras of a CEL rule. */
export interface CelOptions extends Omit<ValidationRule, 'rule'> {}

/**
 * A schema node. Immutable: every method returns a new builder. `R` is the value as read, `C`
 * as sent to create it, `A` as applied, `P` its presence.
 */
export interface Builder<R = unknown, C = unknown, A = unknown, P extends Presence = Presence> {
  readonly schema: Schema
  readonly presence: Presence
  readonly '~read': R
  readonly '~create': C
  readonly '~apply': A
  readonly '~presence': P
  /** The field may be omitted. */
  optional(): Builder<R, C, A, 'optional'>
  /** The server fills it in when it is omitted. */
  default(value: C): Builder<R, C, A, 'default'>
  nullable(): Builder<R | null, C | null, A | null, P>
  /** The description. */
  doc(text: string): this
  title(text: string): this
  example(value: C): this
  externalDocs(url: string, description?: string): this
  /** Immutable once set: it can neither be changed nor, where it is optional, be removed. */
  immutable(message?: string): this
  /** Leaves the field out of CRDs unless the gate is enabled, as with `coxswain manifests --feature-gates NAME=true`. */
  featureGate(name: string): this
  /** A rule in CEL; `self` is the value. */
  cel(rule: string, options?: CelOptions): this
}

/** Before `optional()`, `default()` and `nullable()`: constraints of strings. */
export interface StringBuilder<R extends string = string> extends Builder<R, R, R, 'required'> {
  /** A regular expression of RE2. */
  pattern(source: string): this
  minLength(length: number): this
  maxLength(length: number): this
  format(name: string): this
}

/** Before `optional()`, `default()` and `nullable()`: constraints of numbers. */
export interface NumberBuilder<N extends number | bigint = number> extends Builder<N, N, N, 'required'> {
  minimum(value: number): this
  maximum(value: number): this
  exclusiveMinimum(value: number): this
  exclusiveMaximum(value: number): this
  multipleOf(value: number): this
  /** One of these values. */
  oneOf(...values: readonly N[]): this
}

/** Before `optional()`, `default()` and `nullable()`: constraints of objects. */
export interface ObjectBuilder<R, C, A, K extends string> extends Builder<R, C, A, 'required'> {
  exactlyOneOf(fields: readonly K[]): this
  atMostOneOf(fields: readonly K[]): this
  atLeastOneOf(fields: readonly K[]): this
  /** Applies replace it as a whole. */
  atomic(): this
  /** Applies merge it member by member, which is the default. */
  granular(): this
  /** Unspecified fields are kept. */
  preserveUnknownFields(): this
  minProperties(count: number): this
  maxProperties(count: number): this
}

/** Before `optional()`, `default()` and `nullable()`: constraints of lists. */
export interface ListBuilder<R, C, A> extends Builder<R, C, A, 'required'> {
  minItems(count: number): this
  maxItems(count: number): this
}

type AnyBuilder = StringBuilder &
  NumberBuilder &
  ListBuilder<never, never, never> &
  ObjectBuilder<never, never, never, string>

/** All methods of all builders; the interfaces above restrict them by kind of value. */
class Node {
  readonly schema: Schema
  readonly presence: Presence

  constructor(schema: Schema, presence: Presence) {
    this.schema = schema
    this.presence = presence
  }

  #with(changes: Partial<MarkedSchema>, presence: Presence = this.presence): Node {
    return new Node({ ...this.schema, ...changes }, presence)
  }

  optional(): Node {
    return this.#with({}, 'optional')
  }

  default(value: unknown): Node {
    if (value === undefined || value === null)
      throw new MachineryError('BadKind', 'a default must be a value')
    return this.#with({ default: value }, 'default')
  }

  nullable(): Node {
    return this.#with({ nullable: true })
  }

  doc(description: string): Node {
    return this.#with({ description })
  }

  title(title: string): Node {
    return this.#with({ title })
  }

  example(example: unknown): Node {
    return this.#with({ example })
  }

  externalDocs(url: string, description?: string): Node {
    return this.#with({ externalDocs: description === undefined ? { url } : { description, url } })
  }

  immutable(message = 'field is immutable'): Node {
    return this.#with({ [immutable]: true }).cel('self == oldSelf', { message })
  }

  cel(rule: string, options: CelOptions = {}): Node {
    return this.#with({
      'x-kubernetes-validations': [...(this.schema['x-kubernetes-validations'] ?? []), { rule, ...options }],
    })
  }

  pattern(pattern: string): Node {
    return this.#with({ pattern })
  }

  minLength(minLength: number): Node {
    return this.#with({ minLength })
  }

  maxLength(maxLength: number): Node {
    return this.#with({ maxLength })
  }

  format(format: string): Node {
    return this.#with({ format })
  }

  minimum(minimum: number): Node {
    return this.#with({ minimum })
  }

  maximum(maximum: number): Node {
    return this.#with({ maximum })
  }

  exclusiveMinimum(minimum: number): Node {
    return this.#with({ minimum, exclusiveMinimum: true })
  }

  exclusiveMaximum(maximum: number): Node {
    return this.#with({ maximum, exclusiveMaximum: true })
  }

  multipleOf(multipleOf: number): Node {
    return this.#with({ multipleOf })
  }

  minItems(minItems: number): Node {
    return this.#with({ minItems })
  }

  maxItems(maxItems: number): Node {
    return this.#with({ maxItems })
  }

  minProperties(minProperties: number): Node {
    return this.#with({ minProperties })
  }

  maxProperties(maxProperties: number): Node {
    return this.#with({ maxProperties })
  }

  atomic(): Node {
    return this.#with({ 'x-kubernetes-map-type': 'atomic' })
  }

  granular(): Node {
    return this.#with({ 'x-kubernetes-map-type': 'granular' })
  }

  oneOf(...values: readonly number[]): Node {
    return this.#with({ enum: values })
  }

  featureGate(name: string): Node {
    return this.#with({ [featureGate]: name })
  }

  preserveUnknownFields(): Node {
    return this.#with({ 'x-kubernetes-preserve-unknown-fields': true })
  }

  exactlyOneOf(fields: readonly string[]): Node {
    const message = `exactly one of the fields in [${fields.join(' ')}] must be set`
    return this.cel(`${countOf(fields)} == 1`, { message })
  }

  atMostOneOf(fields: readonly string[]): Node {
    const message = `at most one of the fields in [${fields.join(' ')}] may be set`
    return this.cel(`${countOf(fields)} <= 1`, { message })
  }

  atLeastOneOf(fields: readonly string[]): Node {
    const message = `at least one of the fields in [${fields.join(' ')}] must be set`
    return this.cel(fields.map(name => `has(self.${celName(name)})`).join('||'), { message })
  }
}

/** How many of the fields are set, in the expression of controller-gen's markers. */
function countOf(fields: readonly string[]): string {
  return fields.map(name => `(has(self.${celName(name)})?1:0)`).join('+')
}

/** Kubernetes' escapes for property names that are not CEL identifiers. */
export function celName(name: string): string {
  if (celKeywords.has(name)) return `__${name}__`
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__')
}

const celKeywords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

/** Creates a builder; the caller chooses its interface. */
export function createBuilder<B extends Builder>(schema: Schema, presence: Presence = 'required'): B {
  const node: unknown = new Node(schema, presence) satisfies Record<keyof AnyBuilder & keyof Node, unknown>
  return node as B
}
