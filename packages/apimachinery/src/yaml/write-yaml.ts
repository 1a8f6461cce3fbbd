import {
  COLLECTION_STYLE,
  DUMP_SCHEMA,
  intYaml11Tag,
  jsToAst,
  mapTag,
  type Node,
  present,
  SCALAR_STYLE,
  seqTag,
  strTag,
} from 'js-yaml'

// Quotes strings that a reader of YAML 1.1 or 1.2 would take for something else.
const schema = DUMP_SCHEMA.withTags({
  ...intYaml11Tag,
  identify: data => typeof data === 'bigint' || intYaml11Tag.identify(data),
  represent: data => String(data),
})

/** How YAML is formatted. */
export interface WriteYamlOptions {
  /** Keys in alphabetical order and double quotes, as Go writes it. @default false */
  readonly sorted?: boolean
}

/** One document, keys in their own order, lists flush with their key as in Kubernetes' own files. */
export function writeYaml(value: unknown, { sorted = false }: WriteYamlOptions = {}): string {
  const contents = toAst(value, sorted ? sortedKeys : Object.keys) ?? null
  return present([{ contents, directives: [] }], {
    schema,
    lineWidth: -1,
    seqNoIndent: true,
    ...(sorted && { quoteStyle: 'double' as const }),
  })
}

/** Several documents, each behind a `---` line. */
export function writeYamlDocuments(values: readonly unknown[]): string {
  return values.map(value => `---\n${writeYaml(value)}`).join('')
}

/**
 * The tree that js-yaml writes; undefined for what YAML does not have. `jsToAst` asks every tag whether it represents a value, which was
 * two thirds of the time of writing; here the type of a plain value decides, and other values are left to it.
 */
function toAst(value: unknown, keysOf: (object: object) => string[]): Node | undefined {
  if (typeof value === 'string') return scalar(strTag.tagName, value)
  if (Array.isArray(value)) {
    const items = value.map(item => toAst(item ?? null, keysOf)).filter(item => item !== undefined)
    return { kind: 'sequence', tag: seqTag.tagName, tagged: false, style: COLLECTION_STYLE.BLOCK, items }
  }
  if (isPlainObject(value)) {
    const items = []
    for (const key of keysOf(value)) {
      const node = toAst(value[key], keysOf)
      if (node !== undefined) items.push({ key: scalar(strTag.tagName, key), value: node })
    }
    return { kind: 'mapping', tag: mapTag.tagName, tagged: false, style: COLLECTION_STYLE.BLOCK, items }
  }
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return scalar(intYaml11Tag.tagName, String(value))
  return constants.get(value) ?? anyToAst(value)
}

const anyToAst = (value: unknown): Node | undefined =>
  jsToAst(value, schema, { skipInvalid: true })[0]!.contents ?? undefined

const constants = new Map<unknown, Node>([true, false, null].map(value => [value, anyToAst(value)!]))

const sortedKeys = (object: object): string[] => Object.keys(object).sort()

function scalar(tag: string, value: string): Node {
  return { kind: 'scalar', tag, tagged: false, style: SCALAR_STYLE.PLAIN, value }
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
