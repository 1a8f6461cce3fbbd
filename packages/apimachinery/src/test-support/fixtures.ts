import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Schema } from '../schema/schema.ts'

const folder = new URL('../../fixtures/', import.meta.url)

export interface RecordedCase<Question, Answer> {
  readonly question: Question
  readonly answer: Answer
}

/** The cases of a fixture that `tools/oracle` has recorded. */
export function readRecording<Question, Answer>(name: string): readonly RecordedCase<Question, Answer>[] {
  const recording = readJsonFile(`${name}.json.gz`) as { cases: RecordedCase<Question, Answer>[] }
  return recording.cases
}

function readJsonFile(name: string): unknown {
  return JSON.parse(gunzipSync(readFileSync(new URL(name, folder))).toString('utf8'))
}

interface SchemaFile {
  /** Kind to the name of its definition. */
  readonly kinds: Readonly<Record<string, string>>
  readonly definitions: Readonly<Record<string, RawSchema>>
}

type RawSchema = { readonly [key: string]: unknown; readonly $ref?: string }

/** The schemas that the cases are about, as nodes shared by identity: kind to schema. */
export function readSchemas(): ReadonlyMap<string, Schema> {
  const { kinds, definitions } = readSchemaFile()
  const nodes = new Map<string, Record<string, unknown>>()
  const named = (name: string): Record<string, unknown> => {
    const known = nodes.get(name)
    if (known !== undefined) return known
    const node: Record<string, unknown> = { name }
    nodes.set(name, node)
    return Object.assign(node, convert(definitions[name]!))
  }
  const convert = (raw: RawSchema): Record<string, unknown> => {
    if (raw.$ref !== undefined) return named(raw.$ref.slice(raw.$ref.lastIndexOf('/') + 1))
    const node: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(raw)) {
      if (key === 'properties') {
        const properties = Object.entries(value as Record<string, RawSchema>)
        node[key] = Object.fromEntries(properties.map(([name, inner]) => [name, convert(inner)]))
      } else if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object')) {
        node[key] = convert(value as RawSchema)
      } else if (key === 'allOf' || key === 'oneOf') {
        node[key] = (value as RawSchema[]).map(convert)
      } else {
        node[key] = value
      }
    }
    return node
  }
  return new Map(Object.entries(kinds).map(([kind, name]) => [kind, named(name) as Schema]))
}

export function readSchemaFile(): SchemaFile {
  return JSON.parse(
    gunzipSync(readFileSync(new URL('schemas.json.gz', folder))).toString('utf8'),
  ) as SchemaFile
}
