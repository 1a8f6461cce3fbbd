import { DUMP_SCHEMA, dump, intYaml11Tag } from 'js-yaml'

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
  return dump(value, {
    schema,
    noRefs: true,
    lineWidth: -1,
    seqNoIndent: true,
    skipInvalid: true,
    ...(sorted && { sortKeys: true, quoteStyle: 'double' as const }),
  })
}

/** Several documents, each behind a `---` line. */
export function writeYamlDocuments(values: readonly unknown[]): string {
  return values.map(value => `---\n${writeYaml(value)}`).join('')
}
