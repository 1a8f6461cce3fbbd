import type { GoField, GoStructs } from './gen.ts'

/** The structs that messages print, one text each; `packages/strategies/src/shared/go-value.ts` reads them. */
export function writePrinted(structs: GoStructs): string {
  const names = Object.keys(structs).sort()
  return `
/** An internal type of kube-apiserver: its package and its name. */
export type GoType =
${names.map(name => `  | '${name}'`).join('\n')}

/**
 * The fields of each type in the order of Go, as \`GoName/jsonName:kind\`. The JSON name is left out where it is the Go name with a lower-case first
 * letter. Kinds: \`s\` string, \`i\` number, \`b\` boolean, \`q\` quantity, \`?\` may be absent, \`[]\` list,
 * \`{}\` map; a type's name after \`?\`, \`[]\`, \`{}\` or \`=\`. \`@Type\` stands for
 * the fields of another type, \`@/name\` for those of the object that JSON has under that name.
 */
export const goTypes: Readonly<Record<GoType, string>> = {
${names.map(name => `  '${name}': '${structs[name]!.map(field => writeField(field)).join(' ')}',`).join('\n')}
}
`
}

function writeField({ go, json, type, embedded }: GoField): string {
  if (embedded) return type.startsWith('=') ? `@/${json}` : `@${type}`
  const expected = go.charAt(0).toLowerCase() + go.slice(1)
  return `${go}${json === expected ? '' : `/${json}`}:${kindOf(type)}`
}

const zeros: Readonly<Record<string, string>> = {
  string: 's',
  bool: 'b',
  int32: 'i',
  int64: 'i',
  '=intstr.IntOrString': 'i',
  '=resource.Quantity': 'q',
  '=meta.Time': '?',
  '=runtime.RawExtension': '?',
  any: '?',
  bytes: '?',
}

function kindOf(type: string): string {
  const [, prefix = '', item = ''] = /^(\*|\[\]|\{\}|)(.*)$/.exec(type)!
  const isStruct = /^[a-z]+\.[A-Z]\w*$/.test(item)
  if (prefix !== '') return (prefix === '*' ? '?' : prefix) + (isStruct ? item : '')
  if (isStruct) return `=${item}`
  const zero = zeros[item]
  if (zero === undefined) throw new Error(`no kind for the Go type ${type}`)
  return zero
}
