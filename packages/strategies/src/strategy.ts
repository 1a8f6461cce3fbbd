import type { ResetFields } from '@coxswain/apimachinery/apply'
import type { FieldError } from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import type { NameValidator } from '@coxswain/apimachinery/validation'
import type { Clock, Random } from '@coxswain/kit'
import type { VerifySignature } from './certificates/signature.ts'
import type { Decoded } from './decoded.ts'
import type { PolicyRule } from './rbac/rule.ts'

/** The authenticated user of a request. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** An object as the server's cache holds it. */
export interface CachedObject {
  readonly key: string
  readonly parse: () => JsonObject
}

/** Reads other objects from the server's cache, by the storage prefix of their resource. */
export interface ObjectReader {
  resource(prefix: string): {
    get(key: string): CachedObject | undefined
    list(): readonly CachedObject[]
  }
}

/** What RBAC grants, for rules that keep users from granting more than they have. */
export interface GrantReader {
  /** Every rule granted to `user`, cluster-wide and in `namespace` (none when empty), and the bound roles that do not exist. */
  rulesFor(
    user: UserInfo,
    namespace: string,
  ): { readonly rules: readonly PolicyRule[]; readonly missing: readonly { readonly name: string }[] }
  /** The rules of a role; undefined when it does not exist. */
  rulesOfRole(
    kind: 'Role' | 'ClusterRole',
    name: string,
    namespace: string,
  ): readonly PolicyRule[] | undefined
  /** Whether `user` is authorized to `verb` roles, by any authorizer. */
  mayUse(user: UserInfo, role: RoleAccess): Promise<boolean>
}

/** A question about a Role or ClusterRole; the name is empty when the request does not carry one. */
export interface RoleAccess {
  readonly verb: 'escalate' | 'bind'
  readonly resource: 'roles' | 'clusterroles'
  readonly namespace: string
  readonly name: string
}

/** What a strategy may use besides the object. */
export interface StrategyContext {
  readonly clock: Clock
  readonly random: Random
  readonly objects: ObjectReader
  readonly grants: GrantReader
  /** CIDRs of service addresses, one per IP family, the default family first. */
  readonly serviceRanges: readonly string[]
  /** Verifies signatures of certificate requests; undefined where the platform has no means to. */
  readonly verifySignature: VerifySignature | undefined
  readonly user: UserInfo
  readonly dryRun: boolean
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void
}

/** What a write takes from pools that objects share, or gives back: part of the object's own transaction. */
export interface Claim {
  /** When one of these does not hold, the claim is made again from what is there then. */
  readonly conditions: readonly ClaimCondition[]
  readonly operations: readonly ClaimOperation[]
}

/** The key is still at this revision; 0 means that it does not exist. */
export interface ClaimCondition {
  readonly key: string
  readonly modRevision: number
}

/** A write to a key beside the object's own. */
export type ClaimOperation =
  | { readonly type: 'put'; readonly key: string; readonly object: JsonObject }
  | { readonly type: 'delete'; readonly key: string }

/** Copies of objects of one kind in another version, in the same order. Rejects with the error that the client gets. */
export type ConvertAll = (
  objects: readonly JsonObject[],
  apiVersion: string,
) => Promise<readonly JsonObject[]>

/** The cells of one table row, by the name of their column. */
export type TableCells = Readonly<Record<string, unknown>>

/** The grace period of a delete, in seconds; undefined when the object is deleted at once. */
export type GracePeriod<T = JsonObject> = (
  object: Decoded<T>,
  requested: number | undefined,
) => number | undefined

/** The rules of an endpoint below an object that takes and gives the whole object and changes a part of it. */
export interface SubresourceStrategy<T = JsonObject> {
  /** Makes `object` what `old` becomes: everything that the endpoint does not change is as it was. */
  readonly prepareForUpdate: (object: Decoded<T>, old: Decoded<T>, context: StrategyContext) => void
  readonly validateUpdate: (
    object: Decoded<T>,
    old: Decoded<T>,
    context: StrategyContext,
  ) => Iterable<FieldError>
}

/**
 * The rules of a built-in kind that its type cannot express. Everything is optional; a kind without one is
 * handled by its type alone. Objects come decoded: members are of the right types, unknown ones are dropped, all may be absent.
 * Functions may change `object`, never `old`. Kinds write theirs as `Strategy<Deployment>`, with `defineStrategy`; the
 * server, which handles all kinds alike, has the untyped form.
 *
 *   create   default -> admission -> default -> prepareForCreate -> claim -> validate -> admission -> store
 *   update   default -> admission -> default -> claim -> prepareForUpdate -> validate, validateUpdate -> admission -> store
 *   status   default -> prepareForStatusUpdate -> validateStatusUpdate -> store
 */
export interface Strategy<T = JsonObject> {
  /** Sets defaults. Runs on every incoming object and must be idempotent. */
  readonly default?: (object: Decoded<T>) => void
  /**
   * Takes what `object` needs of pools that all objects share and writes it into `object`; `old` is there when it is
   * changed. Runs before `prepareForUpdate`, after `prepareForCreate`; not for writes of the status.
   */
  readonly claim?: (
    object: Decoded<T>,
    old: Decoded<T> | undefined,
    context: StrategyContext,
  ) => Promise<Claim> | Claim
  /** What the deletion of an object deletes with it: what it had claimed. */
  readonly release?: (object: Decoded<T>, objects: ObjectReader) => readonly ClaimOperation[]
  /** Clears or sets what only the server decides. */
  readonly prepareForCreate?: (object: Decoded<T>, context: StrategyContext) => Promise<void> | void
  readonly prepareForUpdate?: (
    object: Decoded<T>,
    old: Decoded<T>,
    context: StrategyContext,
  ) => Promise<void> | void
  /** The errors of an object, read until the response is full. On update `old` is there, for values that may stay invalid. */
  readonly validate?: (
    object: Decoded<T>,
    context: StrategyContext,
    old: Decoded<T> | undefined,
  ) => Iterable<FieldError>
  /** The errors of an update; runs after `validate`. */
  readonly validateUpdate?: (
    object: Decoded<T>,
    old: Decoded<T>,
    context: StrategyContext,
  ) => Iterable<FieldError>
  readonly prepareForStatusUpdate?: (object: Decoded<T>, old: Decoded<T>, context: StrategyContext) => void
  readonly validateStatusUpdate?: (
    object: Decoded<T>,
    old: Decoded<T>,
    context: StrategyContext,
  ) => Iterable<FieldError>
  /** Endpoints other than `status` that change a part of the object, by name. */
  readonly subresources?: Readonly<Record<string, SubresourceStrategy<T>>>
  /** Which fields a request to an endpoint (empty for the object itself) cannot change. @default all but the status, or the status alone */
  readonly resetFields?: (subresource: string) => ResetFields | undefined
  /** The text of a `Warning` header for every request. */
  readonly deprecated?: string
  /** Texts for `Warning` headers; those of a generator are asked for until the headers are full. */
  readonly warnings?: (object: Decoded<T>, old: Decoded<T> | undefined) => Iterable<string>
  /** As `warnings`, for writes of the status. @default `warnings` */
  readonly statusWarnings?: (object: Decoded<T>, old: Decoded<T>) => Iterable<string>
  /** Values of the selectable fields that are not plain paths into the object. */
  readonly fields?: (object: Decoded<T>) => Readonly<Record<string, string>>
  /** The cells of a table row by the names of the kind's columns. */
  readonly cells?: (object: Decoded<T>, now: number) => TableCells
  /** Cells that upstream sends after those of its columns, by name. @default none */
  readonly extraCells?: readonly string[]
  /** Names in general are DNS subdomains. */
  readonly validateName?: NameValidator
  /** Whether finalizers may have names without a domain that are not Kubernetes' own. @default false */
  readonly plainFinalizers?: boolean
  /** Whether a PUT to a name that does not exist creates the object. @default false */
  readonly createOnUpdate?: boolean
  /** Whether an update without a resourceVersion is allowed. @default true */
  readonly unconditionalUpdate?: boolean
  /** What happens to the status of a create, for kinds with a status subresource. @default 'reset' */
  readonly statusOnCreate?: 'reset' | 'keep'
  /** @default deleted at once */
  readonly gracePeriod?: GracePeriod<T>
  /** Whether something other than finalizers and the grace period delays the deletion of an object. */
  readonly holdsDeletion?: (object: Decoded<T>) => boolean
  /** Changes an object that is now terminating. */
  readonly prepareForDelete?: (object: Decoded<T>) => void
  /** How long a new object lives, in milliseconds. @default it does not expire */
  readonly ttl?: number
  /** Whether DELETE answers with the object instead of a Status. @default false */
  readonly returnsDeleted?: boolean
  /** Whether `metadata.generation` counts changes of everything but metadata and status. @default false */
  readonly generation?: boolean
  /** A member that is kept as text: a strategic patch writes it anew, with its names in order. */
  readonly rawMember?: string
  /** Annotations that stand for a field of upstream's own form: lists of metadata alone do not have them. */
  readonly fieldAnnotations?: readonly string[]
  /** A warning for a client that deletes without a propagation policy. */
  readonly propagationWarning?: string
  /** The default propagation policy; objects of an `unsupported` kind have no dependents. @default background */
  readonly propagation?: 'orphan' | 'background' | 'unsupported'
  /** A copy of `object` in another version; kinds with one version, and those whose versions are alike, have none. */
  readonly convert?: (object: Decoded<T>, apiVersion: string) => Decoded<T>
  /** The same for kinds that a webhook converts. */
  readonly convertAll?: ConvertAll
}
