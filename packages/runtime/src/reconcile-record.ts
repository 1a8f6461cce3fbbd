import type { ApiCall } from './operator-client.ts'
import type { Trigger } from './trigger.ts'

/** One reconcile: why it ran, what it did, how it ended. */
export interface ReconcileRecord {
  readonly controller: string
  /** `namespace/name`, or the name of a cluster-scoped object. */
  readonly key: string
  /** When it began, in milliseconds since the epoch. */
  readonly started: number
  /** Milliseconds. */
  readonly duration: number
  readonly triggers: readonly Trigger[]
  /** The first 1000 calls to the server in the order in which they ended. Cached reads are not included. */
  readonly calls: readonly ApiCall[]
  readonly result: 'success' | 'requeue_after' | 'error' | 'terminal'
  /** Milliseconds until the next reconcile, where it requeued or failed; an event may come first. */
  readonly requeueAfter?: number
  readonly error?: unknown
  /** How often it has failed in a row, this time included. */
  readonly failures: number
}
