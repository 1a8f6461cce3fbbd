import type { Context } from './context.ts'
import { formatCheck } from './formats.ts'
import type { Schema } from './schema.ts'

/** The check of a value's JSON type, with upstream's quirks about formats. */
export function typeValidator(schema: Schema): ((value: unknown, context: Context) => void) | undefined {
  const types =
    schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : schema.type ? [schema.type] : []
  const format = usedFormat(schema)
  if (types.length === 0 && format === undefined) return undefined
  const expected = types.join(',')
  const numeric = types.includes('number') || types.includes('integer')
  const nullable = schema.nullable === true

  return (value, context) => {
    if (value === null) {
      if (types.length > 0 && !nullable) context.wrongType(expected, 'null')
      return
    }
    context.matches++
    const type = jsonType(value)
    const convertible =
      types.includes(type) ||
      (type === 'integer' && types.includes('number')) ||
      (type === 'number' && types.includes('integer') && Number.isSafeInteger(value))
    const textual = type === 'string' || type === 'array'
    if (format !== undefined && !textual && !convertible) {
      context.wrongType(format, goFormat(type))
    } else if (format !== undefined && textual && !numeric) {
      context.matches++
    } else if (!convertible) {
      context.wrongType(expected, type)
    } else {
      context.matches++
    }
  }
}

/** The format the server looks at; others are as good as absent. */
export function usedFormat(schema: Schema): string | undefined {
  const { format, type } = schema
  if (format === undefined || format === '') return undefined
  if (type === 'integer') return format === 'int32' || format === 'int64' ? format : undefined
  if (type === 'number') return format === 'float' || format === 'double' ? format : undefined
  if (type !== undefined && type !== 'string') return undefined
  return formatCheck(format) === undefined ? undefined : format
}

/** The type of a value as upstream sees it: whole numbers within int64 are integers. */
export function jsonType(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'bigint':
      return 'integer'
    case 'number':
      return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63 ? 'integer' : 'number'
    default:
      return value === null ? 'null' : Array.isArray(value) ? 'array' : 'object'
  }
}

function goFormat(type: string): string {
  return type === 'integer' ? 'int64' : type === 'number' ? 'float64' : ''
}
