import type { StoreErrorCode } from '../../errors.ts'
import type { Commit } from '../../internal/revision-log.ts'
import type { Change, Condition, KeyValue, Operation, TransactionResult } from '../../store.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'

/*
 * The messages between threads. Values travel in transferred buffers, never in structured clones, which
 * would copy the whole buffer that a value is a part of.
 */

export interface SerializedError {
  readonly code: StoreErrorCode
  readonly message: string
  readonly detail?: string
  readonly compactedRevision?: number
}

/** A transaction as the writer executes it: `due` instead of a time to live. */
export interface WriteRequest {
  readonly conditions: readonly Condition[]
  readonly operations: readonly Operation[]
  /** The clock time at which the operation's key expires, one entry per operation; 0 is never. */
  readonly dues: readonly number[]
}

export function writeTransaction(out: ByteWriter, request: WriteRequest): void {
  out.byte(request.conditions.length)
  for (const { key, modRevision } of request.conditions) {
    out.text(key)
    out.number(modRevision)
  }
  out.byte(request.operations.length)
  for (const [index, operation] of request.operations.entries()) {
    out.byte(operation.type === 'put' ? 1 : 0)
    out.text(operation.key)
    if (operation.type !== 'put') continue
    out.number(request.dues[index]!)
    out.bytes(operation.value)
  }
}

export function readTransaction(input: ByteReader): WriteRequest {
  const conditions: Condition[] = []
  for (let left = input.byte(); left > 0; left--)
    conditions.push({ key: input.text(), modRevision: input.number() })
  const operations: Operation[] = []
  const dues: number[] = []
  for (let left = input.byte(); left > 0; left--) {
    const isPut = input.byte() === 1
    const key = input.text()
    dues.push(isPut ? input.number() : 0)
    operations.push(isPut ? { type: 'put', key, value: input.bytes() } : { type: 'delete', key })
  }
  return { conditions, operations, dues }
}

/** An error is for one transaction that failed while the others of its group succeeded. */
export type WriteOutcome = TransactionResult | { readonly error: SerializedError }

export function writeOutcome(out: ByteWriter, outcome: WriteOutcome): void {
  if ('error' in outcome) {
    out.byte(2)
    out.text(outcome.error.code)
    out.text(outcome.error.message)
    return
  }
  out.byte(outcome.committed ? 1 : 0)
  out.number(outcome.revision)
  const kvs = outcome.committed ? outcome.previous : outcome.present
  out.byte(kvs.length)
  for (const kv of kvs) writeState(out, kv)
}

export function readOutcome(input: ByteReader, request: WriteRequest): WriteOutcome {
  const kind = input.byte()
  if (kind === 2) return { error: { code: input.text() as StoreErrorCode, message: input.text() } }
  const committed = kind === 1
  const revision = input.number()
  const keys: readonly { readonly key: string }[] = committed ? request.operations : request.conditions
  const kvs: (KeyValue | undefined)[] = []
  const count = input.byte()
  for (let i = 0; i < count; i++) kvs.push(readState(input, keys[i]!.key))
  return committed ? { committed, revision, previous: kvs } : { committed, revision, present: kvs }
}

/** A state without its key. */
function writeState(out: ByteWriter, kv: KeyValue | undefined): void {
  out.byte(kv ? 1 : 0)
  if (!kv) return
  out.number(kv.modRevision)
  out.number(kv.createRevision)
  out.number(kv.version)
  out.bytes(kv.value)
}

function readState(input: ByteReader, key: string): KeyValue | undefined {
  if (input.byte() === 0) return undefined
  const modRevision = input.number()
  const createRevision = input.number()
  const version = input.number()
  return { key, value: input.bytes(), modRevision, createRevision, version }
}

export function writeKeyValue(out: ByteWriter, kv: KeyValue): void {
  out.text(kv.key)
  writeState(out, kv)
}

export function readKeyValue(input: ByteReader): KeyValue {
  return readState(input, input.text())!
}

/** A change of history with its previous value. */
export function writeChange(out: ByteWriter, change: Change): void {
  const isPut = change.type === 'put'
  out.byte(isPut ? 1 : 0)
  out.text(isPut ? change.kv.key : change.key)
  out.number(isPut ? change.kv.modRevision : change.revision)
  if (isPut) writeState(out, change.kv)
  writeState(out, change.previous)
}

/** Changes grouped by commit. */
export function readCommits(input: ByteReader): Commit[] {
  const commits: { revision: number; changes: Change[]; time: number }[] = []
  while (!input.done) {
    const isPut = input.byte() === 1
    const key = input.text()
    const revision = input.number()
    const kv = isPut ? readState(input, key)! : undefined
    const previous = readState(input, key)
    const change: Change = kv ? { type: 'put', kv, previous } : { type: 'delete', key, revision, previous }
    const last = commits.at(-1)
    if (last?.revision === revision) last.changes.push(change)
    else commits.push({ revision, changes: [change], time: 0 })
  }
  return commits
}

export interface WriterOptions {
  readonly directory: string
  readonly historyRevisions: number
  readonly historyDuration: number
  readonly historyBytes: number
  /** SQLite's log is checkpointed when about this much has been written since the last time. */
  readonly checkpointBytes: number
  /** @default false */
  readonly isUnsafeNoFsync?: boolean
}

/** What the writer found when it opened the directory. */
export interface Opened {
  readonly revision: number
  readonly compacted: number
  readonly expiries: readonly { readonly key: string; readonly modRevision: number; readonly due: number }[]
}

export type ToWriter =
  | { readonly type: 'write'; readonly id: number; readonly count: number; readonly buffer: ArrayBuffer }
  | { readonly type: 'compact'; readonly id: number; readonly revision: number }
  /** Whether writes succeed again. */
  | { readonly type: 'probe'; readonly id: number }
  | { readonly type: 'close'; readonly id: number }

export type FromWriter =
  | { readonly type: 'opened'; readonly opened: Opened }
  | { readonly type: 'refused'; readonly error: SerializedError }
  | { readonly type: 'done'; readonly id: number; readonly compacted: number; readonly buffer?: ArrayBuffer }
  | { readonly type: 'failed'; readonly id: number; readonly error: SerializedError }
  /** The store compacted by itself. */
  | { readonly type: 'compacted'; readonly revision: number }

export type ReadRequest =
  | { readonly type: 'get'; readonly id: number; readonly key: string; readonly revision: number | undefined }
  | {
      readonly type: 'range'
      readonly id: number
      readonly start: string
      readonly end: string | undefined
      readonly revision: number | undefined
      readonly limit: number | undefined
      readonly keysOnly: boolean
      readonly countOnly: boolean
    }
  | {
      readonly type: 'history'
      readonly id: number
      readonly prefix: string
      readonly from: number
      readonly to: number
    }

export type ToReader =
  | { readonly type: 'open'; readonly directory: string }
  | { readonly type: 'read'; readonly requests: readonly ReadRequest[] }
  | { readonly type: 'close' }

export interface ReadReply {
  readonly id: number
  readonly error?: SerializedError
  readonly revision?: number
  readonly count?: number
  readonly more?: boolean
  /** The revision up to which history was read. */
  readonly through?: number
  readonly buffers?: readonly ArrayBuffer[]
}

export type FromReader =
  | { readonly type: 'opened' }
  | { readonly type: 'refused'; readonly error: SerializedError }
  | { readonly type: 'replies'; readonly replies: readonly ReadReply[] }
