import { deepClone, type JsonObject } from '@coxswain/apimachinery/json'
import { conversionsOfKind, convertObject } from '@coxswain/apimachinery/kinds'
import { type ApiObject, formatGroupVersion } from '@coxswain/apimachinery/meta'
import type { ResourceDefinition } from './resource.ts'

/** Objects of a kind in the version that its rules are written over. */
export interface Hub {
  /** May be `object` itself. */
  to(object: JsonObject): ApiObject
  /** Runs `change` on the object in the hub's version, and makes `object` the result in its own. */
  within<R>(object: JsonObject, change: (object: ApiObject) => R): R
  convert(object: JsonObject, apiVersion: string): JsonObject
}

export function createHub({ kind, hub }: ResourceDefinition): Hub {
  const steps = conversionsOfKind(kind)
  const hubVersion = formatGroupVersion(hub)
  /** Versions without conversions differ in their schemas only. */
  const convert = (object: JsonObject, apiVersion: string): JsonObject =>
    steps.length === 0
      ? { ...deepClone(object), apiVersion }
      : (convertObject(object as unknown as ApiObject, apiVersion, steps) as unknown as JsonObject)
  const to = (object: JsonObject): ApiObject =>
    (object.apiVersion === hubVersion ? object : convert(object, hubVersion)) as unknown as ApiObject
  const replace = (object: JsonObject, by: ApiObject) => {
    const back = convert(by as unknown as JsonObject, String(object.apiVersion))
    for (const name of Object.keys(object)) if (!(name in back)) delete object[name]
    Object.assign(object, back)
  }
  return {
    to,
    convert,
    within(object, change) {
      if (object.apiVersion === hubVersion) return change(object as unknown as ApiObject)
      const converted = to(object)
      const result = change(converted)
      if (!(result instanceof Promise)) {
        replace(object, converted)
        return result
      }
      return result.then(value => {
        replace(object, converted)
        return value as unknown
      }) as typeof result
    },
  }
}
