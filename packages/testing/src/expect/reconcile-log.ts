import { formatKey, type ObjectKey } from '@coxswain/apimachinery/meta'
import type { OperatorDefinition, ReconcileRecord } from '@coxswain/runtime'

/** A reconcile of an operator that was started in the cluster. */
export interface RecordedReconcile extends ReconcileRecord {
  readonly operator: string
  /** The kind that its controller is for; undefined where it has none. */
  readonly kind?: string
}

/** How many reconciles of a cluster are kept: the latest. */
const limit = 1_000

/** The latest reconciles of the operators of one cluster. */
export class ReconcileLog {
  /** A ring: the oldest is at `#count % limit` once it is full. */
  readonly #records: RecordedReconcile[] = []
  #count = 0

  add({ name, controllers }: OperatorDefinition, record: ReconcileRecord): void {
    const kind = controllers.find(each => each.name === record.controller)?.for?.kind
    this.#records[this.#count++ % limit] = { ...record, operator: name, ...(kind !== undefined && { kind }) }
  }

  /** Those of the object, and those that it caused or that read or wrote it at the server; oldest first. */
  of(kind: string, key: ObjectKey): readonly RecordedReconcile[] {
    const name = formatKey(key)
    const object = `${kind} ${name}`
    const start = this.#count > limit ? this.#count % limit : 0
    const ordered = [...this.#records.slice(start), ...this.#records.slice(0, start)]
    return ordered.filter(
      record =>
        (record.key === name && (record.kind === undefined || record.kind === kind)) ||
        record.triggers.some(trigger => trigger.object === object) ||
        record.calls.some(call => call.object === object),
    )
  }
}
