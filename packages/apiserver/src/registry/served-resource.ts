import type { ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import type { Strategy } from '@coxswain/strategies'
import type { ResourceCache } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import type { ResourceConventions } from './conventions.ts'

/** A resource that is being served. */
export interface ServedResource extends ResourceConventions {
  readonly info: ResourceInfo
  readonly storageVersion: VersionInfo
  readonly strategy: Strategy
  readonly cache: ResourceCache
  /** Converted forms of stored objects, by apiVersion. */
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

/** The group of an object: the one that stores it, when several groups serve the same objects. */
export function ownerGroup({ group, storedAs }: ResourceInfo): string {
  return storedAs?.group ?? group
}

export function objectKey(resource: ServedResource, namespace: string, name: string): string {
  return resource.info.namespaced
    ? `${resource.cache.prefix}${namespace}/${name}`
    : `${resource.cache.prefix}${name}`
}

/** The time to live of an object after a write; undefined for no limit. */
export function ttlOf({ strategy }: ServedResource): { readonly ttl?: number } {
  return strategy.ttl === undefined ? {} : { ttl: strategy.ttl }
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}
