import { definitions, kinds, scopes } from '../gen/merge-schema.ts'
import { type MergeSchema, opaqueSchema } from './merge-schema.ts'

let lines: readonly string[] | undefined
let definitionOfKind: ReadonlyMap<string, number> | undefined
let namespaced: ReadonlyMap<string, boolean> | undefined

/** The schema of a built-in kind of Kubernetes, as kustomize knows it. */
export function builtInSchema(apiVersion: string, kind: string): MergeSchema | undefined {
  definitionOfKind ??= readKinds()
  const index = definitionOfKind.get(`${apiVersion} ${kind}`)
  if (index === undefined) return undefined
  return index < 0 ? opaqueSchema : schemaOf(index)
}

function readKinds(): Map<string, number> {
  const result = new Map<string, number>()
  for (const line of kinds.trim().split('\n')) {
    const at = line.lastIndexOf(' ')
    const index = line.slice(at + 1)
    result.set(line.slice(0, at), index === '-' ? -1 : Number(index))
  }
  return result
}

/** Whether kustomize knows without a doubt that objects of a kind have a namespace, or none. */
export function builtInScope(apiVersion: string, kind: string): boolean | undefined {
  namespaced ??= new Map(
    scopes
      .trim()
      .split('\n')
      .map(line => [line.replace(/ -$/, ''), !line.endsWith(' -')]),
  )
  return namespaced.get(`${apiVersion} ${kind}`)
}

const schemas = new Map<number, MergeSchema>()

function schemaOf(index: number): MergeSchema {
  let schema = schemas.get(index)
  if (schema === undefined) {
    lines ??= definitions.slice(1, -1).split('\n')
    schema = objectSchema(lines[index]!)
    schemas.set(index, schema)
  }
  return schema
}

function objectSchema(line: string): MergeSchema {
  let types: Map<string, string> | undefined
  return {
    ...opaqueSchema,
    field: name => {
      types ??= new Map(
        line.split(' ').map(field => {
          const at = field.indexOf(':')
          return [field.slice(0, at), field.slice(at + 1)]
        }),
      )
      const type = types.get(name)
      return type === undefined ? undefined : typeSchema(type)
    },
  }
}

const listType = /^\[(?:([^(]*)\(([^)]*)\))?\](.*)$/

function typeSchema(type: string): MergeSchema {
  if (type === '') return opaqueSchema
  if (type.startsWith('*')) return { ...opaqueSchema, field: () => typeSchema(type.slice(1)) }
  const list = listType.exec(type)
  if (list === null) return schemaOf(Number(type))
  const [, strategy, keys = '', items = ''] = list
  return {
    field: () => undefined,
    items: () => typeSchema(items),
    isMerged: strategy?.split('+').includes('merge') ?? false,
    hasStrategy: strategy !== undefined,
    keys: keys === '' ? [] : keys.split('+'),
  }
}
