import type { DefinitionFacts, Facts, FieldFacts, TypeFacts } from './facts.ts'

/** A package of upstream's whose types become one table. */
export interface PackageFacts {
  /** `io.k8s.api.core.v1` */
  readonly name: string
  /** `core.v1` */
  readonly alias: string
  readonly group: string
  readonly version: string
  /** Short names, sorted. */
  readonly types: readonly string[]
}

export const specialTokens: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': 'time',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': 'microtime',
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': 'fields',
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'intstr',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'raw',
}

const special = /\.(JSON|JSONSchemaPropsOr\w+)$/
/** Never part of an API object. */
const skipped = /^time\.|\.pkg\.runtime\.|\.meta\.v1\.TableOptions$/
const tokens: Readonly<Record<string, string>> = {
  string: 's',
  bool: 'b',
  int32: 'i',
  int64: 'l',
  float64: 'f',
  bytes: 'y',
  any: 'any',
  interface: 'any',
}

export function splitName(name: string): { package: string; short: string } {
  const dot = name.lastIndexOf('.')
  return { package: name.slice(0, dot), short: name.slice(dot + 1) }
}

export function aliasOf(packageName: string): string {
  if (packageName === 'io.k8s.apimachinery.pkg.version') return 'version'
  return packageName.split('.').slice(-2).join('.')
}

/** The packages that become tables, with their types. */
export function packagesOf(facts: Facts): PackageFacts[] {
  const byPackage = new Map<string, string[]>()
  for (const [name, type] of Object.entries(facts.types)) {
    if (type.kind !== 'struct' || specialTokens[name] !== undefined || skipped.test(name)) continue
    const { package: owner, short } = splitName(name)
    byPackage.set(owner, [...(byPackage.get(owner) ?? []), short])
  }
  return [...byPackage]
    .map(([name, types]) => ({
      name,
      alias: aliasOf(name),
      types: types.sort(),
      ...groupVersion(facts, name),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function groupVersion(facts: Facts, owner: string): { group: string; version: string } {
  if (owner.endsWith('.meta.v1')) return { group: 'meta.k8s.io', version: 'v1' }
  const kind = facts.kinds.find(candidate => splitName(candidate.Type).package === owner)
  return { group: kind?.Group ?? '', version: kind?.Version ?? '' }
}

/** The text of one package's table and the packages it refers to. */
export function writeTable(facts: Facts, owner: PackageFacts): { text: string; uses: string[] } {
  const uses = new Set<string>()
  const kinds = new Set(
    facts.kinds.filter(kind => isOwnKind(kind, owner)).map(kind => splitName(kind.Type).short),
  )
  const lines: string[] = []
  for (const short of owner.types) {
    const name = `${owner.name}.${short}`
    const type = facts.types[name]
    if (type === undefined) throw new Error(`no type ${name}`)
    const definition = facts.definitions[name]
    lines.push([short, ...typeMarks(name, definition ?? {}, kinds.has(short))].join(' '))
    if (special.test(name)) continue
    for (const field of type.fields ?? []) {
      const line = fieldLine(facts, { owner, name, definition }, field)
      if (line !== undefined) lines.push(` ${line}`)
    }
    for (const field of type.fields ?? []) collectUses(facts, owner, field.type, uses)
  }
  return { text: lines.join('\n'), uses: [...uses].sort() }
}

/** Kinds that every group and version registers (DeleteOptions, WatchEvent, ...) are not marked. */
function isOwnKind(kind: Facts['kinds'][number], owner: PackageFacts): boolean {
  if (splitName(kind.Type).package !== owner.name) return false
  return kind.Group === owner.group && kind.Version === owner.version
}

function typeMarks(name: string, definition: DefinitionFacts, isKind: boolean): string[] {
  const marks: string[] = []
  if (isKind) marks.push('k')
  if (special.test(name)) return [...marks, 'special']
  const { type: _type, properties: _properties, required: _required, ...rest } = definition
  const { 'x-kubernetes-map-type': mapType, ...extensions } = rest
  if (mapType !== undefined) marks.push(`mt=${mapType}`)
  if (Object.keys(extensions).length > 0) marks.push(`x=${JSON.stringify(extensions)}`)
  return marks
}

interface Place {
  readonly owner: PackageFacts
  readonly name: string
  /** Absent for groups that upstream leaves out of OpenAPI. */
  readonly definition: DefinitionFacts | undefined
}

function fieldLine(facts: Facts, place: Place, field: FieldFacts): string | undefined {
  if (field.json === '-') return undefined
  const options = field.options ?? []
  const isInline = field.json === ''
  const number = field.protobuf && field.protobuf !== '-' ? field.protobuf.split(',')[1] : '-'
  const head = [isInline ? '.' : field.json, number, expression(facts, place.owner, field.type)]
  if (isInline) return head.join(' ')
  const properties = (place.definition?.properties ?? {}) as Record<string, DefinitionFacts>
  const property = properties[field.json]
  const kept = !options.includes('omitempty')
  const required = place.definition
    ? ((place.definition.required ?? []) as string[]).includes(field.json)
    : kept
  const marks: string[] = []
  if (required && kept) marks.push('!')
  else if (required) marks.push('r')
  else if (kept) marks.push('n')
  if (options.includes('omitzero')) marks.push('z')
  if (property !== undefined) marks.push(...propertyMarks(field, property, kept))
  return [...head, ...marks].join(' ')
}

function propertyMarks(field: FieldFacts, property: DefinitionFacts, kept: boolean): string[] {
  const marks: string[] = []
  const take = (key: string): unknown => property[key]
  const listType = take('x-kubernetes-list-type')
  if (listType === 'atomic') marks.push('a')
  else if (listType === 'set') marks.push('set')
  else if (listType === 'map') marks.push(`m=${(take('x-kubernetes-list-map-keys') as string[]).join(',')}`)
  const mapType = take('x-kubernetes-map-type')
  if (mapType !== undefined) marks.push(`mt=${mapType}`)
  const strategy = take('x-kubernetes-patch-strategy') as string | undefined
  const mergeKey = take('x-kubernetes-patch-merge-key') as string | undefined
  if (strategy === 'merge' && mergeKey !== undefined) marks.push(`p=${mergeKey}`)
  else {
    if (strategy !== undefined) marks.push(`ps=${strategy}`)
    if (mergeKey !== undefined) marks.push(`pk=${mergeKey}`)
  }
  if (property.enum !== undefined) marks.push(`e=${enumText(property.enum)}`)
  const items = (property.items ?? property.additionalProperties) as DefinitionFacts | undefined
  if (items?.enum !== undefined) marks.push(`ei=${enumText(items.enum)}`)
  const derived = kept ? zeros[field.type] : undefined
  if (isScalar(field.type) && property.default !== derived)
    marks.push(`d=${JSON.stringify(property.default)}`)
  if (property.bare === true && field.type.startsWith('*')) marks.push('bare')
  return marks
}

/** Marks are separated by blanks, so `~` stands for those in a value. */
function enumText(values: unknown): string {
  return (values as string[]).join(',').replaceAll(' ', '~')
}

const zeros: Readonly<Record<string, unknown>> = { string: '', bool: false, int32: 0, int64: 0 }

function isScalar(type: string): boolean {
  return /^\*?(string|bool|int32|int64|float64|bytes)$/.test(type)
}

function expression(facts: Facts, owner: PackageFacts, type: string): string {
  if (type.startsWith('[]')) return `[]${expression(facts, owner, type.slice(2))}`
  if (type.startsWith('{string}')) return `{}${expression(facts, owner, type.slice(8))}`
  if (type.startsWith('*')) return `*${expression(facts, owner, type.slice(1))}`
  const token = tokens[type] ?? specialTokens[type]
  if (token !== undefined) return token
  const known: TypeFacts | undefined = facts.types[type]
  if (known === undefined) throw new Error(`unknown type ${type}`)
  if (known.kind === 'slice') return `<${expression(facts, owner, known.elem ?? '')}>`
  const { package: other, short } = splitName(type)
  return other === owner.name ? short : `${aliasOf(other)}.${short}`
}

function collectUses(facts: Facts, owner: PackageFacts, type: string, uses: Set<string>): void {
  const name = type.replace(/^(\[\]|\{string\}|\*)+/, '')
  if (tokens[name] !== undefined || specialTokens[name] !== undefined) return
  if (facts.types[name]?.kind === 'slice') return
  const other = splitName(name).package
  if (other !== owner.name) uses.add(aliasOf(other))
}
