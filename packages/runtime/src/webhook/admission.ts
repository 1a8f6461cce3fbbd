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

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** Who asks. */
export interface AdmissionUser {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** What a webhook is asked, besides the object. Valid until it returns. */
export interface AdmissionContext {
  /** Of this question. */
  readonly uid: string
  readonly operation: AdmissionOperation
  /** Empty when the server is still to choose one. */
  readonly name: string
  /** Undefined for cluster-scoped objects. */
  readonly namespace: string | undefined
  /** `status`, `scale`; empty for the object itself. */
  readonly subresource: string
  /** Nothing will be stored: do nothing that can be seen outside. */
  readonly dryRun: boolean
  readonly user: AdmissionUser
  /** What the client asked for, where that is not the webhook's own version. */
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
  /** Tells the client something; it passes all the same. */
  warn(message: string): void
  /** Adds to the record of the request in the audit log. */
  audit(key: string, value: string): void
}

/**
 * An object on its way in: what the server gives it at the end (uid, resourceVersion, creationTimestamp, and the name
 * when it is generated) may be missing.
 */
export type Incoming<T extends ApiObject> = Omit<T, 'metadata'> & { metadata: Partial<T['metadata']> }

/**
 * Fills in what was left out, in place, or returns another object to go on with. It is asked again with its own result:
 * doing it twice must be the same as doing it once.
 */
export type Defaulter<T extends ApiObject> = (
  object: Incoming<T>,
  context: AdmissionContext,
) => Promise<DefaultResult<T>> | DefaultResult<T>

// biome-ignore lint/suspicious/noConfusingVoidType: one branch may return an object and the others nothing
type DefaultResult<T extends ApiObject> = Incoming<T> | undefined | void

/** What is to happen. */
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
 * What is wrong: nothing, a sentence (403 Forbidden), or one error for each bad field (422 Invalid with its causes).
 * A StatusError that is thrown is the answer as it stands. Anything else that is thrown is a failure, not a verdict.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a validator that finds nothing returns nothing
export type Verdict = string | readonly field.FieldError[] | undefined | void

export type Validator<T extends ApiObject> = (
  subject: AdmissionSubject<T> & { readonly context: AdmissionContext },
) => Promise<Verdict> | Verdict

/** Which requests a webhook is asked about, and how; the fields of a webhook configuration. */
export interface AdmissionOptions {
  /** @default CREATE and UPDATE */
  readonly operations?: readonly AdmissionOperation[]
  /** Asked about these instead of the object itself: `status`, `scale`. */
  readonly subresources?: readonly string[]
  /** Whether a request passes when the webhook fails. @default 'Fail' */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /** @default 'Equivalent' */
  readonly matchPolicy?: 'Exact' | 'Equivalent'
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  /** Whether it does something outside on its own; dry runs skip it then unless it looks at `dryRun`. @default 'None' */
  readonly sideEffects?: 'None' | 'NoneOnDryRun'
  /** 1 to 30. @default 10 */
  readonly timeoutSeconds?: number
  /** Of mutating ones: asked again when others have changed the object since. @default 'Never' */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}
