import type { ObjectKey } from '@coxswain/apimachinery/meta'
import type { Clock, Logger, Random, Span } from '@coxswain/kit'
import type { DependentsResult } from './dependents/dependent.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { MetricsRegistry } from './metrics/registry.ts'
import type { OperatorClient } from './operator-client.ts'
import type { Trigger } from './trigger.ts'

/** What a reconcile works with. Valid until the reconcile returns. */
export interface ReconcileContext {
  /** What to reconcile. The object may have been deleted. */
  readonly key: ObjectKey
  /** Reads from the cache, and sees its own writes. */
  readonly client: OperatorClient
  /** The same for another cluster of the host. @throws RuntimeError `BadDefinition` */
  cluster(name: string): OperatorClient
  readonly clock: Clock
  readonly random: Random
  readonly events: EventRecorder
  readonly log: Logger
  /** For metrics of your own. */
  readonly metrics: MetricsRegistry
  /** Aborts when the reconcile has taken too long, or the operator has to stop now. */
  readonly signal: AbortSignal
  /** Why this reconcile runs: the events since the last one, oldest first. */
  readonly triggers: readonly Trigger[]
  /** The state of the controller's dependents; undefined when it has none, or the object is deleted or being deleted. */
  readonly dependents?: DependentsResult
  /** How often reconciling this object has failed in a row. */
  readonly failures: number
  /** The span of this reconcile, for attributes and events of your own; undefined when no traces are made. */
  readonly span?: Span
}

/** When to reconcile again. */
export interface Result {
  /** Milliseconds after which to reconcile again, unless an event comes first. */
  readonly requeueAfter: number
  /** @default the priority it had */
  readonly priority?: number
}

/**
 * What a reconcile may return. `void` is part of it so that one branch can return `requeueAfter(...)` and the others
 * nothing, also under `noImplicitReturns`.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: see above
export type ReconcileResult = Result | void

/**
 * Moves the observed state towards the desired state of the object with `key`. Called again with the same key after every event,
 * never concurrently for one key. Returning is success; an error is logged, counted, and retried with back-off.
 */
export type Reconciler = (context: ReconcileContext) => Promise<ReconcileResult> | ReconcileResult

/** Reconcile again after `ms` milliseconds, unless an event comes first. */
export function requeueAfter(ms: number, options: { readonly priority?: number } = {}): ReconcileResult {
  // An invalid date gives NaN: requeueing at once, forever, is never intended.
  if (!Number.isFinite(ms)) throw new RangeError(`requeueAfter: must be a number of milliseconds, not ${ms}`)
  return { requeueAfter: ms, ...options }
}
