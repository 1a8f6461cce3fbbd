import type { ApplyOf, CreateOf, Kind, KindOf } from '@coxswain/apimachinery/kinds'
import {
  type ApiList,
  type ApiObject,
  type DeepReadonly,
  formatKey,
  type ObjectKey,
} from '@coxswain/apimachinery/meta'
import { reasonOf } from '@coxswain/apimachinery/status'
import {
  type ApplyOptions,
  type CallOptions,
  type Client,
  type DeleteAllOptions,
  type DeleteOptions,
  type DeleteResult,
  type ObjectChange,
  type PatchFromOptions,
  type PatchMethods,
  type PatchOptions,
  patchMethods,
  type Readable,
  type StatusOf,
  type SubresourceTarget,
  type UpdateOf,
  type WriteOptions,
} from '@coxswain/client'
import type { Clock, Span } from '@coxswain/kit'
import type { Cache } from '../cache.ts'
import {
  type ApiCall,
  leftBehind,
  type OperatorClient,
  type OperatorListOptions,
  type ReadOptions,
  type WriteGuard,
} from '../operator-client.ts'
import { BoundOptions, bindClient } from './bound-client.ts'
import { changedFields } from './changed-fields.ts'

export interface CachedClientOptions {
  readonly client: Client
  readonly cache: Cache
  readonly clock: Clock
  /** Aborts every call. */
  readonly signal: AbortSignal
  /** @default every write may be sent */
  readonly guard?: WriteGuard
  /** What the calls to the server are a part of, where traces are made. */
  readonly span?: Span
  /** Called for every call to the server. */
  readonly onCall?: (call: ApiCall) => void
}

interface Target {
  readonly verb: string
  readonly kind: Kind
  readonly key?: ObjectKey
}

/** Reads from the cache; writes to the server, and puts its answers into the cache. */
export function createCachedClient(options: CachedClientOptions): OperatorClient {
  return new CachedClient(options)
}

/** Created for every reconcile. */
class CachedClient implements OperatorClient {
  readonly #options: CachedClientOptions
  readonly #bounds: BoundOptions
  #direct: Client | undefined

  constructor(options: CachedClientOptions) {
    this.#options = options
    this.#bounds = new BoundOptions(options)
  }

  async get<K extends Kind>(
    kind: K,
    key: ObjectKey,
    given?: ReadOptions,
  ): Promise<DeepReadonly<KindOf<K>> | undefined> {
    const { client, cache, signal } = this.#options
    if (!this.#isCachedRead(kind, key.namespace, given)) {
      const found = await this.#read({ verb: 'get', kind, key }, () =>
        client.get(kind, key, this.#bounds.read(given)),
      )
      return found as DeepReadonly<KindOf<K>> | undefined
    }
    await cache.ready(kind, given?.signal ?? signal)
    return cache.get(kind, key)
  }

  async list<K extends Kind>(
    kind: K,
    given?: OperatorListOptions,
  ): Promise<DeepReadonly<ApiList<KindOf<K>>>> {
    const { client, cache, signal } = this.#options
    if (!this.#isCachedRead(kind, given?.namespace, given)) {
      const { fields, cached: _, ...query } = given ?? {}
      const fieldSelector =
        fields &&
        Object.entries(fields)
          .map(pair => pair.join('='))
          .join(',')
      const target = { verb: 'list', kind }
      const sent = this.#bounds.read({ ...query, ...(fieldSelector && { fieldSelector }) })
      return (await this.#read(target, () => client.list(kind, sent))) as unknown as DeepReadonly<
        ApiList<KindOf<K>>
      >
    }
    await cache.ready(kind, given?.signal ?? signal)
    const list = {
      apiVersion: kind.group ? `${kind.group}/${kind.version}` : kind.version,
      kind: kind.listKind,
      metadata: { resourceVersion: cache.resourceVersion(kind) },
      items: cache.list(kind, given),
    }
    return list as unknown as DeepReadonly<ApiList<KindOf<K>>>
  }

  create<K extends Kind>(
    kind: K,
    object: DeepReadonly<CreateOf<K>>,
    given?: WriteOptions,
  ): Promise<DeepReadonly<KindOf<K>>> {
    return this.#write({ verb: 'create', kind, ...keyIn(object) }, given, (client, sent) =>
      client.create(kind, object, sent),
    )
  }

  update<K extends Kind>(
    kind: K,
    object: UpdateOf<K>,
    given?: WriteOptions,
  ): Promise<DeepReadonly<KindOf<K>>> {
    return this.#write({ verb: 'update', kind, ...keyIn(object) }, given, (client, sent) =>
      client.update(kind, object, sent),
    )
  }

  updateStatus<K extends Kind>(
    kind: K,
    object: UpdateOf<K>,
    given?: WriteOptions,
  ): Promise<DeepReadonly<KindOf<K>>> {
    return this.#write({ verb: 'update status', kind, ...keyIn(object) }, given, (client, sent) =>
      client.updateStatus(kind, object, sent),
    )
  }

  patch<K extends Kind>(
    kind: K,
    key: ObjectKey,
    patch: unknown,
    given?: PatchOptions & SubresourceTarget,
  ): Promise<DeepReadonly<KindOf<K>>> {
    const verb = given?.subresource ? `patch ${given.subresource}` : 'patch'
    return this.#write({ verb, kind, key }, given, (client, sent) => client.patch(kind, key, patch, sent))
  }

  patchFrom<K extends Kind>(
    kind: K,
    change: ObjectChange<K>,
    given?: PatchFromOptions,
  ): Promise<DeepReadonly<KindOf<K>>> {
    return this.#patches.patchFrom(kind, change, given) as Promise<DeepReadonly<KindOf<K>>>
  }

  patchStatus<K extends Kind>(
    kind: K,
    object: Readable<K>,
    status: Partial<StatusOf<K>>,
  ): Promise<DeepReadonly<KindOf<K>>> {
    return this.#patches.patchStatus(kind, object, status) as Promise<DeepReadonly<KindOf<K>>>
  }

  get #patches(): PatchMethods {
    return patchMethods(() => this)
  }

  apply<K extends Kind>(kind: K, object: ApplyOf<K>, given?: ApplyOptions): Promise<DeepReadonly<KindOf<K>>> {
    return this.#write({ verb: 'apply', kind, ...keyIn(object) }, given, (client, sent) =>
      client.apply(kind, object, sent),
    )
  }

  applyStatus<K extends Kind>(
    kind: K,
    object: ApplyOf<K>,
    given?: ApplyOptions,
  ): Promise<DeepReadonly<KindOf<K>>> {
    return this.#write({ verb: 'apply status', kind, ...keyIn(object) }, given, (client, sent) =>
      client.applyStatus(kind, object, sent),
    )
  }

  async delete<K extends Kind>(
    kind: K,
    key: ObjectKey,
    given?: DeleteOptions,
  ): Promise<DeleteResult<KindOf<K>> | undefined> {
    const { client, cache } = this.#options
    const target = { verb: 'delete', kind, key }
    const sent = this.#bounds.write(given)
    return this.#timed(
      target,
      () => client.delete(kind, key, sent),
      (result, start) => {
        this.#record(target, start)
        if (sent.dryRun) return
        const left = result && leftBehind(result)
        if (left) cache.wrote(kind, left)
        else cache.deleted(kind, key)
      },
    )
  }

  async deleteAll<K extends Kind>(kind: K, given?: DeleteAllOptions): Promise<void> {
    const { client } = this.#options
    const target = { verb: 'deletecollection', kind }
    const sent = this.#bounds.write(given)
    return this.#timed(
      target,
      () => client.deleteAll(kind, sent),
      (_, start) => this.#record(target, start),
    )
  }

  get direct(): Client {
    this.#direct ??= bindClient(this.#options.client, this.#bounds)
    return this.#direct
  }

  #record(target: Target, start: number, more: Omit<ApiCall, 'verb' | 'object' | 'duration'> = {}): void {
    const { onCall, clock } = this.#options
    if (!onCall) return
    const { verb, kind, key } = target
    const call = {
      verb,
      object: key ? `${kind.kind} ${formatKey(key)}` : kind.kind,
      duration: clock.monotonic() - start,
    }
    onCall(Object.defineProperties(call, Object.getOwnPropertyDescriptors(more)) as ApiCall)
  }

  async #timed<T>(
    target: Target,
    call: () => Promise<T>,
    done: (result: T, start: number) => void,
  ): Promise<T> {
    const start = this.#options.clock.monotonic()
    try {
      const result = await call()
      done(result, start)
      return result
    } catch (error) {
      this.#record(target, start, {
        error: reasonOf(error) || String((error as { code?: unknown }).code ?? error),
      })
      throw error
    }
  }

  #read<T>(target: Target, call: () => Promise<T>): Promise<T> {
    return this.#timed(target, call, (_, start) => this.#record(target, start))
  }

  async #write<K extends Kind, O extends CallOptions & { readonly dryRun?: boolean }>(
    target: Target & { readonly kind: K },
    given: O | undefined,
    call: (client: Client, options: O) => Promise<KindOf<K>>,
  ): Promise<DeepReadonly<KindOf<K>>> {
    const { client, cache, onCall } = this.#options
    const { kind, key } = target
    const sent = this.#bounds.write(given)
    const before = key && cache.isCached(kind) && onCall ? this.#peek(kind, key) : undefined
    const object = await this.#timed(
      target,
      () => call(client, sent),
      (after, start) => {
        // A subresource such as `scale` returns its own kind.
        if (!sent.dryRun && after.kind === kind.kind) cache.wrote(kind, after)
        this.#record({ ...target, key: after.metadata }, start, describeWrite(before, after))
      },
    )
    return object as DeepReadonly<KindOf<K>>
  }

  /** The cached object, without starting an informer for it. */
  #peek(kind: Kind, key: ObjectKey): DeepReadonly<ApiObject> | undefined {
    const { cache } = this.#options
    return cache.has(kind) ? (cache.get(kind, key) as DeepReadonly<ApiObject> | undefined) : undefined
  }

  #isCachedRead(kind: Kind, namespace: string | undefined, given: ReadOptions | undefined): boolean {
    const { cache } = this.#options
    return (given?.cached ?? cache.isCached(kind)) && cache.covers(kind, namespace)
  }
}

function keyIn(object: unknown): { readonly key?: ObjectKey } {
  const metadata = (object as { metadata?: { namespace?: string; name?: string } }).metadata
  if (!metadata?.name) return {}
  const { namespace, name } = metadata
  return { key: namespace ? { namespace, name } : { name } }
}

function describeWrite(before: unknown, after: ApiObject): Pick<ApiCall, 'changed' | 'resourceVersion'> {
  const { resourceVersion } = after.metadata
  if (!before) return { resourceVersion }
  // The answer now belongs to the cache and does not change, so it can be compared lazily.
  let changed: readonly string[] | undefined
  return {
    resourceVersion,
    get changed() {
      changed ??= changedFields(before, after)
      return changed
    },
  }
}
