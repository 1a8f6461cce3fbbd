import type { ApplyOf, CreateOf, Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { ApiList, ApiObject, DeepReadonly, ObjectKey } from '@coxswain/apimachinery/meta'
import type {
  ApplyOptions,
  CallOptions,
  DeleteAllOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './options.ts'
import type { RestClient } from './rest-client.ts'
import type { QueryValues } from './rest-request.ts'

/**
 * A typed client of one API server. A get that finds nothing is `undefined`; whatever else the server rejects is a
 * thrown `StatusError`, and no answer at all a `TransportError`. Objects are the caller's own to change.
 */
export interface Client extends PatchMethods {
  get<K extends Kind>(kind: K, key: ObjectKey, options?: GetOptions): Promise<KindOf<K> | undefined>
  /** One page, or everything when there is no `limit`. Items have apiVersion and kind, even where the server omits them. */
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<ApiList<KindOf<K>>>
  /** Every object, page by page (500 unless `limit` says otherwise). Throws 410 when the pages' revision is compacted meanwhile. */
  listAll<K extends Kind>(kind: K, options?: ListOptions): AsyncIterable<KindOf<K>>
  /**
   * Sends its request at the first `next`. Ends when the server ends the watch or `signal` aborts; an ERROR event is thrown as its
   * `StatusError` (410 `Expired`: list again). It does not resume by itself: informers do.
   */
  watch<K extends Kind>(kind: K, options?: WatchOptions): AsyncIterable<WatchEvent<KindOf<K>>>

  /** The namespace is `object.metadata.namespace`. */
  create<K extends Kind>(
    kind: K,
    object: DeepReadonly<CreateOf<K>>,
    options?: WriteOptions,
  ): Promise<KindOf<K>>
  /** Replaces the object of that name; with a `metadata.resourceVersion` only if that is still current (409 otherwise). */
  update<K extends Kind>(kind: K, object: UpdateOf<K>, options?: WriteOptions): Promise<KindOf<K>>
  /** Like `update`, for `status` only. */
  updateStatus<K extends Kind>(kind: K, object: UpdateOf<K>, options?: WriteOptions): Promise<KindOf<K>>
  patch<K extends Kind>(
    kind: K,
    key: ObjectKey,
    patch: unknown,
    options?: PatchOptions & SubresourceTarget,
  ): Promise<KindOf<K>>
  /** Server-side apply. Needs a `fieldManager`, here or in the client's options. */
  apply<K extends Kind>(kind: K, object: ApplyOf<K>, options?: ApplyOptions): Promise<KindOf<K>>
  applyStatus<K extends Kind>(kind: K, object: ApplyOf<K>, options?: ApplyOptions): Promise<KindOf<K>>
  /** `undefined` when the object did not exist. When it resolves the object may still be terminating: finalizers. */
  delete<K extends Kind>(
    kind: K,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<DeleteResult<KindOf<K>> | undefined>
  /** Deletes a collection in one request: every object the selectors match, in one namespace or in all. */
  deleteAll<K extends Kind>(kind: K, options?: DeleteAllOptions): Promise<void>

  /** A subresource of one object: `client.subresource(Deployment, key, 'scale')`. */
  subresource<K extends Kind>(kind: K, key: ObjectKey, name: string): Subresource

  /** Any path, any body. */
  readonly raw: RestClient
}

/** Patches computed from two versions of an object. */
export interface PatchMethods {
  /**
   * Sends what differs between `change.old` and `change.new` as a merge patch. Nothing is sent when they are equal, and
   * `old` is the answer then.
   */
  patchFrom<K extends Kind>(
    kind: K,
    change: ObjectChange<K>,
    options?: PatchFromOptions,
  ): Promise<Readable<K>>
  /** Sets these members of the object's status; others stay. Nothing is sent when the object as given has them already. */
  patchStatus<K extends Kind>(
    kind: K,
    object: Readable<K>,
    status: Partial<StatusOf<K>>,
  ): Promise<Readable<K>>
}

/** An object that a client returned: the caller's own, or shared and read-only when it comes from a cache. */
export type Readable<K extends Kind> = KindOf<K> | DeepReadonly<KindOf<K>>

/** The methods that helpers need. Both a `Client` and the client of a reconcile have them. */
export interface ObjectClient {
  get<K extends Kind>(kind: K, key: ObjectKey, options?: CallOptions): Promise<Readable<K> | undefined>
  create<K extends Kind>(
    kind: K,
    object: DeepReadonly<CreateOf<K>>,
    options?: WriteOptions,
  ): Promise<Readable<K>>
  update<K extends Kind>(kind: K, object: UpdateOf<K>, options?: WriteOptions): Promise<Readable<K>>
  patch<K extends Kind>(kind: K, ...rest: PatchArguments): Promise<Readable<K>>
  apply<K extends Kind>(kind: K, object: ApplyOf<K>, options?: ApplyOptions): Promise<Readable<K>>
}

type PatchArguments = [key: ObjectKey, patch: unknown, options?: PatchOptions & SubresourceTarget]

/** An object as it was read, and as it should become. */
export interface ObjectChange<K extends Kind> {
  readonly old: Readable<K>
  readonly new: Readable<K>
}

/** Options of {@link Client.patchFrom}. */
export interface PatchFromOptions extends WriteOptions, SubresourceTarget {
  /** The patch is rejected (409) unless the object still has the resourceVersion of `old`. @default false */
  readonly optimisticLock?: boolean
}

/** The members of a kind's status. */
export type StatusOf<K extends Kind> =
  KindOf<K> extends { status?: infer S } ? DeepReadonly<NonNullable<S>> : Record<string, unknown>

/** What may be sent to replace an object: what was read, changed. */
export type UpdateOf<K extends Kind> =
  | KindOf<K>
  | DeepReadonly<KindOf<K>>
  | (CreateOf<K> & { metadata: { name: string } })

/** Which subresource a patch is for. */
export interface SubresourceTarget {
  /** Patches this subresource instead of the object: `status`, `scale`, ... */
  readonly subresource?: string
}

/** The server's answer to a deletion. */
export interface DeleteResult<T> {
  readonly uid?: string
  /** The object, where the server returns it: always when it is still terminating. */
  readonly object?: T
}

/** The calls to one subresource of an object. */
export interface Subresource {
  get<T = ApiObject>(options?: GetOptions & QueryOptions): Promise<T | undefined>
  /** `token`, `eviction`, `binding`: request and answer are the subresource's own kinds. */
  create<T = ApiObject>(body: object, options?: WriteOptions): Promise<T>
  update<T = ApiObject>(body: object, options?: WriteOptions): Promise<T>
  /** The answer's bytes as they arrive: `log`. Lasts until the server ends it, the loop is left, or `signal` aborts. */
  stream(options?: StreamOptions): AsyncIterable<Uint8Array>
}

/** Additional query parameters of a call. */
export interface QueryOptions {
  readonly query?: QueryValues
}

/** Options of a streamed call. */
export type StreamOptions = CallOptions & QueryOptions
