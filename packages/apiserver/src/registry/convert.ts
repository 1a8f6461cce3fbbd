import { compileSchema } from '@coxswain/apimachinery'
import { childObject, type JsonObject } from '../json.ts'
import type { Endpoint } from './registry.ts'
import { apiVersionOf } from './served-resource.ts'

/**
 * Turns an object that was read from the store into what the endpoint's version shows. Versions of a custom resource
 * without a conversion webhook differ in their schemas alone.
 */
export function convertForServing(endpoint: Endpoint, object: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(endpoint.resource.info.group, endpoint.version.name)
  if (object.apiVersion === apiVersion) return object
  const converted = { ...object, apiVersion }
  if (endpoint.resource.custom) {
    const schema = compileSchema(endpoint.version.schema())
    schema.prune(converted, { resourceRoot: true })
    schema.applyDefaults(converted)
  }
  return converted
}

/** Whether stored bytes can be served as they are. */
export function isServedAsStored(endpoint: Endpoint): boolean {
  return endpoint.version.storage
}

/** The namespace and name of an object that has metadata. */
export function nameOf(object: JsonObject): { readonly namespace: string; readonly name: string } {
  const { namespace = '', name = '' } = childObject(object, 'metadata') as {
    namespace?: string
    name?: string
  }
  return { namespace, name }
}
