import { childObject, deepClone, type JsonObject } from '@coxswain/apimachinery/json'
import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import { compileSchema } from '@coxswain/apimachinery/schema'
import { StoredObject } from '../cache/stored-object.ts'
import { apiVersionOf, type Endpoint, type ServedResource } from './registry.ts'

/**
 * The form of a stored object in the endpoint's version. Versions of a custom resource without
 * a conversion webhook differ only in their schemas: unknown fields are dropped. May return `object`
 * itself; otherwise the copy shares nothing with it that pruning changes.
 */
export function convertForServing(endpoint: Endpoint, object: JsonObject): JsonObject {
  return convert(endpoint, object, endpoint.version)
}

/** The stored object in the endpoint's version, if no webhook is needed. */
export function findServed(endpoint: Endpoint, stored: StoredObject): StoredObject | undefined {
  const { resource, version } = endpoint
  if (!resource.mixesVersions) return stored
  const apiVersion = apiVersionOf(resource.info.group, version.name)
  if (stored.apiVersion === apiVersion) return stored
  const known = resource.conversions.get(stored)?.get(apiVersion)
  if (known || resource.strategy.convertAll) return known
  const made = stored.as(convertForServing(endpoint, stored.parse()))
  remember(resource, stored, apiVersion, made)
  return made
}

function remember(resource: ServedResource, from: StoredObject, apiVersion: string, to: StoredObject): void {
  const versions = resource.conversions.get(from) ?? new Map<string, StoredObject>()
  resource.conversions.set(from, versions.set(apiVersion, to))
}

/** How much is converted in one call: objects, and bytes. */
const largestBatch = { objects: 500, bytes: 4 * 1024 * 1024 }

/** The stored objects in the endpoint's version; a promise when a webhook is needed. */
export function serveAll(
  endpoint: Endpoint,
  objects: readonly StoredObject[],
): readonly StoredObject[] | Promise<readonly StoredObject[]> {
  if (!endpoint.resource.mixesVersions) return objects
  const missing = objects.filter(object => !findServed(endpoint, object))
  const found = () => objects.map(object => findServed(endpoint, object)!)
  return missing.length === 0 ? found() : convertMissing(endpoint, missing).then(found)
}

/** The same for one object, which may never have been stored. */
export function serveOne<T extends StoredObject | JsonObject>(endpoint: Endpoint, object: T): T | Promise<T> {
  const { resource } = endpoint
  if (object instanceof StoredObject) {
    if (!resource.mixesVersions) return object
    const found = findServed(endpoint, object)
    if (found) return found as T
    return convertMissing(endpoint, [object]).then(() => findServed(endpoint, object) as T)
  }
  return convertPlain(endpoint, object, endpoint.version) as T | Promise<T>
}

/** A copy of a stored object in the endpoint's version. */
export function parseServed(endpoint: Endpoint, stored: StoredObject): JsonObject | Promise<JsonObject> {
  if (!endpoint.resource.mixesVersions) return convertForServing(endpoint, stored.parse())
  const served = serveOne(endpoint, stored)
  return served instanceof Promise ? served.then(object => object.parse()) : served.parse()
}

async function convertMissing(endpoint: Endpoint, objects: readonly StoredObject[]): Promise<void> {
  const { resource, version } = endpoint
  const { convertAll } = resource.strategy
  if (!convertAll) return
  const apiVersion = apiVersionOf(resource.info.group, version.name)
  for (let start = 0; start < objects.length; ) {
    let end = start
    for (let bytes = 0; end < objects.length && end - start < largestBatch.objects; end++) {
      bytes += objects[end]!.size
      if (end > start && bytes > largestBatch.bytes) break
    }
    const batch = objects.slice(start, end)
    const results = await convertAll(
      batch.map(object => object.parse()),
      apiVersion,
    )
    for (const [index, stored] of batch.entries())
      remember(
        resource,
        stored,
        apiVersion,
        stored.as(defaultBy(version, fitSchema(results[index]!, version))),
      )
    start = end
  }
}

/** A converted object is treated like a request body: unknown fields are dropped. */
function fitSchema(object: JsonObject, version: Endpoint['version']): JsonObject {
  compileSchema(version.schema()).prune(object, { resourceRoot: true })
  return object
}

function defaultBy(version: Endpoint['version'], object: JsonObject): JsonObject {
  compileSchema(version.schema()).applyDefaults(object)
  return object
}

/** An object that is not in the store. */
function convertPlain(
  endpoint: Endpoint,
  object: JsonObject,
  version: Endpoint['version'],
): JsonObject | Promise<JsonObject> {
  const { resource } = endpoint
  const apiVersion = apiVersionOf(resource.info.group, version.name)
  const { convertAll } = resource.strategy
  if (object.apiVersion === apiVersion || !convertAll) return convert(endpoint, object, version)
  return convertAll([object], apiVersion).then(([result]) => fitSchema(result!, version))
}

/** The stored form of an object in the endpoint's version. Fields that the storage version does not have are lost. */
export function convertForStorage(endpoint: Endpoint, object: JsonObject): JsonObject | Promise<JsonObject> {
  const { resource } = endpoint
  if (resource.strategy.convertAll) return convertPlain(endpoint, object, resource.storageVersion)
  const foreign = storedElsewhere(resource.info)
  if (foreign && resource.strategy.convert) return resource.strategy.convert(object, foreign)
  const converted = convert(endpoint, object, resource.storageVersion)
  if (converted !== object) resource.completeStored(resource.storageVersion, converted)
  return converted
}

function convert({ resource }: Endpoint, object: JsonObject, version: Endpoint['version']): JsonObject {
  const apiVersion = apiVersionOf(resource.info.group, version.name)
  if (object.apiVersion === apiVersion) return object
  const { convert: convertKind } = resource.strategy
  if (convertKind) return convertKind(object, apiVersion)
  const converted = deepClone({ ...object, apiVersion })
  resource.prune(version, converted)
  return converted
}

/** Whether stored bytes can be served unchanged. */
export function isServedAsStored(endpoint: Endpoint): boolean {
  return endpoint.version.storage && storedElsewhere(endpoint.resource.info) === undefined
}

/** The apiVersion of objects that are stored under another group, which serves the same objects. */
function storedElsewhere({ group, storedAs }: ResourceInfo): string | undefined {
  return storedAs && storedAs.group !== group ? apiVersionOf(storedAs.group, storedAs.version) : undefined
}

/** The namespace and name of an object with metadata. */
export function nameOf(object: JsonObject): { readonly namespace: string; readonly name: string } {
  const { namespace = '', name = '' } = childObject(object, 'metadata') as {
    namespace?: string
    name?: string
  }
  return { namespace, name }
}
