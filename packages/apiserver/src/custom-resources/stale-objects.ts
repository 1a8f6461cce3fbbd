import { deepClone, deepEqual } from '@coxswain/apimachinery/json'
import { compileSchema } from '@coxswain/apimachinery/schema'
import type { ObjectReader } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import { apiVersionOf, type ServedResource } from '../registry/served-resource.ts'

/**
 * Reads objects that were written under an earlier schema: prunes and defaults them by the current one.
 * Objects with a revision after `since` were written under it and stay unchanged.
 */
export function createStaleReader({ info }: ServedResource, since: number): ObjectReader {
  const versions = new Map(
    info.versions.map(version => [apiVersionOf(info.group, version.name), version] as const),
  )
  return (stored: StoredObject): StoredObject => {
    if (stored.revision > since) return stored
    const object = stored.parse()
    const version = versions.get(object.apiVersion as string)
    if (!version) return stored
    const schema = compileSchema(version.schema())
    const read = deepClone(object)
    schema.prune(read, { resourceRoot: true })
    schema.applyDefaults(read)
    return deepEqual(read, object) ? stored : stored.as(read)
  }
}
