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

/** `format` as Kubernetes has it: cel-go's strings extension before version 4, whose numbers are written the English way. */
export function formatLegacy(template: string, args: ListValue): string {
  let used = 0
  return template.replace(clausePattern, (whole: string, percent, precision, verb) => {
    if (percent !== undefined) return '%'
    if (verb === undefined)
      return fault(`could not parse formatting clause: unrecognized formatting clause "${whole.slice(1)}"`)
    if (used >= args.size) return fault(`index ${used} out of range`)
    return formatArgument(verb, args.at(used++), precision === undefined ? 6 : Number(precision))
  })
}

function formatArgument(verb: string, value: Value, precision: number): string {
  switch (verb) {
    case 's':
      return display(value)
    case 'd':
      return isInt(value) || value instanceof CelUint ? whole(value, 10) : wrong('d', value)
    case 'f':
      return fixed(value, precision)
    case 'e':
      return scientific(value)
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0'
      return isInt(value) || value instanceof CelUint ? whole(value, 2) : wrong('b', value)
    case 'o':
      return isInt(value) || value instanceof CelUint ? whole(value, 8) : wrong('o', value)
    case 'x':
      return hexadecimal(value)
    case 'X':
      return hexadecimal(value).toUpperCase()
    default:
      return fault(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
  }
}

/** What each clause takes, by kind of type, with cel-go's wording. */
export const clauses: Readonly<Record<string, { readonly kinds: readonly string[]; readonly text: string }>> =
  {
    s: {
      kinds: [
        'string',
        'bool',
        'bytes',
        'int',
        'uint',
        'double',
        'map',
        'list',
        'type',
        'duration',
        'timestamp',
        'null',
      ],
      text: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    },
    d: { kinds: ['int', 'uint'], text: 'decimal clause can only be used on integers' },
    f: { kinds: ['double'], text: 'fixed-point clause can only be used on doubles' },
    e: { kinds: ['double'], text: 'scientific clause can only be used on doubles' },
    b: { kinds: ['int', 'uint', 'bool'], text: 'only integers and bools can be formatted as binary' },
    o: { kinds: ['int', 'uint'], text: 'octal clause can only be used on integers' },
    x: {
      kinds: ['int', 'uint', 'string', 'bytes'],
      text: 'only integers, byte buffers, and strings can be formatted as hex',
    },
  }

function wrong(verb: string, value: Value): never {
  return fault(`error during formatting: ${clauses[verb]?.text}, was given ${typeOfValue(value).name}`)
}

function whole(value: number | bigint | CelUint, base: number): string {
  return (value instanceof CelUint ? value.value : value).toString(base)
}

function display(value: Value): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return String(value)
  if (value instanceof CelDouble) return printFloat(value.value)
  if (value instanceof CelUint) return String(value.value)
  if (value instanceof Uint8Array) return decodeText(value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof TypeValue) return value.type.name
  if (value instanceof ListValue) return `[${value.toArray().map(literal).join(', ')}]`
  if (!isMapValue(value)) return wrong('s', value)
  const entries = value.keys().map(key => [literal(key), literal(value.get(key) as Value)] as const)
  entries.sort((a, b) => compareText(a[0], b[0]))
  return `{${entries.map(([k, v]) => `${k}:${v}`).join(', ')}}`
}

/** Inside lists and maps values look like CEL literals. */
function literal(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Uint8Array) return `b${JSON.stringify(display(value))}`
  if (value instanceof CelDouble)
    return Number.isFinite(value.value) ? value.value.toFixed(6) : JSON.stringify(printFloat(value.value))
  if (value instanceof Timestamp) return `timestamp(${JSON.stringify(display(value))})`
  if (value instanceof Duration) return `duration(${JSON.stringify(display(value))})`
  return display(value)
}

const specials: Readonly<Record<string, number>> = {
  __proto__: null as never,
  NaN: Number.NaN,
  Infinity: Infinity,
  '-Infinity': -Infinity,
}

function toDouble(value: Value, verb: string): number {
  if (value instanceof CelDouble) return value.value
  return (typeof value === 'string' ? specials[value] : undefined) ?? wrong(verb, value)
}

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? undefined : value > 0 ? '∞' : '-∞'
}

function fixed(value: Value, precision: number): string {
  const number = toDouble(value, 'f')
  const named = special(number)
  if (named !== undefined) return named
  const [digits = '', fraction] = halfEven(Math.abs(number), Math.min(precision, 100)).split('.')
  const grouped = digits.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${number < 0 ? '-' : ''}${grouped}${fraction === undefined ? '' : `.${fraction}`}`
}

const superscript = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** Always six digits: upstream loses the precision asked for. */
function scientific(value: Value): string {
  const number = toDouble(value, 'e')
  const named = special(number)
  if (named !== undefined) return named
  const [mantissa = '', exponent = '0'] = number.toExponential(6).split('e')
  const digits = exponent.replace(/^[+-]/, '').padStart(2, '0')
  const raised = [...digits].map(d => superscript[Number(d)]).join('')
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`
}

function hexadecimal(value: Value): string {
  if (typeof value === 'string') return hexadecimal(encodeText(value))
  if (value instanceof Uint8Array) return encodeHex(value)
  return isInt(value) || value instanceof CelUint ? whole(value, 16) : wrong('x', value)
}
