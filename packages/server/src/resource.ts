import type { FieldError } from '@coxswain/apimachinery/field'
import type { AnyDefinedKind, Kind, KindOf, Verb } from '@coxswain/apimachinery/kinds'
import type { ApiObject, DeepReadonly, ObjectKey, ObjectMeta } from '@coxswain/apimachinery/meta'
import type { UserInfo } from '@coxswain/apiserver'
import type { Clock, Random } from '@coxswain/kit'
import type { WireRequest, WireResponse } from '@coxswain/wire'
import type { ObjectStorage } from './storage/object-storage.ts'

/** What rules and handlers may use besides the object. */
export interface RuleContext {
  readonly clock: Clock
  readonly random: Random
  readonly user: UserInfo
  /** Whether nothing is stored in the end. */
  readonly dryRun: boolean
  /** Adds a `Warning` header to the response. */
  readonly warn: (text: string) => void
  readonly objects: ObjectLookup
}

/** Reads other objects of this server from its memory; each in the version of the kind that is asked for. */
export interface ObjectLookup {
  /** Undefined when there is none. */
  get<K extends Kind>(kind: K, key: ObjectKey): DeepReadonly<KindOf<K>> | undefined
  /** All, or those of a namespace. */
  list<K extends Kind>(kind: K, options?: { readonly namespace?: string }): DeepReadonly<KindOf<K>>[]
}

/**
 * The rules of a kind that its schema cannot express. They are functions over one version, the hub: an object of another
 * version is converted to it, and what `prepare` changed is converted back. Functions may change `object`, never `old`.
 */
export interface ResourceRules<T extends ApiObject> {
  /** Sets what only the server decides. `old` is undefined for a new object. May throw a StatusError. */
  readonly prepare?: (
    object: T,
    old: DeepReadonly<T> | undefined,
    context: RuleContext,
  ) => void | Promise<void>
  /** The errors of an object; on update `old` is there. */
  readonly validate?: (
    object: DeepReadonly<T>,
    old: DeepReadonly<T> | undefined,
    context: RuleContext,
  ) => Iterable<FieldError>
  /** The errors of a write to `status`. */
  readonly validateStatus?: (
    object: DeepReadonly<T>,
    old: DeepReadonly<T>,
    context: RuleContext,
  ) => Iterable<FieldError>
  /** Texts for `Warning` headers. */
  readonly warn?: (object: DeepReadonly<T>, old: DeepReadonly<T> | undefined) => Iterable<string>
  /** Columns of `kubectl get` besides Name and Age, in order. @default those of the kind */
  readonly columns?: Readonly<Record<string, ComputedColumn<T>>>
  /** Values for field selectors, by name: `{ 'spec.size': pizza => pizza.spec.size }`. */
  readonly selectableFields?: Readonly<Record<string, (object: DeepReadonly<T>) => string>>
}

/** A column whose cells are computed. */
export interface ComputedColumn<T extends ApiObject> {
  /** @default string */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean'
  /** Over 0: with `-o wide` only. @default 0 */
  readonly priority?: number
  readonly value: (object: DeepReadonly<T>) => unknown
}

/** A request to a subresource. */
export interface SubresourceRequest<T extends ApiObject> extends RuleContext {
  /** The object, in the hub version, as it is now. */
  readonly object: DeepReadonly<T>
  readonly key: ObjectKey
  /** The body as JSON; undefined without one. */
  readonly body: unknown
  readonly query: { get(name: string): string | undefined }
  readonly request: WireRequest
  readonly signal: AbortSignal
  /**
   * Changes the object and stores it, under all rules; when another write comes first, `change` is called again with the object
   * that is there then. Resolves with what was stored.
   */
  update(change: (object: T) => void): Promise<DeepReadonly<T>>
  /** The same for its status. */
  updateStatus(change: (object: T) => void): Promise<DeepReadonly<T>>
}

/** What a subresource answers: an object as JSON, or a whole response, whose body may be a stream. */
export type SubresourceAnswer = { readonly json: unknown; readonly status?: number } | WireResponse

/** A subresource of one's own: an action, a stream, a proxy. */
export interface OwnSubresource<T extends ApiObject> {
  /** By verb: `create` is a POST, `get` a GET, `update` a PUT. */
  readonly verbs: Partial<
    Record<
      Extract<Verb, 'create' | 'get' | 'update' | 'delete'>,
      (request: SubresourceRequest<T>) => Promise<SubresourceAnswer> | SubresourceAnswer
    >
  >
  /** Its kind in discovery, when it is not the resource's. */
  readonly kind?: string
}

/** The question of a virtual resource. */
export interface VirtualRequest {
  /** Empty for all. */
  readonly namespace: string
  readonly user: UserInfo
  readonly signal: AbortSignal
}

/** An object that is computed: apiVersion and kind are those of the hub. */
export type VirtualObject<T extends ApiObject> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> & {
  readonly metadata: ObjectMeta & { readonly name: string }
}

/** How a resource of an own API server is served. */
export interface ResourceOptions<T extends ApiObject> {
  readonly rules?: ResourceRules<T>
  /** By name. */
  readonly subresources?: Readonly<Record<string, OwnSubresource<T>>>
  /** Where its objects are. @default the server's store */
  readonly storage?: ObjectStorage<T>
  /** Computes the objects for each request: they can be read (get, list), and are stored nowhere. */
  readonly virtual?: (
    request: VirtualRequest,
  ) => Promise<readonly VirtualObject<T>[]> | readonly VirtualObject<T>[]
}

/** A resource of an own API server. */
export interface ResourceDefinition<T extends ApiObject = ApiObject> {
  readonly kind: AnyDefinedKind
  readonly hub: Kind<T>
  readonly options: ResourceOptions<T>
}
