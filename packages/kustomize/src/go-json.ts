import { compareCodePoints, escapeHtml } from '@coxswain/apimachinery/go'
import type { JsonValue } from './yaml/decode.ts'

/** JSON as Go writes it: keys in alphabetical order, `<`, `>` and `&` escaped. With `indent`, over several lines. */
export function printGoJson(value: JsonValue, indent = ''): string {
  return print(value, indent, '')
}

function print(value: JsonValue, indent: string, margin: string): string {
  const inner = margin + indent
  const open = indent === '' ? '' : `\n${inner}`
  const close = indent === '' ? '' : `\n${margin}`
  const comma = indent === '' ? ',' : `,\n${inner}`
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[${open}${value.map(item => print(item, indent, inner)).join(comma)}${close}]`
  }
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).sort(compareCodePoints)
    if (keys.length === 0) return '{}'
    const colon = indent === '' ? ':' : ': '
    const members = keys.map(key => printText(key) + colon + print(value[key]!, indent, inner))
    return `{${open}${members.join(comma)}${close}}`
  }
  if (typeof value === 'string') return printText(value)
  return typeof value === 'number' ? printJsonNumber(value) : String(value)
}

const printText = (text: string): string => escapeHtml(JSON.stringify(text))

function printJsonNumber(value: number): string {
  if (Object.is(value, -0)) return '-0'
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-6 || size >= 1e21))
    return value
      .toExponential()
      .replace(/e([-+])(\d)$/, 'e$10$2')
      .replace('e-0', 'e-')
  return Number.isInteger(value) ? BigInt(value).toString() : String(value)
}
