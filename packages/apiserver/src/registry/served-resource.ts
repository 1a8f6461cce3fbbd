import type { ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import type { Strategy } from '@coxswain/strategies'
import type { ResourceCache } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import type { ResourceConventions } from './conventions.ts'

/** A resource that the server serves now. */
export interface ServedResource extends ResourceConventions {
  readonly info: ResourceInfo
  readonly storageVersion: VersionInfo
  readonly strategy: Strategy
  readonly cache: ResourceCache
  /** What stored objects were converted to, by apiVersion. */
  readonly conversions: WeakMap<StoredObject, Map<string, StoredObject>>
}

export interface ServedResourceOptions {
  readonly strategy: Strategy
  readonly conventions: ResourceConventions
  readonly cacheOf: (prefix: string) => ResourceCache
}

export function createServedResource(
  info: ResourceInfo,
  { strategy, conventions, cacheOf }: ServedResourceOptions,
): ServedResource {
  const storageVersion = info.versions.find(version => version.storage)
  if (!storageVersion) throw new Error(`${info.resource}.${info.group} has no storage version`)
  const cache = cacheOf(storagePrefix(info))
  return { ...conventions, info, storageVersion, strategy, cache, conversions: new WeakMap() }
}

/** Where the store keeps the resource's objects. */
export function storagePrefix(info: ResourceInfo): string {
  return `/${ownerGroup(info) || 'core'}/${info.resource}/`
}

/** The group that an object belongs to: the one that stores it, where several groups show the same objects. */
export function ownerGroup({ group, storedAs }: ResourceInfo): string {
  return storedAs?.group ?? group
}

export function objectKey(resource: ServedResource, namespace: string, name: string): string {
  return resource.info.namespaced
    ? `${resource.cache.prefix}${namespace}/${name}`
    : `${resource.cache.prefix}${name}`
}

/** How long an object lives from a write on; nothing when for ever. */
export function ttlOf({ strategy }: ServedResource): { readonly ttl?: number } {
  return strategy.ttl === undefined ? {} : { ttl: strategy.ttl }
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}
