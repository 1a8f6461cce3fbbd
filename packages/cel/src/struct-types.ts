import { BoundedMap } from '@coxswain/kit'
import { type CelType, dynType, stringType } from './types.ts'
import { fault, ListValue, type MapValue, type Value } from './values.ts'

/** A type whose values expressions can write as `Name{field: value}`. */
export interface StructType {
  /** Of kind `object`; its `fields` say what may be set. */
  readonly type: CelType
  /** Makes the value; may throw an EvalFault. */
  readonly create: (fields: ReadonlyMap<string, Value>) => Value
}

/** Finds the struct type of a name. The same name gives the same type. */
export type StructTypes = (name: string) => StructType | undefined

/** A value that an expression wrote as a literal of a struct type. */
export class StructValue implements MapValue {
  readonly isMap = true as const
  readonly structType: CelType
  readonly fields: ReadonlyMap<string, Value>
  constructor(structType: CelType, fields: ReadonlyMap<string, Value>) {
    this.structType = structType
    this.fields = fields
  }
  get size(): number {
    return this.fields.size
  }
  get(key: Value): Value | undefined {
    return typeof key === 'string' ? this.fields.get(key) : undefined
  }
  keys(): Value[] {
    return [...this.fields.keys()]
  }
}

const texts: ReadonlySet<string> = new Set(['op', 'path', 'from'])

const jsonPatch: StructType = {
  type: {
    kind: 'object',
    name: 'JSONPatch',
    params: [],
    fields: name => (texts.has(name) ? stringType : name === 'value' ? dynType : undefined),
  },
  create(fields) {
    for (const [name, value] of fields) {
      if (texts.has(name) && typeof value !== 'string')
        fault(`unexpected type for JSONPatchType '${name}' field`)
    }
    return new StructValue(jsonPatch.type, fields)
  },
}

function objectType(name: string): StructType {
  const type: CelType = { kind: 'object', name, params: [], fields: () => dynType }
  return { type, create: fields => new StructValue(type, fields) }
}

const objects = new BoundedMap<string, StructType>(500)

/** What mutating admission policies write: `JSONPatch`, and `Object` with `Object.spec` and so on, whose fields are all dynamic. */
export const mutationTypes: StructTypes = name => {
  if (name === jsonPatch.type.name) return jsonPatch
  if (name !== 'Object' && !name.startsWith('Object.')) return undefined
  let found = objects.get(name)
  if (found === undefined) {
    found = objectType(name)
    objects.set(name, found)
  }
  return found
}

/** What is wrong with the names of nested object literals: each is named by the path of fields from `Object`. */
export function typeNameErrors(value: Value, path: string = 'Object'): string[] {
  if (value instanceof StructValue) {
    const { name } = value.structType
    const own =
      name === path
        ? []
        : [
            `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`,
          ]
    return [
      ...own,
      ...[...value.fields].flatMap(([field, inner]) => typeNameErrors(inner, `${path}.${field}`)),
    ]
  }
  if (value instanceof ListValue) return value.toArray().flatMap(item => typeNameErrors(item, path))
  if (typeof value !== 'object' || value === null || !('isMap' in value)) return []
  return value.keys().flatMap(key => typeNameErrors(value.get(key) as Value, path))
}
