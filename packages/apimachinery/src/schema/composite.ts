import { quote } from '../go/quote.ts'
import type { Context, Validator } from './context.ts'
import type { Schema } from './schema.ts'

/** `allOf`, `anyOf`, `oneOf` and `not`. Of failed alternatives, the errors of the one that came closest are shown. */
export function compositeValidator(
  schema: Schema,
  validatorOf: (schema: Schema) => Validator,
): Validator | undefined {
  const { allOf, anyOf, oneOf, not } = schema
  const parts: Validator[] = []
  if (anyOf !== undefined && anyOf.length > 0) parts.push(anyOfValidator(anyOf, validatorOf))
  if (oneOf !== undefined && oneOf.length > 0) parts.push(oneOfValidator(oneOf, validatorOf))
  if (allOf !== undefined && allOf.length > 0) parts.push(allOfValidator(allOf, validatorOf))
  if (not !== undefined) parts.push(notValidator(not, validatorOf))
  if (parts.length === 0) return undefined
  return (value, context, old) => {
    for (const part of parts) part(value, context, old)
    context.matches++
  }
}

type Found = ReturnType<Context['isolate']>

function anyOfValidator(schemas: readonly Schema[], validatorOf: (schema: Schema) => Validator): Validator {
  return (value, context, old) => {
    let best: Found | undefined
    for (const schema of schemas) {
      const found = context.isolate(() => validatorOf(schema)(value, context, old))
      if (found.errors.length === 0) {
        context.matches += found.matches
        return
      }
      if (best === undefined || found.matches > best.matches) best = found
    }
    context.whole(`${quote(context.name())} must validate at least one schema (anyOf)`)
    mergeBest(context, best)
  }
}

function oneOfValidator(schemas: readonly Schema[], validatorOf: (schema: Schema) => Validator): Validator {
  return (value, context, old) => {
    let best: Found | undefined
    let valid = 0
    let matches = 0
    for (const schema of schemas) {
      const found = context.isolate(() => validatorOf(schema)(value, context, old))
      if (found.errors.length === 0) {
        if (valid++ === 0) matches = found.matches
      } else if (valid === 0 && (best === undefined || found.matches > best.matches)) {
        best = found
      }
    }
    if (valid === 1) {
      context.matches += matches
      return
    }
    const outcome = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
    context.whole(`${quote(context.name())} must validate one and only one schema (oneOf). ${outcome}`)
    if (valid === 0) mergeBest(context, best)
  }
}

function allOfValidator(schemas: readonly Schema[], validatorOf: (schema: Schema) => Validator): Validator {
  return (value, context, old) => {
    let valid = 0
    for (const schema of schemas) {
      const found = context.isolate(() => validatorOf(schema)(value, context, old))
      if (found.errors.length === 0) valid++
      context.matches += found.matches
      context.merge(found.errors)
    }
    if (valid === schemas.length) return
    const outcome = valid === 0 ? '. None validated' : ''
    context.whole(`${quote(context.name())} must validate all the schemas (allOf)${outcome}`)
  }
}

function notValidator(schema: Schema, validatorOf: (schema: Schema) => Validator): Validator {
  return (value, context, old) => {
    const found = context.isolate(() => validatorOf(schema)(value, context, old))
    if (found.errors.length === 0)
      context.whole(`${quote(context.name())} must not validate the schema (not)`)
  }
}

function mergeBest(context: Context, best: Found | undefined): void {
  if (best === undefined) return
  context.matches += best.matches
  context.merge(best.errors)
}
