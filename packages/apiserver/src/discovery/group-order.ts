import {
  type AggregatedDiscovery,
  type GroupDiscovery,
  isBuiltinGroup,
  servedGroups,
  type VersionDiscovery,
} from '@coxswain/api'
import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import { comparePreferredVersions } from '@coxswain/apimachinery/meta'
import { localPriorities, type Priorities } from '@coxswain/strategies'

/** A group and version, with the priorities that order it. */
export interface Ranked extends Priorities {
  readonly group: string
  readonly version: string
}

/**
 * Groups by their highest priority, then by the name of the APIService that has it; within a group, versions by priority, then as
 * Kubernetes ranks them.
 */
export function sortByPriority<T extends Ranked>(services: readonly T[]): T[] {
  const nameOf = ({ group, version }: Ranked) => `${version}.${group}`
  const byGroup = Map.groupBy(
    services.toSorted((a, b) => b.groupPriority - a.groupPriority || (nameOf(a) < nameOf(b) ? -1 : 1)),
    ({ group }) => group,
  )
  return [...byGroup.values()].flatMap(group => group.sort(compareVersions))
}

function compareVersions(a: Ranked, b: Ranked): number {
  return b.versionPriority - a.versionPriority || comparePreferredVersions(a.version, b.version)
}

const ownGroup = 'apiregistration.k8s.io'

/**
 * The groups of `/apis` and their versions: those that have APIServices, whether their server responds or not, and custom
 * resources whose APIService is still to come.
 */
export function listedGroups(
  services: readonly Ranked[],
  resources: readonly ResourceInfo[],
): Map<string, string[]> {
  const known = new Set(services.map(({ group, version }) => `${group}/${version}`))
  const more = localVersions(resources).filter(
    ({ group, version }) =>
      group === ownGroup || (!isBuiltinGroup(group) && !known.has(`${group}/${version}`)),
  )
  const groups = new Map<string, string[]>()
  for (const { group, version } of sortByPriority([...services, ...more])) {
    const versions = groups.get(group)
    if (versions) versions.push(version)
    else groups.set(group, [version])
  }
  return groups
}

/** The aggregated document of `/apis` with what other servers serve, in place of what this one has under the same name. */
export function mergeDiscovery(
  own: AggregatedDiscovery,
  services: readonly Ranked[],
  remote: ReadonlyMap<string, VersionDiscovery>,
): AggregatedDiscovery {
  const known = new Map(services.map(service => [`${service.group}/${service.version}`, service]))
  const versions = new Map<string, Ranked & { readonly discovery: VersionDiscovery }>()
  for (const { metadata, versions: list } of own.items) {
    const group = metadata.name ?? ''
    for (const discovery of list) {
      const { version } = discovery
      versions.set(`${group}/${version}`, { group, version, ...localPriorities(group, version), discovery })
    }
  }
  for (const [key, discovery] of remote) {
    const service = known.get(key)
    if (service && service.group !== '') versions.set(key, { ...service, discovery })
  }
  const groups = [...Map.groupBy(versions.values(), ({ group }) => group)].map(([name, list]) => ({
    name,
    list: list.sort(compareVersions),
    priority: list.reduce((highest, { groupPriority }) => Math.max(highest, groupPriority), 0),
  }))
  const items = groups
    .sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1))
    .map(
      ({ name, list }): GroupDiscovery => ({
        metadata: { name },
        versions: list.map(({ discovery }) => discovery),
      }),
    )
  return { ...own, items }
}

function localVersions(resources: readonly ResourceInfo[]): Ranked[] {
  return [...servedGroups(resources)].flatMap(([group, versions]) =>
    versions.map(version => ({ group, version, ...localPriorities(group, version) })),
  )
}
