import type { GoField, GoStructs } from './gen.ts'

/** The structs of a configuration file as schemas, those first that others refer to. */
export function writeSchemas(structs: GoStructs): string {
  const written = new Map<string, string>()
  const roots = Object.keys(structs)
    .filter(name => name.endsWith('.KubeSchedulerConfiguration') || name.endsWith('Args'))
    .sort()
  for (const name of roots) writeStruct(name)
  return `import { builtinSchema } from '@coxswain/api'
import type { Schema } from '@coxswain/apimachinery/schema'

${[...written.values()].join('\n')}
/** What the configuration of kube-scheduler and the arguments of its plug-ins may hold, by the names of their kinds. */
export const schemas: Readonly<Record<string, Schema>> = {
${roots.map(name => `  ${baseOf(name)},`).join('\n')}
}
`

  function writeStruct(name: string): void {
    if (written.has(name)) return
    const fields = fieldsOf(name).map(field => `    ${field.json}: ${schemaOf(field)},`)
    const base = baseOf(name)
    const lines = [
      `const ${base}: Schema = {`,
      "  type: 'object',",
      `  name: '${base}',`,
      '  properties: {',
      ...fields,
    ]
    written.set(name, `${lines.join('\n')}\n  },\n}\n`)
  }

  /** With those of embedded structs. */
  function fieldsOf(name: string): readonly GoField[] {
    return structs[name]!.flatMap(field => (field.embedded ? fieldsOf(field.type) : [field]))
  }

  /** Strings that Go always writes are empty when they are missing. */
  function schemaOf({ type, optional }: GoField): string {
    return type === 'string' && !optional ? "{ type: 'string', default: '' }" : typeOf(type)
  }

  function typeOf(type: string): string {
    if (type.startsWith('*')) return typeOf(type.slice(1))
    if (type.startsWith('[]')) return `{ type: 'array', items: ${typeOf(type.slice(2))} }`
    if (type.startsWith('=core.')) return `builtinSchema('io.k8s.api.core.v1.${baseOf(type)}')!`
    const scalar = scalars[type]
    if (scalar !== undefined) return scalar
    if (!structs[type]) throw new Error(`no schema for the Go type ${type}`)
    writeStruct(type)
    return baseOf(type)
  }
}

const baseOf = (name: string): string => name.slice(name.indexOf('.') + 1)

const scalars: Readonly<Record<string, string>> = {
  string: "{ type: 'string' }",
  bytes: "{ type: 'string' }",
  '=meta.Duration': "{ type: 'string' }",
  bool: "{ type: 'boolean' }",
  int32: "{ type: 'integer', format: 'int32' }",
  int64: "{ type: 'integer', format: 'int64' }",
  float32: "{ type: 'number' }",
  '=runtime.RawExtension': "{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }",
}
