import type { ResourceInfo, SubresourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import { servedGroups } from '../served-groups.ts'
import { storageVersionHash } from './storage-hash.ts'

export interface GroupVersionForDiscovery {
  groupVersion: string
  version: string
}

/** An APIGroup: its versions, the preferred one among them. */
export interface ApiGroup {
  kind?: 'APIGroup'
  apiVersion?: 'v1'
  name: string
  versions: GroupVersionForDiscovery[]
  preferredVersion: GroupVersionForDiscovery
}

/** An APIResource: one entry of an APIResourceList. */
export interface ApiResource {
  name: string
  singularName: string
  namespaced: boolean
  group?: string
  version?: string
  kind: string
  verbs: readonly string[]
  shortNames?: readonly string[]
  categories?: readonly string[]
  storageVersionHash?: string
}

/** `/api` */
export function apiVersions(serverAddress: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** `/apis`: groups with their versions, both in the order of preference. The core group is left out. */
export function apiGroupList(groups: ReadonlyMap<string, readonly string[]>): {
  kind: 'APIGroupList'
  apiVersion: 'v1'
  groups: ApiGroup[]
} {
  const named = [...groups].filter(([group]) => group !== '')
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: named.map(([group, versions]) => describeGroup(group, versions)),
  }
}

/** `/apis/GROUP`; undefined when nothing of the group is served. */
export function apiGroup(
  groups: ReadonlyMap<string, readonly string[]>,
  group: string,
): ApiGroup | undefined {
  const versions = group === '' ? undefined : groups.get(group)
  return versions && { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group, versions) }
}

function describeGroup(name: string, versions: readonly string[]): ApiGroup {
  const list = versions.map(version => ({ groupVersion: `${name}/${version}`, version }))
  const [preferredVersion = { groupVersion: name, version: '' }] = list
  return { name, versions: list, preferredVersion }
}

/** `/apis/GROUP/VERSION` and `/api/v1`; undefined when it is not served. */
export function apiResourceList(
  resources: readonly ResourceInfo[],
  group: string,
  version: string,
): object | undefined {
  if (servedGroups(resources).get(group)?.includes(version) !== true) return undefined
  const list: ApiResource[] = []
  for (const info of resources) {
    const served = info.group === group && info.versions.find(one => one.name === version && one.served)
    if (!served) continue
    list.push(describeResource(info, served))
    for (const sub of served.subresources) list.push(describeSubresource(info, sub))
  }
  return {
    kind: 'APIResourceList',
    ...(group !== '' && { apiVersion: 'v1' }),
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: list,
  }
}

function describeResource(info: ResourceInfo, version: VersionInfo): ApiResource {
  const hash = storageVersionHash(info)
  return {
    name: info.resource,
    singularName: info.singular,
    namespaced: info.namespaced,
    kind: info.kind,
    verbs: version.verbs,
    ...(info.shortNames.length > 0 && { shortNames: info.shortNames }),
    ...(info.categories.length > 0 && { categories: info.categories }),
    ...(hash !== undefined && { storageVersionHash: hash }),
  }
}

function describeSubresource(info: ResourceInfo, sub: SubresourceInfo): ApiResource {
  return {
    name: `${info.resource}/${sub.name}`,
    singularName: '',
    namespaced: info.namespaced,
    ...(sub.group !== undefined && { group: sub.group }),
    ...(sub.version !== undefined && { version: sub.version }),
    kind: sub.kind ?? info.kind,
    verbs: sub.verbs,
  }
}
