import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import { type ApiObject, type DeepReadonly, formatKey, type ObjectKey } from '@coxswain/apimachinery/meta'
import { parseLabelSelector } from '@coxswain/apimachinery/selectors'
import type { Client } from '@coxswain/client'
import {
  deepFreeze,
  type IndexFunction,
  type Informer,
  InformerFactory,
  type Scope,
  stripManagedFields,
  type Transform,
} from '@coxswain/informers'
import type { Env } from '@coxswain/kit'
import { RuntimeError } from './errors.ts'
import { kindKey } from './internal/kind-key.ts'
import { listerWatcherOf } from './lister-watcher-of.ts'
import { OwnWrites } from './own-writes.ts'

/** Options of {@link Cache}. */
export interface CacheOptions {
  readonly client: Client
  readonly env: Env
  /** Informers that are shared with other caches, and run by their owner. @default its own */
  readonly informers?: InformerFactory
  /** Distinguishes the indexes of caches with shared informers. @default '' */
  readonly owner?: string
  /** Namespaced kinds are cached in these namespaces only. @default all */
  readonly namespaces?: readonly string[]
  /** Freeze cached objects. @default false */
  readonly freeze?: boolean
  readonly kinds?: readonly KindCacheOptions[]
  /** For kinds without options of their own. */
  readonly defaults?: CacheDefaults
}

/** Which objects are cached, and in which form. */
export interface CacheScope {
  /** Only these objects are cached and watched; cached reads do not see others. */
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /**
   * Applied to every object before it is cached: drop what is not read, to save memory. Own writes are read in the same
   * form. @default stripManagedFields
   */
  readonly transform?: Transform<ApiObject>
}

/** Cache options of kinds that have none of their own. */
export interface CacheDefaults extends CacheScope {
  /**
   * Namespaced kinds are cached in these namespaces only; as a record, with options of their own in each.
   * @default the host's namespaces, or all
   */
  readonly namespaces?: readonly string[] | Readonly<Record<string, CacheScope>>
}

/** How one kind is cached. */
export interface KindCacheOptions extends CacheDefaults {
  readonly kind: Kind
  /** Reads go to the server each time. @default true for Secrets, false for others */
  readonly uncached?: boolean
  /**
   * Watched without spec, status and data, which predicates and mapping functions then do not see; reads go to the
   * server. @default true for Secrets, false for others
   */
  readonly metadataOnly?: boolean
}

/** Which objects a cached list returns. */
export interface CachedListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  /** By a field index: `{ field: value }` of `operator.index(kind, field, ...)`. One at most. */
  readonly fields?: Readonly<Record<string, string>>
}

/** The informers of a program, over one client. */
export function createInformers({
  client,
  env,
  freeze = false,
}: Pick<CacheOptions, 'client' | 'env' | 'freeze'>): InformerFactory {
  return new InformerFactory({
    env,
    listerWatcherFor: (kind, scope) => listerWatcherOf(client, kind, scope),
    informers: { freeze },
  })
}

/** How long a read waits for a cache to sync. */
const firstReadTimeout = 120_000

/** One part of a kind's collection: its informer, and own writes that it may not have yet. */
interface Part {
  readonly namespace: string | undefined
  readonly informer: Informer
  readonly writes: OwnWrites
  readonly transform: Transform<ApiObject> | undefined
}

/** Local copies of the kinds a program reads, which show its own writes. */
export class Cache {
  readonly #options: CacheOptions
  readonly #factory: InformerFactory
  readonly #parts = new Map<string, readonly Part[]>()
  readonly #indexes = new Map<string, Map<string, IndexFunction<ApiObject>>>()

  constructor(options: CacheOptions) {
    this.#options = options
    this.#factory = options.informers ?? createInformers(options)
  }

  /** Whether reads of this kind are answered here. */
  isCached(kind: Kind): boolean {
    const { uncached, metadataOnly } = this.#settings(kind)
    return !uncached && !metadataOnly
  }

  /** Whether a namespace is cached. Always true without one: a list then returns what is cached. */
  covers(kind: Kind, namespace: string | undefined): boolean {
    if (!kind.namespaced || namespace === undefined) return true
    const namespaces = this.#namespacesOf(kind)
    return !namespaces || Object.hasOwn(namespaces, namespace)
  }

  /** Whether there is an informer of this kind. */
  has(kind: Kind): boolean {
    return this.#parts.has(kindKey(kind))
  }

  /** The informers of a kind: one, or one for each namespace. They start with `run`. */
  informersFor<K extends Kind>(kind: K): readonly Informer<KindOf<K> & ApiObject>[] {
    return this.#partsOf(kind).map(part => part.informer as unknown as Informer<KindOf<K> & ApiObject>)
  }

  get informers(): readonly Informer[] {
    return this.#factory.informers
  }

  addIndex<K extends Kind>(kind: K, field: string, valuesOf: IndexFunction<KindOf<K>>): void {
    const id = kindKey(kind)
    const indexes = this.#indexes.get(id) ?? new Map<string, IndexFunction<ApiObject>>()
    indexes.set(field, valuesOf as IndexFunction<ApiObject>)
    this.#indexes.set(id, indexes)
    for (const { informer } of this.#parts.get(id) ?? []) {
      informer.addIndex(this.#indexName(field), valuesOf as IndexFunction<ApiObject>)
    }
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#factory.run(signal)
  }

  /** Resolves when everything requested so far has synced (true) or `signal` aborts (false). */
  synced(signal: AbortSignal): Promise<boolean> {
    return this.#factory.synced(signal)
  }

  /**
   * Waits for the kind's informer when it has not synced: at the first read of a kind that nothing watches.
   * @throws the signal's reason, or RuntimeError `CacheNotSynced` after two minutes
   */
  async ready(kind: Kind, signal: AbortSignal): Promise<void> {
    for (const { informer } of this.#partsOf(kind))
      if (!informer.hasSynced) await this.#waitFor(informer, signal)
  }

  async #waitFor(informer: Informer, signal: AbortSignal): Promise<void> {
    const controller = new AbortController()
    const onAbort = (): void => controller.abort()
    signal.addEventListener('abort', onAbort, { once: true })
    const timer = this.#options.env.clock.after(firstReadTimeout, onAbort)
    if (signal.aborted) onAbort()
    await informer.synced(controller.signal)
    timer.cancel()
    signal.removeEventListener('abort', onAbort)
    if (informer.hasSynced) return
    signal.throwIfAborted()
    const cause = informer.lastError
    throw new RuntimeError('CacheNotSynced', `the cache of ${informer.name} did not sync in time`, { cause })
  }

  get<K extends Kind>(kind: K, key: ObjectKey): DeepReadonly<KindOf<K>> | undefined {
    const part = this.#partFor(kind, key.namespace)
    if (!part) return undefined
    const text = formatKey(key)
    const { informer, writes } = part
    return writes.resolve(text, informer.store.get(text), informer) as DeepReadonly<KindOf<K>> | undefined
  }

  list<K extends Kind>(kind: K, options: CachedListOptions = {}): DeepReadonly<KindOf<K>>[] {
    const found: DeepReadonly<ApiObject>[] = []
    for (const part of this.#partsOf(kind)) {
      if (part.namespace && options.namespace && part.namespace !== options.namespace) continue
      for (const item of this.#listPart(kind, part, options)) found.push(item)
    }
    return found as DeepReadonly<KindOf<K>>[]
  }

  /** The server has answered a write of this program with `object`, which now belongs to the cache. */
  wrote(kind: Kind, object: ApiObject): void {
    const part = this.#existingPart(kind, object.metadata.namespace)
    if (!part) return
    const { writes, informer, transform } = part
    // The caller reads the answer as well: the transform gets a copy.
    const kept = transform ? transform(structuredClone(object)) : stripManagedFields(object)
    if (this.#options.freeze) deepFreeze(kept)
    writes.wrote(formatKey(keyOfObject(object)), kept as DeepReadonly<ApiObject>, informer)
    writes.prune(key => informer.store.get(key), informer)
  }

  /** The server has confirmed the deletion of an object. */
  deleted(kind: Kind, key: ObjectKey): void {
    const part = this.#existingPart(kind, key.namespace)
    if (!part) return
    const last = this.get(kind, key)
    if (last) part.writes.deleted(formatKey(key), last.metadata, part.informer)
  }

  /** The resourceVersion of a kind's cache, for the answer to a list. */
  resourceVersion(kind: Kind): string {
    return this.#partsOf(kind)[0]?.informer.resourceVersion ?? ''
  }

  #listPart(kind: Kind, part: Part, options: CachedListOptions): DeepReadonly<ApiObject>[] {
    const { informer, writes } = part
    const { namespace, labelSelector, fields = {} } = options
    const [field, ...more] = Object.entries(fields)
    if (more.length > 0 || (field && !informer.store.hasIndex(this.#indexName(field[0])))) {
      const names = Object.keys(fields).join(', ')
      throw new RuntimeError(
        'NoIndex',
        `no index of ${kind.kind} covers ${names}: add one with operator.index`,
      )
    }
    let objects = field
      ? informer.store.byIndex(this.#indexName(field[0]), field[1])
      : informer.store.list(namespace)
    if (writes.size > 0) {
      const byKey = new Map(objects.map(object => [formatKey(keyOfObject(object)), object]))
      for (const key of writes.keys()) {
        const object = writes.resolve(key, informer.store.get(key), informer)
        if (object && (!field || this.#valuesOf(kind, field[0], object).includes(field[1])))
          byKey.set(key, object)
        else byKey.delete(key)
      }
      objects = [...byKey.values()]
    }
    if (namespace) objects = objects.filter(object => object.metadata.namespace === namespace)
    if (!labelSelector) return objects
    const selector = parseLabelSelector(labelSelector)
    return objects.filter(object => selector.matches(object.metadata.labels ?? {}))
  }

  #indexName(field: string): string {
    const { owner = '' } = this.#options
    return owner === '' ? field : `${owner}/${field}`
  }

  #valuesOf(kind: Kind, field: string, object: DeepReadonly<ApiObject>): readonly string[] {
    return this.#indexes.get(kindKey(kind))?.get(field)?.(object) ?? []
  }

  #partFor(kind: Kind, namespace: string | undefined): Part | undefined {
    const parts = this.#partsOf(kind)
    return parts.length === 1 && !parts[0]!.namespace
      ? parts[0]
      : parts.find(part => part.namespace === namespace)
  }

  #existingPart(kind: Kind, namespace: string | undefined): Part | undefined {
    return this.#parts.has(kindKey(kind)) && this.isCached(kind) ? this.#partFor(kind, namespace) : undefined
  }

  #partsOf(kind: Kind): readonly Part[] {
    const id = kindKey(kind)
    let parts = this.#parts.get(id)
    if (!parts) {
      const namespaces = kind.namespaced ? this.#namespacesOf(kind) : undefined
      parts = namespaces
        ? Object.entries(namespaces).map(([namespace, scope]) => this.#createPart(kind, namespace, scope))
        : [this.#createPart(kind, undefined)]
      this.#parts.set(id, parts)
    }
    return parts
  }

  /** The namespaces in which a namespaced kind is cached; undefined for all. */
  #namespacesOf(kind: Kind): Readonly<Record<string, CacheScope>> | undefined {
    const namespaces = this.#settings(kind).namespaces ?? this.#options.namespaces
    if (!namespaces) return undefined
    const named = isList(namespaces) ? Object.fromEntries(namespaces.map(name => [name, {}])) : namespaces
    return Object.keys(named).length > 0 ? named : undefined
  }

  #createPart(kind: Kind, namespace: string | undefined, own: CacheScope = {}): Part {
    const { labelSelector, fieldSelector, metadataOnly, transform } = { ...this.#settings(kind), ...own }
    const scope: Scope = {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
      ...(metadataOnly && { metadataOnly }),
    }
    const informer = this.#factory.informerFor(kind, scope, transform && { transform })
    for (const [field, valuesOf] of this.#indexes.get(kindKey(kind)) ?? [])
      informer.addIndex(this.#indexName(field), valuesOf)
    return { namespace, informer, writes: new OwnWrites(), transform }
  }

  #settings(kind: Kind): Omit<KindCacheOptions, 'kind'> {
    const id = kindKey(kind)
    const given = this.#options.kinds?.find(options => kindKey(options.kind) === id)
    const isSecret = kind.group === '' && kind.resource === 'secrets'
    return { ...this.#options.defaults, ...(given ?? (isSecret ? { metadataOnly: true } : {})) }
  }
}

function isList<T>(value: readonly string[] | T): value is readonly string[] {
  return Array.isArray(value)
}

function keyOfObject({ metadata }: DeepReadonly<ApiObject>): ObjectKey {
  const { namespace, name } = metadata
  return namespace ? { namespace, name } : { name }
}
