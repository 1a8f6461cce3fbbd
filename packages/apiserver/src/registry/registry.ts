import type { ResourceInfo, VersionInfo } from '@coxswain/apimachinery/kinds'
import type { Store } from '@coxswain/storage'
import type { Strategy } from '@coxswain/strategies'
import type { ResourceCache } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { ResourceContext } from '../request/context.ts'
import type { Answer } from '../request/filter.ts'
import type { ResourceConventions } from './conventions.ts'

/** A resource that is being served. */
export interface ServedResource extends ResourceConventions {
  readonly info: ResourceInfo
  readonly storageVersion: VersionInfo
  readonly strategy: Strategy
  readonly cache: ResourceCache
  /** Converted forms of stored objects, by apiVersion. */
  readonly conversions: WeakMap<StoredObject, Map<string, StoredObject>>
  /** Where its objects are. @default the server's store */
  readonly home?: ResourceHome
  /** Handlers in place of the usual ones, by `SUBRESOURCE verb`; the subresource is empty for the resource itself. */
  readonly handlers?: Readonly<Record<string, ResourceHandler>>
}

/** A store of its own, and its content in memory. */
export interface ResourceHome {
  readonly store: Store
  readonly cache: WatchCache
}

/** Answers requests for one endpoint. */
export type ResourceHandler = (context: ResourceContext, endpoint: Endpoint) => Answer

export interface ServedResourceOptions {
  readonly strategy: Strategy
  readonly conventions: ResourceConventions
  readonly cacheOf: (prefix: string) => ResourceCache
  readonly home?: ResourceHome
  readonly handlers?: Readonly<Record<string, ResourceHandler>>
}

export function createServedResource(
  info: ResourceInfo,
  { strategy, conventions, cacheOf, ...own }: ServedResourceOptions,
): ServedResource {
  const storageVersion = info.versions.find(version => version.storage)
  if (!storageVersion) throw new Error(`${info.resource}.${info.group} has no storage version`)
  const cache = cacheOf(storagePrefix(info))
  return { ...conventions, ...own, info, storageVersion, strategy, cache, conversions: new WeakMap() }
}

/** Where the store keeps the resource's objects. */
export function storagePrefix(info: ResourceInfo): string {
  return `/${ownerGroup(info) || 'core'}/${info.resource}/`
}

/** The group of an object: the one that stores it, when several groups serve the same objects. */
export function ownerGroup({ group, storedAs }: ResourceInfo): string {
  return storedAs?.group ?? group
}

/** The key of an object in the store; the namespace is ignored for cluster-scoped resources. */
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

/** A resource at a version that clients may use. */
export interface Endpoint {
  readonly resource: ServedResource
  readonly version: VersionInfo
}

/** Everything that is served, by group, version and resource. Built-in kinds stay; CRDs come and go. */
export class Registry {
  readonly #endpoints = new Map<string, Endpoint>()
  readonly #resources = new Map<string, ServedResource>()
  /** Those of `addDefault`. */
  readonly #defaults = new Map<string, ServedResource>()
  #generation = 0
  /** Of built-in kinds, as `APIVERSION KIND`; rebuilt after a change. */
  #kinds: ReadonlySet<string> | undefined

  /** Incremented with every change: values derived from the registry are cached until then. */
  get generation(): number {
    return this.#generation
  }

  /** In the order in which they were added. */
  resources(): Iterable<ServedResource> {
    return this.#resources.values()
  }

  find(group: string, version: string, resource: string): Endpoint | undefined {
    return this.#endpoints.get(`${group}/${version}/${resource}`)
  }

  findResource(group: string, resource: string): ServedResource | undefined {
    return this.#resources.get(`${group}/${resource}`)
  }

  /** Whether any resource is served at this group and version. */
  hasGroupVersion(group: string, version: string): boolean {
    const prefix = `${group}/${version}/`
    for (const key of this.#endpoints.keys()) if (key.startsWith(prefix)) return true
    return false
  }

  /** Whether the group is built in, whatever its versions. */
  hasBuiltinGroup(group: string): boolean {
    for (const resource of this.#resources.values())
      if (resource.inScheme && resource.info.group === group) return true
    return false
  }

  /** Whether the kind is built in, served or not. */
  hasKind(apiVersion: string, kind: string): boolean {
    this.#kinds ??= this.#collectKinds()
    return this.#kinds.has(`${apiVersion} ${kind}`)
  }

  #collectKinds(): ReadonlySet<string> {
    const kinds = new Set<string>()
    for (const { info, inScheme } of this.#resources.values()) {
      if (!inScheme) continue
      for (const { name } of info.versions) kinds.add(`${apiVersionOf(info.group, name)} ${info.kind}`)
    }
    return kinds
  }

  /** Replaces a resource with the same group and name. */
  add(resource: ServedResource): void {
    const { group, resource: name, versions } = resource.info
    this.#drop(group, name)
    this.#resources.set(`${group}/${name}`, resource)
    for (const version of versions) {
      if (version.served) this.#endpoints.set(`${group}/${version.name}/${name}`, { resource, version })
    }
    this.#generation++
    this.#kinds = undefined
  }

  /** Adds a resource that is served whenever no other one with the same group and name is. */
  addDefault(resource: ServedResource): void {
    const { group, resource: name } = resource.info
    this.#defaults.set(`${group}/${name}`, resource)
    if (!this.#resources.has(`${group}/${name}`)) this.add(resource)
  }

  remove(group: string, name: string): void {
    this.#drop(group, name)
    const standard = this.#defaults.get(`${group}/${name}`)
    if (standard) this.add(standard)
  }

  #drop(group: string, name: string): void {
    const resource = this.#resources.get(`${group}/${name}`)
    if (!resource) return
    this.#resources.delete(`${group}/${name}`)
    for (const version of resource.info.versions) this.#endpoints.delete(`${group}/${version.name}/${name}`)
    this.#generation++
    this.#kinds = undefined
  }
}
