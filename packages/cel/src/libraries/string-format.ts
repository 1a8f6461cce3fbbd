import { printFloat } from '@coxswain/apimachinery/go'
import { decodeText, encodeHex, encodeText } from '@coxswain/kit'
import { compareText, typeOfValue } from '../equality.ts'
import { halfEven } from '../text.ts'
import { formatDuration, formatTimestamp } from '../time.ts'
import {
  CelDouble,
  CelUint,
  Duration,
  fault,
  isInt,
  isMapValue,
  ListValue,
  Timestamp,
  TypeValue,
  type Value,
} from '../values.ts'

const clausePattern = /%(?:(%)|(?:\.(\d+))?([a-zA-Z])|([\s\S]?))/g

/** `'%s is %d'.format([...])`. */
export function formatString(template: string, args: ListValue): string {
  let used = 0
  return template.replace(clausePattern, (whole: string, percent, precision, verb) => {
    if (percent !== undefined) return '%'
    if (verb === undefined)
      return fault(`could not parse formatting clause: unrecognized formatting clause "${whole.slice(1)}"`)
    if (used >= args.size) return fault(`index ${used} out of range`)
    return formatArgument(verb, args.at(used++), precision === undefined ? undefined : Number(precision))
  })
}

function formatArgument(verb: string, value: Value, precision: number | undefined): string {
  switch (verb) {
    case 's':
      return display(value)
    case 'd':
      return decimal(value)
    case 'f':
      return fixed(value, precision ?? 6)
    case 'e':
      return scientific(value, precision ?? 6)
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : radix(value, 2, 'binary')
    case 'o':
      return radix(value, 8, 'octal')
    case 'x':
      return hexadecimal(value)
    case 'X':
      return hexadecimal(value).toUpperCase()
    default:
      return fault(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
  }
}

function wrong(clause: string, value: Value, allowed: string): never {
  return fault(
    `error during formatting: ${clause} clause can only be used on ${allowed}, was given ${typeOfValue(value).name}`,
  )
}

function display(value: Value): string {
  if (value === null) return 'null'
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return String(value)
    default:
      return displayObject(value)
  }
}

function displayObject(value: Exclude<Value, null>): string {
  if (value instanceof CelDouble) return displayDouble(value.value)
  if (value instanceof CelUint) return String(value.value)
  if (value instanceof Uint8Array) return decodeText(value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof TypeValue) return value.type.name
  if (value instanceof ListValue) return `[${value.toArray().map(display).join(', ')}]`
  if (typeof value === 'object' && isMapValue(value)) {
    const entries = value.keys().map(key => [display(key), display(value.get(key) as Value)] as const)
    entries.sort((a, b) => compareText(a[0], b[0]))
    return `{${entries.map(([k, v]) => `${k}: ${v}`).join(', ')}}`
  }
  return wrong(
    'string',
    value,
    'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  )
}

function displayDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  return printFloat(value)
}

function decimal(value: Value): string {
  if (isInt(value)) return String(value)
  if (value instanceof CelUint) return String(value.value)
  if (value instanceof CelDouble && !Number.isFinite(value.value)) return displayDouble(value.value)
  return wrong('decimal', value, 'integers')
}

function asDouble(value: Value, clause: string): number | string {
  if (value instanceof CelDouble)
    return Number.isFinite(value.value) ? value.value : displayDouble(value.value)
  if (isInt(value)) return Number(value)
  if (value instanceof CelUint) return Number(value.value)
  return wrong(clause, value, 'doubles')
}

/** Go rounds the exact binary value half to even; so does toFixed on the exact value. */
function fixed(value: Value, precision: number): string {
  const number = asDouble(value, 'fixed-point')
  if (typeof number === 'string') return number
  return precision <= 100 && Math.abs(number) < 1e21 ? halfEven(number, precision) : String(number)
}

function scientific(value: Value, precision: number): string {
  const number = asDouble(value, 'scientific')
  if (typeof number === 'string') return number
  return number.toExponential(Math.min(precision, 100)).replace(/e([+-])(\d)$/, 'e$10$2')
}

function radix(value: Value, base: number, clause: string): string {
  if (isInt(value)) return value.toString(base)
  if (value instanceof CelUint) return value.value.toString(base)
  return wrong(clause, value, clause === 'binary' ? 'integers and bools' : 'integers')
}

function hexadecimal(value: Value): string {
  if (typeof value === 'string') return hexadecimal(encodeText(value))
  if (value instanceof Uint8Array) return encodeHex(value)
  if (isInt(value)) return value.toString(16)
  if (value instanceof CelUint) return value.value.toString(16)
  return wrong('hex', value, 'integers, byte buffers, and strings')
}
