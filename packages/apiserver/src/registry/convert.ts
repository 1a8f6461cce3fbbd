import { compileSchema, deepClone, type ResourceInfo } from '@coxswain/apimachinery'
import { childObject, type JsonObject } from '../json.ts'
import type { Endpoint } from './registry.ts'
import { apiVersionOf } from './served-resource.ts'

/**
 * What an object that was read from the store looks like in the endpoint's version. Versions of a custom resource without
 * a conversion webhook differ in their schemas alone: what this one does not know is not shown. May return `object`
 * itself; else the copy shares nothing with it that pruning changes.
 */
export function convertForServing(endpoint: Endpoint, object: JsonObject): JsonObject {
  return convert(endpoint, object, endpoint.version)
}

/** What goes to the store of an object in the endpoint's version. What the stored version does not know is lost. */
export function convertForStorage(endpoint: Endpoint, object: JsonObject): JsonObject {
  const { resource } = endpoint
  const foreign = storedElsewhere(resource.info)
  if (foreign && resource.strategy.convert) return resource.strategy.convert(object, foreign)
  const converted = convert(endpoint, object, resource.storageVersion)
  if (converted !== object && resource.custom)
    compileSchema(resource.storageVersion.schema()).applyDefaults(converted)
  return converted
}

function convert({ resource }: Endpoint, object: JsonObject, version: Endpoint['version']): JsonObject {
  const apiVersion = apiVersionOf(resource.info.group, version.name)
  if (object.apiVersion === apiVersion) return object
  const { convert: convertKind } = resource.strategy
  if (convertKind) return convertKind(object, apiVersion)
  const converted = deepClone({ ...object, apiVersion })
  if (resource.custom) compileSchema(version.schema()).prune(converted, { resourceRoot: true })
  return converted
}

/** Whether stored bytes can be served as they are. */
export function isServedAsStored(endpoint: Endpoint): boolean {
  return endpoint.version.storage && storedElsewhere(endpoint.resource.info) === undefined
}

/** The apiVersion of stored objects that belong to another group, which shows the same ones. */
function storedElsewhere({ group, storedAs }: ResourceInfo): string | undefined {
  return storedAs && storedAs.group !== group ? apiVersionOf(storedAs.group, storedAs.version) : undefined
}

/** The namespace and name of an object that has metadata. */
export function nameOf(object: JsonObject): { readonly namespace: string; readonly name: string } {
  const { namespace = '', name = '' } = childObject(object, 'metadata') as {
    namespace?: string
    name?: string
  }
  return { namespace, name }
}
