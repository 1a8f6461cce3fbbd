import type { ObjectKey } from '@coxswain/apimachinery/meta'
import type { Clock, Logger, Random, Span } from '@coxswain/kit'
import type { DependentsResult } from './dependents/dependent.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { MetricsRegistry } from './metrics/registry.ts'
import type { OperatorClient } from './operator-client.ts'
import type { Trigger } from './trigger.ts'

/** What a reconcile works with. Valid until the reconcile returns. */
export interface ReconcileContext {
  /** What to reconcile. The object may be gone. */
  readonly key: ObjectKey
  /** Reads from the cache, and sees its own writes. */
  readonly client: OperatorClient
  /** The same for another cluster that the host knows. @throws RuntimeError `BadDefinition` */
  cluster(name: string): OperatorClient
  readonly clock: Clock
  readonly random: Random
  readonly events: EventRecorder
  readonly log: Logger
  /** For metrics of your own. */
  readonly metrics: MetricsRegistry
  /** Aborts when the reconcile has taken too long, or the operator has to stop now. */
  readonly signal: AbortSignal
  /** Why this reconcile runs: what happened since the last one, oldest first. */
  readonly triggers: readonly Trigger[]
  /** How the controller's dependents are; undefined when it has none, or the object is deleted or being deleted. */
  readonly dependents?: DependentsResult
  /** How often reconciling this object has failed in a row. */
  readonly failures: number
  /** The span of this reconcile, for attributes and events of your own; undefined when no traces are made. */
  readonly span?: Span
}

/** What a reconcile asks for when it has done its part. */
export interface Result {
  /** Look again after so many milliseconds, unless something happens before. */
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
 * Brings the world closer to what the object of `key` says. Called with the same key again whenever something happened,
 * never twice at once for one key. Returning is success; what it throws is logged, counted, and tried again later.
 */
export type Reconciler = (context: ReconcileContext) => Promise<ReconcileResult> | ReconcileResult

/** Look again after `ms` milliseconds, unless something happens before. */
export function requeueAfter(ms: number, options: { readonly priority?: number } = {}): ReconcileResult {
  // Not a number is what a bad date gives: looking again at once, for ever, is never what was meant.
  if (!Number.isFinite(ms)) throw new RangeError(`requeueAfter needs a number of milliseconds, not ${ms}`)
  return { requeueAfter: ms, ...options }
}
