import type { GroupVersionKind, GroupVersionResource } from '@coxswain/apimachinery/meta'
import type { Endpoint } from '../../registry/registry.ts'
import type { Attributes } from '../attributes.ts'
import { kindOf, resourceOf } from '../create-attributes.ts'

/** A resource through which the request's objects are also served, and their kind there. */
export interface Equivalent {
  readonly resource: GroupVersionResource
  readonly kind: GroupVersionKind
  readonly endpoint: Endpoint
}

/** The request's own resource and version. */
export function ownResource(attributes: Attributes): Equivalent {
  const { resource, version } = attributes
  return { resource: resourceOf(attributes), kind: kindOf(attributes), endpoint: { resource, version } }
}

/** The other versions of the request's resource, and resources of other groups that serve the same objects. */
export function otherResources(attributes: Attributes): Equivalent[] {
  const { resource: own, version: ownVersion, kind: ownKind, subresource, server } = attributes
  const found: Equivalent[] = []
  for (const resource of server.registry.resources()) {
    if (resource.cache !== own.cache) continue
    const { group, resource: name, kind } = resource.info
    for (const version of resource.info.versions) {
      if (!version.served || (resource === own && version.name === ownVersion.name)) continue
      if (subresource !== '' && !version.subresources.some(candidate => candidate.name === subresource))
        continue
      found.push({
        resource: { group, version: version.name, resource: name },
        kind: ownKind ?? { group, version: version.name, kind },
        endpoint: { resource, version },
      })
    }
  }
  return found
}
