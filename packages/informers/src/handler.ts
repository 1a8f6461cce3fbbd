import type { DeepReadonly } from '@coxswain/apimachinery/meta'

/**
 * Told what happens to the objects of one informer. For each object calls come in the order of its history: `onAdd`, then
 * any number of `onUpdate`, then `onDelete`; states in between may be missing, the last one never is. An update never
 * changes the uid. A call should hand over (to a work queue) and return: what it throws is logged and otherwise ignored.
 */
export interface EventHandler<T> {
  onAdd?(object: DeepReadonly<T>, context: AddContext): void
  onUpdate?(old: DeepReadonly<T>, object: DeepReadonly<T>, context: UpdateContext): void
  onDelete?(object: DeepReadonly<T>, context: DeleteContext): void
}

export interface AddContext {
  /** The object was there when the handler was added or the informer started; nothing has just happened to it. */
  readonly isInInitialList: boolean
}

export interface UpdateContext {
  /** Nothing changed: the handler asked to be shown everything from time to time. */
  readonly isResync: boolean
}

export interface DeleteContext {
  /** The deletion itself was missed, and `object` is the last state that was seen (client-go: DeletedFinalStateUnknown). */
  readonly finalStateUnknown: boolean
}

export interface HandlerOptions {
  /** Shows every object again each so many milliseconds, one second at least. @default never */
  readonly resyncPeriod?: number
}

/** A handler's place at an informer. */
export interface Registration {
  /** Whether the handler has been told of everything that was there at first. */
  readonly hasSynced: boolean
  /** Resolves when `hasSynced`, or when `signal` aborts. Never rejects. */
  synced(signal: AbortSignal): Promise<void>
  /** The handler is not called any more. */
  remove(): void
}
