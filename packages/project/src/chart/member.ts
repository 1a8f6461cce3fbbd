import { isObject, type JsonObject } from '@coxswain/apimachinery/json'

/** The object under `key`; an empty one when there is none. */
export function memberOf(parent: JsonObject, key: string): JsonObject {
  const member = parent[key]
  return isObject(member) ? member : {}
}
