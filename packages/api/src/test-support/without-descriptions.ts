/** A JSON copy of an OpenAPI document without prose; a property of the name `description` stays. */
export function withoutDescriptions(document: unknown): unknown {
  return strip(JSON.parse(JSON.stringify(document)), false)
}

function strip(node: unknown, isProperties: boolean): unknown {
  if (Array.isArray(node)) return node.map(one => strip(one, false))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => isProperties || key !== 'description' || typeof value !== 'string')
      .map(([key, value]) => [key, strip(value, key === 'properties' && !isProperties)]),
  )
}
