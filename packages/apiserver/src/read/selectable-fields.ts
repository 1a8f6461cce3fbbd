import type { JsonObject } from '@coxswain/apimachinery/json'
import type { StoredObject } from '../cache/stored-object.ts'
import type { ServedResource } from '../registry/registry.ts'

type Fields = Readonly<Record<string, string>>

const known = new WeakMap<StoredObject, Fields>()

/** The values of selectable fields, extracted from the object once. */
export function fieldsOf(resource: ServedResource, object: StoredObject): Fields {
  let fields = known.get(object)
  if (!fields) {
    fields = readFields(resource, object)
    known.set(object, fields)
  }
  return fields
}

function readFields(resource: ServedResource, stored: StoredObject): Fields {
  const fields: Record<string, string> = {
    'metadata.name': stored.name,
    'metadata.namespace': stored.namespace,
  }
  const paths = resource.selectableFields
  if (paths.length === 0) return fields
  const object = stored.parse()
  for (const path of paths) fields[path] = readField(object, path)
  return { ...fields, ...resource.strategy.fields?.(object) }
}

/** The value at a dotted path as text; empty when it is absent. */
function readField(object: JsonObject, path: string): string {
  let value: unknown = object
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return ''
    value = (value as JsonObject)[name]
  }
  return value === null || typeof value === 'object' ? '' : String(value)
}
