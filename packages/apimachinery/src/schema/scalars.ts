import { printFloat, printJson, printNumber } from '../go/print-value.ts'
import { deepEqual } from '../json/value.ts'
import type { Context } from './context.ts'
import { formatCheck } from './formats.ts'
import { compilePattern } from './pattern.ts'
import type { Schema } from './schema.ts'
import { jsonType, usedFormat } from './type.ts'

/** Length, pattern and format. Only the first violation of length and pattern is reported, as upstream. */
export function stringValidator(schema: Schema): ((text: string, context: Context) => void) | undefined {
  const { minLength, maxLength, pattern } = schema
  const format = usedFormat(schema)
  const check = format === undefined ? undefined : formatCheck(format)
  if (minLength === undefined && maxLength === undefined && !pattern && check === undefined) return undefined
  return (text, context) => {
    if (maxLength !== undefined && text.length > maxLength && countCharacters(text) > maxLength) {
      context.tooLong(maxLength)
    } else if (minLength !== undefined && countCharacters(text) < minLength) {
      context.invalid(text, `should be at least ${minLength} chars long`)
    } else if (pattern) {
      const compiled = compilePattern(pattern)
      if (typeof compiled === 'string') {
        context.invalid(text, `should match '${pattern}, but pattern is invalid: ${compiled}'`)
      } else if (!compiled.test(text)) {
        context.invalid(text, `should match '${pattern}'`)
      }
    }
    if (check === undefined) return
    context.matches++
    if (!check(text)) context.wrongType(format!, text)
  }
}

/** Unicode characters, not UTF-16 units. */
function countCharacters(text: string): number {
  let count = text.length
  for (let i = 0; i + 1 < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(i + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--
        i++
      }
    }
  }
  return count
}

/** Range of the number type, bounds and multiples. */
export function numberValidator(schema: Schema): (value: number | bigint, context: Context) => void {
  const { minimum, maximum, multipleOf } = schema
  const range = rangeCheck(schema)
  const unbounded = minimum === undefined && maximum === undefined && multipleOf === undefined
  return (value, context) => {
    context.matches++
    // Every number type includes the small integers.
    if (unbounded && typeof value === 'number' && (value | 0) === value) return
    range?.(value, 'Checked', context)
    if (multipleOf !== undefined) {
      range?.(multipleOf, 'MultipleOf', context)
      if (!isMultiple(value, multipleOf))
        context.invalid(value, `should be a multiple of ${printLimit(multipleOf, value)}`)
    }
    if (minimum !== undefined) {
      range?.(minimum, 'Minimum boundary', context)
      const exclusive = schema.exclusiveMinimum === true
      if (exclusive ? value <= minimum : value < minimum) {
        context.invalid(
          value,
          `should be greater than ${exclusive ? '' : 'or equal to '}${printLimit(minimum, value)}`,
        )
      }
    }
    if (maximum !== undefined) {
      range?.(maximum, 'Maximum boundary', context)
      const exclusive = schema.exclusiveMaximum === true
      if (exclusive ? value >= maximum : value > maximum) {
        context.invalid(
          value,
          `should be less than ${exclusive ? '' : 'or equal to '}${printLimit(maximum, value)}`,
        )
      }
    }
  }
}

type RangeCheck = (value: number | bigint, what: string, context: Context) => void

function rangeCheck(schema: Schema): RangeCheck | undefined {
  const format = usedFormat(schema)
  const fits = fitsType(schema.type, format)
  if (fits === undefined) return undefined
  const expected = format === undefined ? '(default format)' : `with format ${format}`
  return (value, what, context) => {
    if (!fits(value))
      context.whole(`${what} value must be of type ${schema.type} ${expected} in ${context.name()}`)
  }
}

function fitsType(
  type: Schema['type'],
  format: string | undefined,
): ((value: number | bigint) => boolean) | undefined {
  if (type === 'integer') {
    const limit = format === 'int32' ? 2 ** 31 : 2 ** 63
    return value => (typeof value === 'bigint' || Number.isInteger(value)) && value >= -limit && value < limit
  }
  if (type === 'number' && format === 'float') return value => Number.isFinite(Math.fround(Number(value)))
  return undefined
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (factor <= 0) return false
  if (typeof value === 'bigint') return Number.isInteger(factor) ? value % BigInt(factor) === 0n : true
  if (Number.isSafeInteger(value) && Number.isInteger(factor)) return value % factor === 0
  const quotient = factor < 1 ? (1 / factor) * value : value / factor
  // Beyond 2^53 upstream calls no double a whole number.
  const distance = Math.abs(quotient - Math.round(quotient))
  return Math.abs(quotient) <= Number.MAX_SAFE_INTEGER && distance <= Math.abs(quotient) * 1e-9
}

/** Upstream prints a limit as the value's own kind of number. */
function printLimit(limit: number, value: number | bigint): string {
  return jsonType(value) === 'integer' ? printNumber(limit) : printFloat(limit)
}

export function enumValidator(schema: Schema): ((value: unknown, context: Context) => void) | undefined {
  const values = schema.enum
  if (values === undefined || values.length === 0) return undefined
  const texts = new Set(values.filter(value => typeof value === 'string'))
  const others = new Set(values.filter(value => typeof value !== 'string').map(value => printJson(value)))
  const shown = values.map(value => (typeof value === 'string' ? value : printJson(value)))
  const isAllowed = (value: unknown) => {
    if (typeof value === 'string') return texts.has(value)
    if (value === null) return false
    if (others.has(printJson(value))) return true
    // Large numbers have more than one text.
    const isNumber = typeof value === 'number' || typeof value === 'bigint'
    return (
      isNumber &&
      Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER &&
      values.some(other => deepEqual(other, value))
    )
  }
  return (value, context) => {
    if (!isAllowed(value)) context.notSupported(value, shown)
  }
}
