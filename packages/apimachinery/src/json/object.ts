/** A JSON object with unknown members, for decoders and custom resources. */
export type JsonObject = { [key: string]: unknown }

/** Whether the value is an object and not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object under `key`; created when the member is missing or of another type. */
export function childObject(parent: JsonObject, key: string): JsonObject {
  const child = parent[key]
  if (isObject(child)) return child
  const made: JsonObject = {}
  parent[key] = made
  return made
}
