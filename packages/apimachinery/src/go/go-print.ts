import { compareCodePoints, printNumber } from './print-value.ts'

/** The Go type a JSON value has after Kubernetes has read it. */
export type GoType = 'nil' | 'bool' | 'string' | 'int64' | 'float64' | 'map' | 'slice'

export function goTypeOf(value: unknown): GoType {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int64'
    case 'number':
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'int64' : 'float64'
    default:
      return value === null || value === undefined ? 'nil' : Array.isArray(value) ? 'slice' : 'map'
  }
}

const typeNames: Readonly<Record<GoType, string>> = {
  nil: '%!s(<nil>)',
  bool: 'bool',
  string: 'string',
  int64: 'int64',
  float64: 'float64',
  map: 'map[string]interface {}',
  slice: '[]interface {}',
}

/** A type as Go's messages name it. */
export function goTypeName(type: GoType): string {
  return typeNames[type]
}

/** A JSON value as Go's `%v` prints it: `map[a:1 b:[x y]]`, keys sorted. */
export function goPrint(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
      return String(value)
    case 'number':
    case 'bigint':
      return printNumber(value)
    default:
      break
  }
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`
  const object = value as Record<string, unknown>
  const keys = Object.keys(object).sort(compareCodePoints)
  return `map[${keys.map(key => `${key}:${goPrint(object[key])}`).join(' ')}]`
}
