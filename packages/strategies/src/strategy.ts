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
  /** Whether `user` is authorized to `verb` roles, whoever authorizes it. */
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

/** Copies of objects of one kind in another version, in the same order. Rejects with what the client is told. */
export type ConvertAll = (
  objects: readonly JsonObject[],
  apiVersion: string,
) => Promise<readonly JsonObject[]>

/** The cells of one table row, by the name of their column. */
export type TableCells = Readonly<Record<string, unknown>>

/** How long an object lingers after a delete, in seconds; undefined when it goes at once. */
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
 * The rules of a built-in kind that its type cannot tell. Everything is optional; a kind without a file of its own goes
 * by its type alone. Objects come decoded: members are of the right types, unknown ones are dropped, all may be absent.
 * Functions may change `object`, never `old`. Kinds write theirs as `Strategy<Deployment>`, with `defineStrategy`; the
 * server, which handles all kinds alike, has the untyped form.
 *
 *   create   default -> admission -> default -> prepareForCreate -> claim -> validate -> admission -> store
 *   update   default -> admission -> default -> claim -> prepareForUpdate -> validate, validateUpdate -> admission -> store
 *   status   default -> prepareForStatusUpdate -> validateStatusUpdate -> store
 */
export interface Strategy<T = JsonObject> {
  /** Fills in what the author left out. Runs on every object that comes in, and must change nothing the second time. */
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
  /** What is wrong with an object, new or changed, read until the answer is full; `old` is there when it is changed, for what may stay as it was. */
  readonly validate?: (
    object: Decoded<T>,
    context: StrategyContext,
    old: Decoded<T> | undefined,
  ) => Iterable<FieldError>
  /** What is wrong with a change; runs after `validate`. */
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
  /** Whether an update without a resourceVersion is taken. @default true */
  readonly unconditionalUpdate?: boolean
  /** What becomes of a status that comes with a create, where the status has an endpoint of its own. @default 'reset' */
  readonly statusOnCreate?: 'reset' | 'keep'
  /** @default gone at once */
  readonly gracePeriod?: GracePeriod<T>
  /** Whether something other than finalizers and grace keeps an object that is to be deleted. */
  readonly holdsDeletion?: (object: Decoded<T>) => boolean
  /** Marks an object that now waits for its end. */
  readonly prepareForDelete?: (object: Decoded<T>) => void
  /** How long a new object lives, in milliseconds. @default for ever */
  readonly ttl?: number
  /** Whether DELETE answers with the object instead of a Status. @default false */
  readonly returnsDeleted?: boolean
  /** Whether `metadata.generation` counts changes of everything but metadata and status. @default false */
  readonly generation?: boolean
  /** A member that is kept as text: a strategic patch writes it anew, with its names in order. */
  readonly rawMember?: string
  /** Annotations that stand for a field of upstream's own form: lists of metadata alone do not have them. */
  readonly fieldAnnotations?: readonly string[]
  /** Told to a client that deletes and does not say what becomes of dependents. */
  readonly propagationWarning?: string
  /** What a delete does with dependents when the client does not say; nothing has `unsupported` ones. @default background */
  readonly propagation?: 'orphan' | 'background' | 'unsupported'
  /** A copy of `object` in another version; kinds with one version, and those whose versions are alike, have none. */
  readonly convert?: (object: Decoded<T>, apiVersion: string) => Decoded<T>
  /** The same for kinds whose versions somebody else converts. */
  readonly convertAll?: ConvertAll
}
