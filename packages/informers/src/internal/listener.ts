import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Lane, Logger } from '@coxswain/kit'
import type { Notification } from '../delta.ts'
import type { EventHandler, Registration } from '../handler.ts'
import { Latch } from './latch.ts'

/** One handler and its own queue of notifications: a handler that fails or lags does not affect others. */
export class Listener<T> implements Registration {
  readonly resyncPeriod: number
  readonly #handler: EventHandler<T>
  readonly #lane: Lane
  readonly #log: Logger
  readonly #onRemove: (listener: Listener<T>) => void
  readonly #latch = new Latch()
  #removed = false

  constructor(options: {
    readonly handler: EventHandler<T>
    readonly lane: Lane
    readonly log: Logger
    readonly resyncPeriod: number
    readonly onRemove: (listener: Listener<T>) => void
  }) {
    this.#handler = options.handler
    this.#lane = options.lane
    this.#log = options.log
    this.resyncPeriod = options.resyncPeriod
    this.#onRemove = options.onRemove
  }

  get hasSynced(): boolean {
    return this.#latch.isSet
  }

  synced(signal: AbortSignal): Promise<void> {
    return this.#latch.wait(signal)
  }

  remove(): void {
    this.#removed = true
    this.#onRemove(this)
  }

  notify(notifications: readonly Notification<T>[], isInInitialList: boolean): void {
    if (notifications.length === 0) return
    this.#lane.post(() => {
      for (const notification of notifications) this.#deliver(notification, isInInitialList)
    })
  }

  /** All initial objects have been sent. */
  markSynced(): void {
    this.#lane.post(() => this.#latch.set())
  }

  resync(objects: readonly DeepReadonly<T>[]): void {
    this.#lane.post(() => {
      for (const object of objects) {
        this.#call(() => this.#handler.onUpdate?.(object, object, { isResync: true }))
      }
    })
  }

  #deliver(notification: Notification<T>, isInInitialList: boolean): void {
    const handler = this.#handler
    const { object } = notification
    this.#call(() => {
      if (notification.type === 'added') handler.onAdd?.(object, { isInInitialList })
      else if (notification.type === 'updated') {
        handler.onUpdate?.(notification.old, object, { isResync: false })
      } else handler.onDelete?.(object, { finalStateUnknown: notification.finalStateUnknown })
    })
  }

  #call(action: () => void): void {
    if (this.#removed) return
    try {
      action()
    } catch (error) {
      this.#log.error('an event handler threw', { error })
    }
  }
}
