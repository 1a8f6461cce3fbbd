import { createCompacted, createFutureRevision, StoreError } from '../errors.ts'
import type { RangeOptions, Transaction, WatchOptions } from '../store.ts'

/** The default limit of an etcd server for operations, and for conditions, in one transaction. */
export const maxOperations = 128
/** Space for the largest request an API server accepts, and for what it adds. */
export const maxValueBytes: number = 8 * 1024 * 1024
const maxKeyLength = 4096

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are ASCII, control characters included except NUL
const keyPattern = /^[\u0001-\u007f]+$/

/** Throws `InvalidArgument` or `TooLarge` unless every back end could accept `transaction`. */
export function validateTransaction(transaction: Transaction): void {
  const { conditions = [], operations } = transaction
  if (operations.length > maxOperations || conditions.length > maxOperations) {
    throw invalid(`a transaction has at most ${maxOperations} operations and ${maxOperations} conditions`)
  }
  for (const { key, modRevision } of conditions) {
    validateKey(key)
    if (!Number.isSafeInteger(modRevision) || modRevision < 0) {
      throw invalid(`${modRevision} is not a revision`)
    }
  }
  for (const operation of operations) {
    validateKey(operation.key)
    if (operation.type !== 'put') continue
    if (operation.value.length > maxValueBytes) {
      throw new StoreError('TooLarge', `a value of ${operation.value.length} bytes exceeds ${maxValueBytes}`)
    }
    if (operation.ttl !== undefined && !(operation.ttl > 0))
      throw invalid(`${operation.ttl} is not a time to live`)
  }
  if (operations.length > 1 && new Set(operations.map(operation => operation.key)).size < operations.length) {
    throw invalid('a transaction has at most one operation for each key')
  }
}

export function validateKey(key: string): void {
  if (key.length > maxKeyLength || !keyPattern.test(key)) {
    throw invalid(`keys are 1 to ${maxKeyLength} ASCII characters without NUL, not ${JSON.stringify(key)}`)
  }
}

/** Throws unless the state at `revision` can be read. */
export function validateRevision(revision: number, present: number, compacted: number): void {
  validateRevisionNumber(revision)
  if (revision > present) throw createFutureRevision(revision, present)
  if (revision < compacted) throw createCompacted(revision, compacted)
}

export function validateRevisionNumber(revision: number): void {
  if (!Number.isSafeInteger(revision) || revision < 1) throw invalid(`${revision} is not a revision`)
}

export function validateRange(options: RangeOptions): void {
  const { limit, revision } = options
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1))
    throw invalid(`${limit} is not a limit`)
  if (revision !== undefined) validateRevisionNumber(revision)
}

export function validateWatch(options: WatchOptions): void {
  if (options.from !== undefined) validateRevisionNumber(options.from)
}

export function invalid(message: string): StoreError {
  return new StoreError('InvalidArgument', message)
}
