import type { ReconcileRecord } from '../reconcile-record.ts'

/** The last reconciles of a manager: its `onReconcile` fills it. */
export class RecentReconciles {
  readonly #records: ReconcileRecord[] = []
  readonly #limit: number
  #next = 0

  constructor(limit = 256) {
    this.#limit = limit
  }

  readonly add = (record: ReconcileRecord): void => {
    this.#records[this.#next] = record
    this.#next = (this.#next + 1) % this.#limit
  }

  /** The oldest first. */
  list(): ReconcileRecord[] {
    return [...this.#records.slice(this.#next), ...this.#records.slice(0, this.#next)]
  }
}
