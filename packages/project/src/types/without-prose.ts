import { setMember } from '@coxswain/apimachinery/json'
import type { Schema } from '@coxswain/apimachinery/schema'

/** The schema without descriptions and titles, which the types have as comments. */
export function withoutProse(schema: Schema): Schema {
  const { description: _description, title: _title, ...rest } = schema
  const { properties, items, additionalProperties, allOf, anyOf, oneOf, not } = rest
  return {
    ...rest,
    ...(properties && { properties: withoutProseEach(properties) }),
    ...(items && { items: withoutProse(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: withoutProse(additionalProperties),
    }),
    ...(allOf && { allOf: allOf.map(withoutProse) }),
    ...(anyOf && { anyOf: anyOf.map(withoutProse) }),
    ...(oneOf && { oneOf: oneOf.map(withoutProse) }),
    ...(not && { not: withoutProse(not) }),
  }
}

function withoutProseEach(properties: Readonly<Record<string, Schema>>): Record<string, Schema> {
  const result: Record<string, Schema> = {}
  for (const [name, property] of Object.entries(properties)) setMember(result, name, withoutProse(property))
  return result
}
