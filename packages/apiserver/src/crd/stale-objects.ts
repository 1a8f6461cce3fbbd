import { compileSchema, deepClone, deepEqual } from '@coxswain/apimachinery'
import type { ObjectReader } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import { apiVersionOf, type ServedResource } from '../registry/served-resource.ts'

/**
 * Reads objects that were written under an earlier schema: what today's does not know is gone, what it fills in is
 * there. Objects after `since` were written under it already and are left alone.
 */
export function createStaleReader({ info }: ServedResource, since: number): ObjectReader {
  const schemas = new Map(
    info.versions.map(version => [apiVersionOf(info.group, version.name), compileSchema(version.schema())]),
  )
  return (stored: StoredObject): StoredObject => {
    if (stored.revision > since) return stored
    const object = stored.parse()
    const schema = schemas.get(object.apiVersion as string)
    if (!schema) return stored
    const read = deepClone(object)
    schema.prune(read, { resourceRoot: true })
    schema.applyDefaults(read)
    return deepEqual(read, object) ? stored : stored.as(read)
  }
}
