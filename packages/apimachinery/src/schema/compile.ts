import type { FieldError } from '../field/error.ts'
import type { Path } from '../field/path.ts'
import { type DecodeOptions, decodeTyped } from './decode.ts'
import { applyDefaults, dropNulls } from './default.ts'
import { type Coerced, coerceEmbedded, validateEmbedded } from './embedded.ts'
import { validateListTypes } from './list-types.ts'
import { type PruneOptions, prune } from './prune.ts'
import type { Schema } from './schema.ts'
import { type ValidateOptions, validateValue, walkValue } from './validate.ts'

/**
 * A schema as functions. Each node of a schema is compiled when a value first reaches it and the result kept with the
 * node, so compiling costs nothing by itself, shared nodes are compiled once and cycles are fine.
 *
 *   custom resources   prune -> dropNulls -> coerceEmbedded -> applyDefaults -> validate
 *   built-in kinds     decode -> prune -> (the kind's own defaults and rules)
 *
 * All but the validators change the value in place.
 */
export interface CompiledSchema {
  readonly schema: Schema
  /**
   * Everything that is wrong with the value: the schema's value rules, list types, embedded resources. CEL rules are not
   * looked at.
   */
  validate(value: unknown, options?: ValidateOptions): FieldError[]
  /** The value rules only, in the words of the API server. */
  validateValue(value: unknown, options?: ValidateOptions): FieldError[]
  /** Repeated items of sets and list maps. */
  validateListTypes(value: unknown, path?: Path): FieldError[]
  validateEmbedded(value: unknown, path?: Path): FieldError[]
  applyDefaults(value: unknown): void
  /** Removes what the schema does not specify and returns its paths. */
  prune(value: unknown, options?: PruneOptions): string[]
  /** Removes null where neither null is allowed nor a default waits. */
  dropNulls(value: unknown): void
  coerceEmbedded(value: unknown): Coerced
  /** What decoding into a Go type does; returns the error of a wrong JSON type. Built-in kinds only. */
  decode(value: unknown, options?: DecodeOptions): string | undefined
}

const compiled = new WeakMap<Schema, CompiledSchema>()

/** Compiles a schema; the same schema is compiled once. */
export function compileSchema(schema: Schema): CompiledSchema {
  let result = compiled.get(schema)
  if (result === undefined) {
    result = {
      schema,
      validate: (value, options) => {
        const walk = walkValue(schema, value, options)
        const errors = walk.distinct()
        if (walk.suspicious) for (const error of newListErrors(schema, value, options)) errors.push(error)
        for (const error of validateEmbedded(schema, value, options?.path)) errors.push(error)
        return errors
      },
      validateValue: (value, options) => validateValue(schema, value, options),
      validateListTypes: (value, path) => validateListTypes(schema, value, path),
      validateEmbedded: (value, path) => validateEmbedded(schema, value, path),
      applyDefaults: value => applyDefaults(schema, value),
      prune: (value, options) => prune(schema, value, options),
      dropNulls: value => dropNulls(schema, value),
      coerceEmbedded: value => coerceEmbedded(schema, value),
      decode: (value, options) => decodeTyped(schema, value, options),
    }
    compiled.set(schema, result)
  }
  return result
}

/** An object whose lists were wrong before an update may keep wrong lists. */
function newListErrors(schema: Schema, value: unknown, options: ValidateOptions = {}): FieldError[] {
  const errors = validateListTypes(schema, value, options.path)
  if (errors.length === 0 || options.old === undefined) return errors
  return validateListTypes(schema, options.old).length === 0 ? errors : []
}
