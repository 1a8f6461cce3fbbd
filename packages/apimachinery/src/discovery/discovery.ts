/** The resources of a server, from both forms of discovery; and a RESTMapper for them. */
import type { GroupVersion } from '../meta/gvk.ts'
import { parseGroupVersion } from '../meta/gvk.ts'
import { guessResource, RESTMapper, type RESTMapperOptions, type RESTMapping } from './rest-mapper.ts'

export interface DiscoveredResource {
  /** The plural. */
  readonly name: string
  /** Empty when an old server sent none. */
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
}

export interface DiscoveredVersion extends GroupVersion {
  readonly resources: readonly DiscoveredResource[]
}

/** An API group and its versions, as discovered. */
export interface DiscoveredGroup {
  readonly name: string
  readonly preferredVersion: string
  /** In the server's order. */
  readonly versions: readonly DiscoveredVersion[]
}

/** `APIGroupDiscoveryList` of apidiscovery.k8s.io/v2, as far as it is read. */
export interface AggregatedDiscovery {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly {
      readonly version: string
      /** `Stale` when the server could not reach the aggregated server. */
      readonly freshness?: string
      readonly resources?: readonly {
        readonly resource: string
        readonly responseKind?: { readonly kind?: string } | null
        readonly scope?: string
        readonly singularResource?: string
        readonly shortNames?: readonly string[]
        readonly categories?: readonly string[]
        readonly verbs?: readonly string[]
      }[]
    }[]
  }[]
}

/** `APIGroup`, as far as it is read. */
export interface LegacyGroup {
  readonly name?: string
  readonly versions?: readonly { readonly version: string }[]
  readonly preferredVersion?: { readonly version: string }
}

/** `APIResourceList`, as far as it is read. */
export interface LegacyResourceList {
  readonly groupVersion: string
  readonly resources?: readonly {
    readonly name: string
    readonly singularName?: string
    readonly namespaced?: boolean
    readonly kind: string
    readonly shortNames?: readonly string[]
    readonly categories?: readonly string[]
    readonly verbs?: readonly string[]
  }[]
}

/** Stale versions are omitted: their resources may not be served. */
export function groupsFromAggregatedDiscovery(...lists: readonly AggregatedDiscovery[]): DiscoveredGroup[] {
  return lists
    .flatMap(list => list.items ?? [])
    .map(({ metadata, versions: given }) => {
      const name = metadata?.name ?? ''
      const versions = given ?? []
      const fresh = versions.filter(version => version.freshness !== 'Stale')
      return {
        name,
        preferredVersion: versions[0]?.version ?? '',
        versions: fresh.map(({ version, resources }) => ({
          group: name,
          version,
          resources: (resources ?? []).flatMap(resource => {
            const kind = resource.responseKind?.kind ?? ''
            if (kind === '') return [] // listed for its subresources only
            return [
              {
                name: resource.resource,
                singular: resource.singularResource ?? '',
                kind,
                namespaced: resource.scope === 'Namespaced',
                shortNames: resource.shortNames ?? [],
                categories: resource.categories ?? [],
                verbs: resource.verbs ?? [],
              },
            ]
          }),
        })),
      }
    })
}

/** For the core group, whose `/api` names versions only, give a group with an empty name. */
export function groupsFromLegacyDiscovery(
  groups: readonly LegacyGroup[],
  lists: readonly LegacyResourceList[],
): DiscoveredGroup[] {
  const byVersion = new Map(lists.map(list => [list.groupVersion, list]))
  return groups.map(({ name = '', versions, preferredVersion }) => ({
    name,
    preferredVersion: preferredVersion?.version ?? versions?.[0]?.version ?? '',
    versions: (versions ?? []).flatMap(({ version }) => {
      const list = byVersion.get(name === '' ? version : `${name}/${version}`)
      return list ? [{ ...parseGroupVersion(list.groupVersion), resources: resourcesOf(list) }] : []
    }),
  }))
}

/** Go writes a list that is empty as null. */
function resourcesOf({ resources }: LegacyResourceList): DiscoveredResource[] {
  return (resources ?? [])
    .filter(resource => !resource.name.includes('/')) // subresources are not resources
    .map(({ name, singularName = '', namespaced = false, kind, shortNames, categories, verbs }) => ({
      name,
      singular: singularName,
      kind,
      namespaced,
      shortNames: shortNames ?? [],
      categories: categories ?? [],
      verbs: verbs ?? [],
    }))
}

/**
 * Where a name is ambiguous, core/v1 comes first, then the order of the groups decides, then each group's
 * preferred version.
 */
export function restMapperFromDiscovery(
  groups: readonly DiscoveredGroup[],
  options: Omit<RESTMapperOptions, 'priority'> = {},
): RESTMapper {
  const priority: GroupVersion[] = [{ group: '', version: 'v1' }]
  const mappings: RESTMapping[] = []
  for (const { preferredVersion, versions } of groups) {
    const preferred = versions.filter(({ version }) => version === preferredVersion)
    const others = versions.filter(({ version }) => version !== preferredVersion)
    for (const { group, version, resources } of [...preferred, ...others]) {
      priority.push({ group, version })
      for (const { name, singular, kind, namespaced, shortNames } of resources) {
        mappings.push({
          kind: { group, version, kind },
          resource: { group, version, resource: name },
          singular: singular || guessResource(kind).singular,
          namespaced,
          shortNames,
        })
      }
    }
  }
  return new RESTMapper(mappings, { ...options, priority })
}
