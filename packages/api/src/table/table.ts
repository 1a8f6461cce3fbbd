/**
 * The compact form in which the built-in types are committed, one table a package of upstream's (`core/v1`), and its
 * reader. A table is text; a line is a type or, indented by a space, a field:
 *
 *     Container
 *      name 1 s !
 *      ports 6 []ContainerPort m=containerPort,protocol p=containerPort
 *      resources 8 ResourceRequirements
 *     Volume
 *      name 1 s !
 *      . 2 VolumeSource
 *
 * A field is its JSON name (`.`: inlined), its protobuf number (`-`: not in protobuf), its type and its marks.
 * `tools/gen-api` writes these texts; `FieldRow` says what each mark means.
 */
export interface Table {
  /** The prefix of its types' names: `io.k8s.api.core.v1`. */
  readonly package: string
  /** How other tables name it: `core.v1`. */
  readonly alias: string
  readonly group: string
  readonly version: string
  /** The tables whose types this one uses. */
  readonly uses: readonly Table[]
  readonly text: string
}

export interface TypeRow {
  /** `io.k8s.api.core.v1.Container` */
  readonly name: string
  readonly short: string
  readonly table: Table
  /** `k`: its name is a kind of the table's group and version. */
  readonly isKind: boolean
  /** `special`: its JSON form is not that of its fields. */
  readonly isSpecial: boolean
  /** `mt=`: x-kubernetes-map-type. */
  readonly mapType?: 'atomic' | 'granular'
  /** `x=`: further keys of its OpenAPI definition. */
  readonly extensions?: Readonly<Record<string, unknown>>
  readonly fields: readonly FieldRow[]
}

export interface FieldRow {
  /** Empty for an embedded struct whose fields stand in the parent's JSON. */
  readonly json: string
  /** 0: not in protobuf. */
  readonly number: number
  readonly type: TypeExpression
  /** `!` and `r`. */
  readonly required: boolean
  /** When Go leaves it out of JSON: always kept (`!`, `n`), when empty, or when empty and also for empty structs (`z`). */
  readonly omit: 'never' | 'empty' | 'zero'
  /** `d=`: a default that is not the zero value upstream's generator derives. */
  readonly default?: unknown
  /** `a`, `set`, `m=` with the keys. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  /** `mt=` */
  readonly mapType?: 'atomic' | 'granular'
  /** `p=` is `merge` with a key, `ps=` any other strategy. */
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  /** `e=`; for a list or a map, of its elements (`ei=`). `~` stands for a blank. */
  readonly enum?: readonly string[]
  readonly itemEnum?: readonly string[]
  /** `bare`: OpenAPI v3 does not wrap the reference, as upstream has no text for the field. */
  readonly isBare: boolean
  /** `x=`: further keys of its OpenAPI definition. */
  readonly extensions?: Readonly<Record<string, unknown>>
}

export type BasicType = 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes' | 'any'
/** Types that are messages in protobuf and something simple in JSON. */
export type SpecialType = 'time' | 'microtime' | 'quantity' | 'intstr' | 'raw' | 'fields'

export type TypeExpression =
  | { readonly form: 'basic'; readonly basic: BasicType; readonly pointer: boolean }
  | { readonly form: 'special'; readonly special: SpecialType; readonly pointer: boolean }
  /** `wrapped`: protobuf puts the list into a message of its own. */
  | { readonly form: 'list'; readonly element: TypeExpression; readonly wrapped: boolean }
  | { readonly form: 'map'; readonly element: TypeExpression }
  | { readonly form: 'ref'; readonly table: Table; readonly short: string; readonly pointer: boolean }

const basics: Readonly<Record<string, BasicType>> = {
  s: 'string',
  b: 'bool',
  i: 'int32',
  l: 'int64',
  f: 'float64',
  y: 'bytes',
  any: 'any',
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** The full names of the types that have a form of their own in JSON. */
export const specialNames: Readonly<Record<SpecialType, string>> = {
  time: `${meta}Time`,
  microtime: `${meta}MicroTime`,
  fields: `${meta}FieldsV1`,
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  intstr: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  raw: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
}

const parsed = new WeakMap<Table, ReadonlyMap<string, TypeRow>>()

/** The rows of `table` by their short names. Read on first use, then kept. */
export function typeRows(table: Table): ReadonlyMap<string, TypeRow> {
  let rows = parsed.get(table)
  if (rows === undefined) {
    rows = parse(table)
    parsed.set(table, rows)
  }
  return rows
}

/** The row a reference names. */
export function rowOf(reference: { readonly table: Table; readonly short: string }): TypeRow {
  const row = typeRows(reference.table).get(reference.short)
  if (row === undefined) throw new Error(`table ${reference.table.alias} has no type ${reference.short}`)
  return row
}

/** The fields of a type as JSON has them: those of embedded structs stand in place of the struct. */
export function jsonFields(row: TypeRow): readonly FieldRow[] {
  if (row.fields.every(field => field.json !== '')) return row.fields
  return row.fields.flatMap(field =>
    field.json === '' && field.type.form === 'ref' ? jsonFields(rowOf(field.type)) : [field],
  )
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function parse(table: Table): ReadonlyMap<string, TypeRow> {
  const rows = new Map<string, TypeRow>()
  let fields: FieldRow[] = []
  for (const line of table.text.split('\n')) {
    if (line === '') continue
    if (line.startsWith(' ')) {
      fields.push(parseField(table, line.slice(1)))
      continue
    }
    const [short = '', ...marks] = splitMarks(line)
    fields = []
    const row: Mutable<TypeRow> = {
      name: `${table.package}.${short}`,
      short,
      table,
      isKind: false,
      isSpecial: false,
      fields,
    }
    for (const mark of marks) {
      if (mark === 'k') row.isKind = true
      else if (mark === 'special') row.isSpecial = true
      else if (mark.startsWith('mt=')) row.mapType = mark.slice(3) as 'atomic'
      else if (mark.startsWith('x=')) row.extensions = JSON.parse(mark.slice(2)) as Record<string, unknown>
      else throw new Error(`table ${table.alias}: unknown mark ${mark} on ${short}`)
    }
    rows.set(short, row)
  }
  return rows
}

function parseField(table: Table, line: string): FieldRow {
  const [json = '', number = '', type = '', ...marks] = splitMarks(line)
  const row: Mutable<FieldRow> = {
    json: json === '.' ? '' : json,
    number: number === '-' ? 0 : Number(number),
    type: parseType(table, type),
    required: false,
    omit: 'empty',
    isBare: false,
  }
  for (const mark of marks) applyMark(row, mark)
  return row
}

function applyMark(row: Mutable<FieldRow>, mark: string): void {
  const equals = mark.indexOf('=')
  const value = mark.slice(equals + 1)
  switch (equals < 0 ? mark : mark.slice(0, equals)) {
    case '!':
      row.required = true
      row.omit = 'never'
      break
    case 'r':
      row.required = true
      break
    case 'n':
      row.omit = 'never'
      break
    case 'z':
      row.omit = 'zero'
      break
    case 'a':
      row.listType = 'atomic'
      break
    case 'set':
      row.listType = 'set'
      break
    case 'm':
      row.listType = 'map'
      row.listMapKeys = value.split(',')
      break
    case 'mt':
      row.mapType = value as 'atomic'
      break
    case 'p':
      row.patchStrategy = 'merge'
      row.patchMergeKey = value
      break
    case 'ps':
      row.patchStrategy = value
      break
    case 'pk':
      row.patchMergeKey = value
      break
    case 'e':
      row.enum = value.replaceAll('~', ' ').split(',')
      break
    case 'ei':
      row.itemEnum = value.replaceAll('~', ' ').split(',')
      break
    case 'd':
      row.default = JSON.parse(value)
      break
    case 'bare':
      row.isBare = true
      break
    case 'x':
      row.extensions = JSON.parse(value) as Record<string, unknown>
      break
    default:
      throw new Error(`unknown mark ${mark} on field ${row.json}`)
  }
}

/** `x=` takes the rest of the line, as its JSON may hold blanks. */
function splitMarks(line: string): string[] {
  const rest = line.indexOf(' x=')
  return rest < 0 ? line.split(' ') : [...line.slice(0, rest).split(' '), line.slice(rest + 1)]
}

function parseType(table: Table, text: string): TypeExpression {
  if (text.startsWith('[]')) return { form: 'list', element: parseType(table, text.slice(2)), wrapped: false }
  if (text.startsWith('<'))
    return { form: 'list', element: parseType(table, text.slice(1, -1)), wrapped: true }
  if (text.startsWith('{}')) return { form: 'map', element: parseType(table, text.slice(2)) }
  const pointer = text.startsWith('*')
  const name = pointer ? text.slice(1) : text
  const basic = basics[name]
  if (basic !== undefined) return { form: 'basic', basic, pointer }
  if (Object.hasOwn(specialNames, name)) return { form: 'special', special: name as SpecialType, pointer }
  const dot = name.lastIndexOf('.')
  if (dot < 0) return { form: 'ref', table, short: name, pointer }
  const alias = name.slice(0, dot)
  const other = table.uses.find(used => used.alias === alias)
  if (other === undefined) throw new Error(`table ${table.alias} does not use ${alias}`)
  return { form: 'ref', table: other, short: name.slice(dot + 1), pointer }
}
