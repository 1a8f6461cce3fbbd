import type { ResourceInfo } from '@coxswain/apimachinery'
import { isBuiltinGroup, servedGroups } from '../served-groups.ts'
import { groupRoute, versionRoute } from './fixed-routes.ts'
import type { PathItem } from './operation.ts'
import { resourceRoutes } from './routes.ts'

/** The paths of one group and version, without the group's own. */
export function groupVersionRoutes(
  resources: readonly ResourceInfo[],
  group: string,
  version: string,
): PathItem[] {
  const items = isBuiltinGroup(group) ? [versionRoute(group, version)] : []
  for (const info of resources) {
    if (info.group !== group) continue
    const served = info.versions.find(one => one.name === version && one.served)
    if (served !== undefined) for (const item of resourceRoutes(info, served)) items.push(item)
  }
  return items
}

/** The paths of all groups and versions. */
export function allRoutes(resources: readonly ResourceInfo[]): PathItem[] {
  const items: PathItem[] = []
  for (const [group, versions] of servedGroups(resources)) {
    if (group !== '' && isBuiltinGroup(group)) items.push(groupRoute(group))
    for (const version of versions)
      for (const item of groupVersionRoutes(resources, group, version)) items.push(item)
  }
  return items
}

/** The names of the types that the operations of `items` take and give. */
export function typesOf(items: readonly PathItem[]): Set<string> {
  const names = new Set<string>()
  for (const { operations } of items) {
    for (const operation of operations) {
      if (operation.body) names.add(operation.body.type)
      for (const type of Object.values(operation.responses)) if (type !== 'string') names.add(type)
    }
  }
  return names
}

/** Paths as documents list them: in the order of their text, `{` after letters. */
export function sortedByPath(items: readonly PathItem[]): PathItem[] {
  return [...items].sort((a, b) => (a.path < b.path ? -1 : 1))
}
