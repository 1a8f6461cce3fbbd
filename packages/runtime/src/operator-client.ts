import type { ApplyOf, CreateOf, Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { ApiList, ApiObject, DeepReadonly, ObjectKey } from '@coxswain/apimachinery/meta'
import type {
  ApplyOptions,
  CallOptions,
  Client,
  DeleteAllOptions,
  DeleteOptions,
  DeleteResult,
  ObjectChange,
  PatchFromOptions,
  PatchOptions,
  Readable,
  StatusOf,
  SubresourceTarget,
  UpdateOf,
  WriteOptions,
} from '@coxswain/client'
import type { CachedListOptions } from './cache.ts'

/** Options of a read of {@link OperatorClient}. */
export interface ReadOptions extends CallOptions {
  /** False reads from the server. @default true, except for Secrets and uncached kinds */
  readonly cached?: boolean
}

/** Options of a list of {@link OperatorClient}. */
export type OperatorListOptions = ReadOptions & CachedListOptions

/**
 * The client of a reconcile. Method for method it is {@link Client}, with three differences:
 *
 * - `get` and `list` read the cache, which shows this operator's own writes even before the watch delivers
 *   them. Writes of others may be missing for a moment.
 * - What they return is shared and read-only. Writes take such objects as they are: `{ ...at, status: { phase } }`.
 * - Writes are recorded with the reconcile, and stop when this replica no longer leads.
 */
export interface OperatorClient {
  get<K extends Kind>(
    kind: K,
    key: ObjectKey,
    options?: ReadOptions,
  ): Promise<DeepReadonly<KindOf<K>> | undefined>
  list<K extends Kind>(kind: K, options?: OperatorListOptions): Promise<DeepReadonly<ApiList<KindOf<K>>>>
  create<K extends Kind>(
    kind: K,
    object: DeepReadonly<CreateOf<K>>,
    options?: WriteOptions,
  ): Promise<DeepReadonly<KindOf<K>>>
  update<K extends Kind>(
    kind: K,
    object: UpdateOf<K>,
    options?: WriteOptions,
  ): Promise<DeepReadonly<KindOf<K>>>
  updateStatus<K extends Kind>(
    kind: K,
    object: UpdateOf<K>,
    options?: WriteOptions,
  ): Promise<DeepReadonly<KindOf<K>>>
  patch<K extends Kind>(
    kind: K,
    key: ObjectKey,
    patch: unknown,
    options?: PatchOptions & SubresourceTarget,
  ): Promise<DeepReadonly<KindOf<K>>>
  /** Sends what differs between the two as a merge patch; nothing when they are equal. */
  patchFrom<K extends Kind>(
    kind: K,
    change: ObjectChange<K>,
    options?: PatchFromOptions,
  ): Promise<DeepReadonly<KindOf<K>>>
  /** Sets these members of the object's status; others stay. Nothing is sent when the object as given has them already. */
  patchStatus<K extends Kind>(
    kind: K,
    object: Readable<K>,
    status: Partial<StatusOf<K>>,
  ): Promise<DeepReadonly<KindOf<K>>>
  apply<K extends Kind>(kind: K, object: ApplyOf<K>, options?: ApplyOptions): Promise<DeepReadonly<KindOf<K>>>
  applyStatus<K extends Kind>(
    kind: K,
    object: ApplyOf<K>,
    options?: ApplyOptions,
  ): Promise<DeepReadonly<KindOf<K>>>
  delete<K extends Kind>(
    kind: K,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<DeleteResult<KindOf<K>> | undefined>
  deleteAll<K extends Kind>(kind: K, options?: DeleteAllOptions): Promise<void>
  /** Everything else (subresources, watches, any path), without the cache, and not in the record. Calls end with the reconcile. */
  readonly direct: Client
}

/** One call to the server, as the reconcile's record shows it. */
export interface ApiCall {
  readonly verb: string
  /** `Pod default/a`, or `Pod` for a collection. */
  readonly object: string
  /** Milliseconds. */
  readonly duration: number
  /** The reason the server gave, or the error's code; absent on success. */
  readonly error?: string
  /** The version that a write gave the object. */
  readonly resourceVersion?: string
  /** What a write changed, as `spec.replicas: 1 -> 2`. Computed on first access. */
  readonly changed?: readonly string[]
}

/** Decides whether a write may be sent. */
export interface WriteGuard {
  /**
   * The milliseconds within which the write has to finish; undefined for no limit.
   * @throws RuntimeError `NotLeader`
   */
  admit(): number | undefined
}

/** The object that remains after a deletion, from the server's answer; undefined when it is deleted. */
export function leftBehind<T extends ApiObject>(result: DeleteResult<T>): T | undefined {
  const metadata = result.object?.metadata
  if (!metadata?.deletionTimestamp) return undefined
  const waits = Boolean(metadata.finalizers?.length) || Boolean(metadata.deletionGracePeriodSeconds)
  return waits ? result.object : undefined
}
