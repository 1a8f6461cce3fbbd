import type { Change, KeyValue, Transaction, TransactionResult } from '../store.ts'
import type { Commit } from './revision-log.ts'

/** The result of a transaction, provided that everything before it becomes durable. */
export interface Outcome {
  readonly result: TransactionResult
  /** Undefined when it changes nothing. */
  readonly commit: Commit | undefined
}

/** Evaluates `transaction` on the state that `read` returns, whose revision is `head`. */
export function evaluate(
  transaction: Transaction,
  state: {
    readonly head: number
    readonly now: number
    readonly read: (key: string) => KeyValue | undefined
  },
): Outcome {
  const { head, now, read } = state
  const { conditions = [], operations } = transaction
  for (const { key, modRevision } of conditions) {
    if ((read(key)?.modRevision ?? 0) === modRevision) continue
    const present = conditions.map(condition => read(condition.key))
    return { result: { committed: false, revision: head, present }, commit: undefined }
  }
  const revision = head + 1
  const changes: Change[] = []
  const previous: (KeyValue | undefined)[] = []
  for (const operation of operations) {
    const { key } = operation
    const before = read(key)
    previous.push(before)
    if (operation.type === 'put') {
      const kv: KeyValue = {
        key,
        value: operation.value,
        modRevision: revision,
        createRevision: before?.createRevision ?? revision,
        version: (before?.version ?? 0) + 1,
      }
      changes.push({ type: 'put', kv, previous: before })
    } else if (before) {
      changes.push({ type: 'delete', key, revision, previous: before })
    }
  }
  if (changes.length === 0)
    return { result: { committed: true, revision: head, previous }, commit: undefined }
  return { result: { committed: true, revision, previous }, commit: { revision, changes, time: now } }
}
