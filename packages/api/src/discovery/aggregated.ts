import type { ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import { isBuiltinResource } from '../resources/builtin-resources.ts'
import { servedGroups } from '../served-groups.ts'

/** What an `Accept` header has to ask for to get these documents, and what the answer's type must be. */
export const aggregatedDiscoveryMediaType =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** An aggregated discovery document. */
export interface AggregatedDiscovery {
  kind: 'APIGroupDiscoveryList'
  apiVersion: 'apidiscovery.k8s.io/v2'
  metadata: Record<string, never>
  items: GroupDiscovery[]
}

/** An API group in aggregated discovery. */
export interface GroupDiscovery {
  metadata: { name?: string }
  versions: VersionDiscovery[]
}

/** A version of an API group in aggregated discovery. */
export interface VersionDiscovery {
  version: string
  /** Absent where another server has the version, and none are known. */
  resources?: ResourceDiscovery[]
  /** `Stale` for a group whose server does not answer: it is listed all the same. */
  freshness: 'Current' | 'Stale'
}

/** The kind of the objects that a resource or subresource returns. */
export interface ResponseKind {
  group: string
  version: string
  kind: string
}

/** A resource in aggregated discovery, with its subresources. */
export interface ResourceDiscovery {
  resource: string
  responseKind: ResponseKind
  scope: 'Namespaced' | 'Cluster'
  singularResource: string
  verbs: readonly string[]
  shortNames?: readonly string[]
  categories?: readonly string[]
  subresources?: { subresource: string; responseKind: ResponseKind; verbs: readonly string[] }[]
}

/** The aggregated document of `/api` (`core`) or of `/apis` (`named`). */
export function aggregatedDiscovery(
  resources: readonly ResourceInfo[],
  root: 'core' | 'named',
): AggregatedDiscovery {
  const items: GroupDiscovery[] = []
  const byGroup = Map.groupBy(resources, info => info.group)
  for (const [group, versions] of servedGroups(resources)) {
    if ((group === '') !== (root === 'core')) continue
    items.push({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map(version => describeVersion(byGroup.get(group)!, version)),
    })
  }
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items }
}

/** Of the resources of one group. */
function describeVersion(resources: readonly ResourceInfo[], version: string): VersionDiscovery {
  const list: ResourceDiscovery[] = []
  for (const info of resources) {
    const served = info.versions.find(one => one.name === version && one.served)
    if (served) list.push(describeResource(info, served))
  }
  return { version, resources: list, freshness: 'Current' }
}

function describeResource(info: ResourceInfo, version: VersionInfo): ResourceDiscovery {
  // Built-in kinds leave their own group and version empty, custom ones spell them out.
  const own = isBuiltinResource(info)
    ? { group: '', version: '' }
    : { group: info.group, version: version.name }
  const subresources = version.subresources.map(sub => ({
    subresource: sub.name,
    responseKind: {
      group: sub.group ?? own.group,
      version: sub.version ?? own.version,
      kind: sub.kind ?? info.kind,
    },
    verbs: sub.verbs,
  }))
  return {
    resource: info.resource,
    responseKind: { ...own, kind: info.kind },
    scope: info.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: info.singular,
    verbs: version.verbs,
    ...(info.shortNames.length > 0 && { shortNames: info.shortNames }),
    ...(info.categories.length > 0 && { categories: info.categories }),
    ...(subresources.length > 0 && { subresources }),
  }
}
