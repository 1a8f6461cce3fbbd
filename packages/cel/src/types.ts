/** Static types: what the checker computes and what overloads are declared with. Types are immutable and shared. */

export type TypeKind =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'list'
  | 'map'
  | 'object'
  | 'opaque'
  | 'type'
  | 'param'

/** A type of the expression language. */
export interface CelType {
  readonly kind: TypeKind
  /** What users see: `int`, `list`, `kubernetes.Quantity`, the name of an object type, the name of a type parameter. */
  readonly name: string
  readonly params: readonly CelType[]
  /** Object types only: the type of a field by its CEL (escaped) name. */
  readonly fields?: (name: string) => CelType | undefined
  /** Bounds on the size of a value, where a schema states them; read by the cost estimate. */
  readonly maxSize?: number
  readonly minSize?: number
}

function simple(kind: TypeKind, name: string = kind): CelType {
  return { kind, name, params: [] }
}

/** The type `bool`. */
export const boolType: CelType = simple('bool')
/** The type `int`. */
export const intType: CelType = simple('int')
export const uintType: CelType = simple('uint')
export const doubleType: CelType = simple('double')
/** The type `string`. */
export const stringType: CelType = simple('string')
export const bytesType: CelType = simple('bytes')
/** The type `null_type`. */
export const nullType: CelType = simple('null', 'null_type')
export const timestampType: CelType = simple('timestamp', 'google.protobuf.Timestamp')
export const durationType: CelType = simple('duration', 'google.protobuf.Duration')
/** The type `dyn`: checked when an expression is evaluated. */
export const dynType: CelType = simple('dyn')
export const errorType: CelType = simple('error', '!error!')

/** The type of lists of `element`. */
export function listOf(element: CelType): CelType {
  return { kind: 'list', name: 'list', params: [element] }
}

/** The type of maps from `key` to `value`. */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', name: 'map', params: [key, value] }
}

export function typeOf(type: CelType): CelType {
  return { kind: 'type', name: 'type', params: [type] }
}

export function opaqueOf(name: string, ...params: CelType[]): CelType {
  return { kind: 'opaque', name, params }
}

/** The type of an optional value. */
export function optionalOf(type: CelType): CelType {
  return opaqueOf('optional_type', type)
}

export function typeParam(name: string): CelType {
  return { kind: 'param', name, params: [] }
}

export function isOptionalType(type: CelType): boolean {
  return type.kind === 'opaque' && type.name === 'optional_type'
}

export function isDynLike(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error'
}

/** The wording of cel-go's error messages, such as `list(map(string, dyn))`. */
export function formatType(type: CelType): string {
  if (type.kind === 'timestamp' || type.kind === 'duration' || type.kind === 'null') return type.kind
  if (type.params.length === 0) return type.name
  return `${type.name}(${type.params.map(formatType).join(', ')})`
}

const named: ReadonlyMap<string, CelType> = new Map([
  ...[boolType, intType, uintType, doubleType, stringType, bytesType, dynType].map(t => [t.kind, t] as const),
  ['null', nullType],
  ['timestamp', timestampType],
  ['duration', durationType],
])

/**
 * Reads the type notation of library declarations: `list<T>`, `map<K, V>`, `optional<V>`, `type<T>`, a single capital
 * letter for a type parameter, a dotted or capitalised name for an opaque type.
 */
export function parseType(text: string): CelType {
  const source = text.trim()
  const open = source.indexOf('<')
  if (open < 0) {
    const known = named.get(source)
    if (known !== undefined) return known
    return /^[A-Z]$/.test(source) ? typeParam(source) : opaqueOf(source)
  }
  const head = source.slice(0, open)
  const params = splitTopLevel(source.slice(open + 1, source.lastIndexOf('>'))).map(parseType)
  const [first = dynType, second = dynType] = params
  if (head === 'list') return listOf(first)
  if (head === 'map') return mapOf(first, second)
  if (head === 'type') return typeOf(first)
  if (head === 'optional') return optionalOf(first)
  return opaqueOf(head, ...params)
}

export function splitTopLevel(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === '<') depth++
    else if (c === '>') depth--
    else if (c === ',' && depth === 0) {
      parts.push(text.slice(start, i))
      start = i + 1
    }
  }
  const last = text.slice(start)
  if (last.trim() !== '') parts.push(last)
  return parts
}
