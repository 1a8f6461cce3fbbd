import {
  type ApiList,
  type ApiObject,
  type DeepReadonly,
  formatKey,
  type Kind,
  type KindOf,
  type ObjectKey,
  reasonOf,
} from '@coxswain/apimachinery'
import type { CallOptions, Client } from '@coxswain/client'
import type { Clock } from '@coxswain/kit'
import type { Cache } from '../cache.ts'
import {
  type ApiCall,
  leftBehind,
  type OperatorClient,
  type OperatorListOptions,
  type ReadOptions,
  type WriteGuard,
} from '../operator-client.ts'
import { bindClient, createBoundOptions } from './bound-client.ts'
import { changedFields } from './changed-fields.ts'

export interface CachedClientOptions {
  readonly client: Client
  readonly cache: Cache
  readonly clock: Clock
  /** Ends every call. */
  readonly signal: AbortSignal
  /** @default every write may be sent */
  readonly guard?: WriteGuard
  /** Told of every call to the server. */
  readonly onCall?: (call: ApiCall) => void
}

interface Target {
  readonly verb: string
  readonly kind: Kind
  readonly key?: ObjectKey
}

/** Reads go to the cache, writes to the server and from there into the cache. */
export function createCachedClient(options: CachedClientOptions): OperatorClient {
  const { client, cache, clock, signal, onCall } = options

  const { read: withSignal, write: admitted } = createBoundOptions(options)

  const record = (
    target: Target,
    start: number,
    more: Omit<ApiCall, 'verb' | 'object' | 'duration'> = {},
  ): void => {
    if (!onCall) return
    const { verb, kind, key } = target
    const call = {
      verb,
      object: key ? `${kind.kind} ${formatKey(key)}` : kind.kind,
      duration: clock.monotonic() - start,
    }
    onCall(Object.defineProperties(call, Object.getOwnPropertyDescriptors(more)) as ApiCall)
  }

  const timed = async <T>(
    target: Target,
    call: () => Promise<T>,
    done: (result: T, start: number) => void,
  ): Promise<T> => {
    const start = clock.monotonic()
    try {
      const result = await call()
      done(result, start)
      return result
    } catch (error) {
      record(target, start, { error: reasonOf(error) || String((error as { code?: unknown }).code ?? error) })
      throw error
    }
  }

  const read = <T>(target: Target, call: () => Promise<T>): Promise<T> =>
    timed(target, call, (_, start) => record(target, start))

  const write = async <K extends Kind, O extends CallOptions & { readonly dryRun?: boolean }>(
    target: Target & { readonly kind: K },
    given: O | undefined,
    call: (options: O) => Promise<KindOf<K>>,
  ): Promise<DeepReadonly<KindOf<K>>> => {
    const { kind, key } = target
    const sent = admitted(given)
    const before = key && cache.isCached(kind) && onCall ? peek(kind, key) : undefined
    const object = await timed(
      target,
      () => call(sent),
      (after, start) => {
        // A subresource such as `scale` answers with a kind of its own.
        if (!sent.dryRun && after.kind === kind.kind) cache.wrote(kind, after)
        record({ ...target, key: after.metadata }, start, before ? describeChange(before, after) : {})
      },
    )
    return object as DeepReadonly<KindOf<K>>
  }

  /** What the cache has, without starting an informer for it. */
  const peek = (kind: Kind, key: ObjectKey): DeepReadonly<ApiObject> | undefined =>
    cache.has(kind) ? (cache.get(kind, key) as DeepReadonly<ApiObject> | undefined) : undefined

  const isCachedRead = (kind: Kind, namespace: string | undefined, given: ReadOptions | undefined): boolean =>
    (given?.cached ?? cache.isCached(kind)) && cache.covers(kind, namespace)

  return {
    async get(kind, key, given) {
      if (!isCachedRead(kind, key.namespace, given)) {
        const found = await read({ verb: 'get', kind, key }, () => client.get(kind, key, withSignal(given)))
        return found as DeepReadonly<KindOf<typeof kind>> | undefined
      }
      await cache.ready(kind, given?.signal ?? signal)
      return cache.get(kind, key)
    },
    async list<K extends Kind>(kind: K, given?: OperatorListOptions) {
      if (!isCachedRead(kind, given?.namespace, given)) {
        const { fields, cached: _, ...query } = given ?? {}
        const fieldSelector =
          fields &&
          Object.entries(fields)
            .map(pair => pair.join('='))
            .join(',')
        const target = { verb: 'list', kind }
        const sent = withSignal({ ...query, ...(fieldSelector && { fieldSelector }) })
        return (await read(target, () => client.list(kind, sent))) as unknown as DeepReadonly<
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
    },
    create: (kind, object, given) =>
      write({ verb: 'create', kind, ...keyIn(object) }, given, sent => client.create(kind, object, sent)),
    update: (kind, object, given) =>
      write({ verb: 'update', kind, ...keyIn(object) }, given, sent => client.update(kind, object, sent)),
    updateStatus: (kind, object, given) =>
      write({ verb: 'update status', kind, ...keyIn(object) }, given, sent =>
        client.updateStatus(kind, object, sent),
      ),
    patch: (kind, key, patch, given) => {
      const verb = given?.subresource ? `patch ${given.subresource}` : 'patch'
      return write({ verb, kind, key }, given, sent => client.patch(kind, key, patch, sent))
    },
    apply: (kind, object, given) =>
      write({ verb: 'apply', kind, ...keyIn(object) }, given, sent => client.apply(kind, object, sent)),
    applyStatus: (kind, object, given) =>
      write({ verb: 'apply status', kind, ...keyIn(object) }, given, sent =>
        client.applyStatus(kind, object, sent),
      ),
    async delete(kind, key, given) {
      const target = { verb: 'delete', kind, key }
      const sent = admitted(given)
      return timed(
        target,
        () => client.delete(kind, key, sent),
        (result, start) => {
          record(target, start)
          if (sent.dryRun) return
          const left = result && leftBehind(result)
          if (left) cache.wrote(kind, left)
          else cache.deleted(kind, key)
        },
      )
    },
    async deleteAll(kind, given) {
      const target = { verb: 'deletecollection', kind }
      const sent = admitted(given)
      return timed(
        target,
        () => client.deleteAll(kind, sent),
        (_, start) => record(target, start),
      )
    },
    direct: bindClient(client, options),
  }
}

function keyIn(object: unknown): { readonly key?: ObjectKey } {
  const metadata = (object as { metadata?: { namespace?: string; name?: string } }).metadata
  if (!metadata?.name) return {}
  const { namespace, name } = metadata
  return { key: namespace ? { namespace, name } : { name } }
}

function describeChange(before: unknown, after: unknown): { readonly changed?: readonly string[] } {
  // The answer belongs to the cache from here on and does not change: comparing can wait until somebody asks.
  let changed: readonly string[] | undefined
  return {
    get changed() {
      changed ??= changedFields(before, after)
      return changed
    },
  }
}
