import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import { comparePreferredVersions } from '@coxswain/apimachinery/meta'
import { namedGroupRows } from './resources/groups.ts'

const rank: ReadonlyMap<string, number> = new Map(
  ['', ...namedGroupRows.map(rows => rows.group)].map((group, i) => [group, i]),
)

/**
 * The groups of `resources` with their served versions, both in the order of preference: built-in groups in their own
 * order, then others by name; versions as Kubernetes ranks them.
 */
export function servedGroups(resources: readonly ResourceInfo[]): Map<string, string[]> {
  const groups = new Map<string, Set<string>>()
  for (const info of resources) {
    const versions = groups.get(info.group) ?? new Set()
    for (const version of info.versions) if (version.served) versions.add(version.name)
    if (versions.size > 0) groups.set(info.group, versions)
  }
  return new Map(
    [...groups]
      .sort(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
      .map(([group, versions]) => [group, [...versions].sort(comparePreferredVersions)]),
  )
}

function rankOf(group: string): number {
  return rank.get(group) ?? rank.size
}

/** Whether upstream itself has the group: of groups that only custom resources have, OpenAPI tells the resources alone. */
export function isBuiltinGroup(group: string): boolean {
  return rank.has(group)
}
