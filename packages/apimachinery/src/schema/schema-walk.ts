import type { Schema } from './schema.ts'

/**
 * The steps of every walk over an object and its schema. `undefined` is a path that the schema does not
 * describe.
 */

/** The node that describes the value itself: a lone `allOf` entry stands for its holder. */
export function resolveSchema(schema: Schema | undefined): Schema | undefined {
  let node = schema
  while (node?.allOf?.length === 1 && node.type === undefined && node.properties === undefined) {
    node = node.allOf[0]
  }
  return node
}

export function propertySchema(schema: Schema | undefined, key: string): Schema | undefined {
  const properties = schema?.properties
  return properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined
}

/** `io.k8s.api.core.v1.PodSpec` is `PodSpec`. */
export function shortTypeName(schema: Schema | undefined): string {
  const name = schema?.name ?? ''
  return name.slice(name.lastIndexOf('.') + 1)
}
