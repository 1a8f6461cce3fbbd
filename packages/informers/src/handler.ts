import type { DeepReadonly } from '@coxswain/apimachinery/meta'

/**
 * Receives the events of one informer. For each object calls come in the order of its history: `onAdd`, then any number of
 * `onUpdate`, then `onDelete`; intermediate states may be missing, the last one never is. An update never changes the uid. A call
 * should only enqueue (to a work queue) and return: what it throws is logged and otherwise ignored.
 */
export interface EventHandler<T> {
  onAdd?(object: DeepReadonly<T>, context: AddContext): void
  onUpdate?(old: DeepReadonly<T>, object: DeepReadonly<T>, context: UpdateContext): void
  onDelete?(object: DeepReadonly<T>, context: DeleteContext): void
}

/** Details of an `onAdd` call. */
export interface AddContext {
  /** The object existed when the handler was added or the informer started; it has not just been created. */
  readonly isInInitialList: boolean
}

/** Details of an `onUpdate` call. */
export interface UpdateContext {
  /** A resync: nothing changed. */
  readonly isResync: boolean
}

/** Details of an `onDelete` call. */
export interface DeleteContext {
  /** The deletion itself was missed, and `object` is the last known state (client-go: DeletedFinalStateUnknown). */
  readonly finalStateUnknown: boolean
}

/** Options of a handler. */
export interface HandlerOptions {
  /** Milliseconds between two resyncs, at least one second. @default never */
  readonly resyncPeriod?: number
}

/** The registration of a handler. */
export interface Registration {
  /** Whether the handler has received all initial objects. */
  readonly hasSynced: boolean
  /** Resolves when `hasSynced`, or when `signal` aborts. Never rejects. */
  synced(signal: AbortSignal): Promise<void>
  /** Stops calling the handler. */
  remove(): void
}
