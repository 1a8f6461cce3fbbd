import type * as field from '@coxswain/apimachinery/field'
import type {
  ApiObject,
  DeepReadonly,
  GroupVersionKind,
  GroupVersionResource,
  LabelSelector,
} from '@coxswain/apimachinery/meta'
import type { Clock, Logger } from '@coxswain/kit'
import type { OperatorClient } from '../operator-client.ts'

/** The operation of an admission request. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The user of a request. */
export interface AdmissionUser {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The admission request besides the object. Valid until the webhook returns. */
export interface AdmissionContext {
  /** The uid of the request. */
  readonly uid: string
  readonly operation: AdmissionOperation
  /** Empty when the server has yet to generate it. */
  readonly name: string
  /** Undefined for cluster-scoped objects. */
  readonly namespace: string | undefined
  /** `status`, `scale`; empty for the object itself. */
  readonly subresource: string
  /** Nothing will be stored: have no side effects. */
  readonly dryRun: boolean
  readonly user: AdmissionUser
  /** The kind of the client's request, where that is not the webhook's own version. */
  readonly requestKind: GroupVersionKind | undefined
  readonly requestResource: GroupVersionResource | undefined
  /** CreateOptions, UpdateOptions or DeleteOptions of the request. */
  readonly options: DeepReadonly<Record<string, unknown>>
  /** Cached reads, as in a reconcile. */
  readonly client: OperatorClient
  readonly clock: Clock
  readonly log: Logger
  /** Aborts when the API server no longer waits. */
  readonly signal: AbortSignal
  /** Sends the client a warning; the request is still allowed. */
  warn(message: string): void
  /** Adds an annotation to the audit event of the request. */
  audit(key: string, value: string): void
}

/**
 * An object before it is stored: what the server sets at the end (uid, resourceVersion, creationTimestamp, and the name
 * when it is generated) may be missing.
 */
export type Incoming<T extends ApiObject> = Omit<T, 'metadata'> & { metadata: Partial<T['metadata']> }

/**
 * Sets defaults in place, or returns another object. It may be called again with its own result:
 * it must be idempotent.
 */
export type Defaulter<T extends ApiObject> = (
  object: Incoming<T>,
  context: AdmissionContext,
) => Promise<DefaultResult<T>> | DefaultResult<T>

// biome-ignore lint/suspicious/noConfusingVoidType: one branch may return an object and the others nothing
type DefaultResult<T extends ApiObject> = Incoming<T> | undefined | void

/** The operation of a request, with the new and the old object. */
export type AdmissionSubject<T extends ApiObject> =
  | {
      readonly operation: 'CREATE' | 'CONNECT'
      readonly object: DeepReadonly<Incoming<T>>
      readonly oldObject: undefined
    }
  | {
      readonly operation: 'UPDATE'
      readonly object: DeepReadonly<Incoming<T>>
      readonly oldObject: DeepReadonly<T>
    }
  | { readonly operation: 'DELETE'; readonly object: undefined; readonly oldObject: DeepReadonly<T> }

/**
 * The problem: none, a sentence (403 Forbidden), or one error for each invalid field (422 Invalid with its causes).
 * A thrown StatusError is the answer as it is. Any other error is a failure of the webhook, not a verdict.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a validator that finds nothing returns nothing
export type Verdict = string | readonly field.FieldError[] | undefined | void

/** Validates a request; see {@link Verdict} for what it returns. */
export type Validator<T extends ApiObject> = (
  subject: AdmissionSubject<T> & { readonly context: AdmissionContext },
) => Promise<Verdict> | Verdict

/** Which requests a webhook is called for, and how; the fields of a webhook configuration. */
export interface AdmissionOptions {
  /** @default CREATE and UPDATE */
  readonly operations?: readonly AdmissionOperation[]
  /** Called for these instead of the object itself: `status`, `scale`. */
  readonly subresources?: readonly string[]
  /** Whether a request is allowed when the webhook fails. @default 'Fail' */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /** @default 'Equivalent' */
  readonly matchPolicy?: 'Exact' | 'Equivalent'
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  /** Whether it has side effects; dry runs skip it then unless it respects `dryRun`. @default 'None' */
  readonly sideEffects?: 'None' | 'NoneOnDryRun'
  /** 1 to 30. @default 10 */
  readonly timeoutSeconds?: number
  /** For mutating webhooks: called again when others have changed the object since. @default 'Never' */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}
