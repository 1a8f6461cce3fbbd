import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createRealEnv, type Env, type Timer } from '@coxswain/kit'
import { createClosed, type StoreError } from '../../errors.ts'
import { type Expiry, ExpiryQueue } from '../../internal/expiry-queue.ts'
import {
  type Commit,
  defaultHistoryWindow,
  type HistoryWindow,
  RevisionLog,
} from '../../internal/revision-log.ts'
import { prefixEnd } from '../../internal/sorted-map.ts'
import {
  validateRange,
  validateRevision,
  validateRevisionNumber,
  validateTransaction,
} from '../../internal/validate.ts'
import { defaultWatchLimits, WatchHub, type WatchLimits } from '../../internal/watch-hub.ts'
import type {
  Change,
  GetOptions,
  GetResult,
  RangeOptions,
  RangeResult,
  Store,
  StoreStatus,
  Transaction,
  TransactionResult,
  WatchBatch,
  WatchOptions,
} from '../../store.ts'
import { ByteReader } from './bytes.ts'
import { type Opened, readCommits, readKeyValue, type WriteRequest } from './messages.ts'
import { ReaderLink } from './reader-link.ts'
import { WriterLink } from './writer-link.ts'

/** Options of {@link openSqliteStore}. */
export interface SqliteStoreOptions {
  /** Created if it does not exist. One store at a time can use it. */
  readonly directory: string
  /** @default the real clock, randomness and timers */
  readonly env?: Env
  /** How much history is kept. */
  readonly history?: Partial<HistoryWindow>
  readonly watch?: Partial<WatchLimits>
  /** How large SQLite's log grows before it is checkpointed. @default 16 MB */
  readonly checkpointBytes?: number
  /** Commits do not wait for the disk: a power failure may damage the store, a killed process does not. @default false */
  readonly isUnsafeNoFsync?: boolean
}

/** How often a store whose writes fail checks whether they succeed again, in milliseconds. */
const probePeriod = 1_000
/** The retry interval of an expired key that could not be deleted, in milliseconds. */
const expireAgainAfter = 10_000

/** The recent history that watches read from memory; older history is read from disk. */
const recentCommits = 1024
const recentBytes = 8 * 1024 * 1024

/**
 * Opens the store in a directory, creating it when there is none. Throws `Locked` while another process has it,
 * `NewerFormat` when a newer program wrote it, `Corrupt` when it is damaged.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, env = createRealEnv() } = options
  const history = { ...defaultHistoryWindow, ...options.history }
  await makeDirectory(directory)
  const writer = new WriterLink({
    directory,
    historyRevisions: history.revisions,
    historyDuration: history.duration,
    historyBytes: history.bytes,
    checkpointBytes: options.checkpointBytes ?? 16 * 1024 * 1024,
    isUnsafeNoFsync: options.isUnsafeNoFsync ?? false,
  })
  const reader = new ReaderLink()
  try {
    const opened = await writer.opened
    await reader.open(directory)
    return new Sqlite({ env, writer, reader, opened, limits: { ...defaultWatchLimits, ...options.watch } })
  } catch (error) {
    await Promise.all([writer.terminate(), reader.terminate()])
    throw error
  }
}

/** Creates the directory durably: SQLite syncs only what is inside. */
async function makeDirectory(directory: string): Promise<void> {
  const made = await mkdir(directory, { recursive: true, mode: 0o700 })
  if (made === undefined) return
  const first = resolve(made)
  for (let path = resolve(directory); path.startsWith(first); path = dirname(path)) {
    const handle = await open(dirname(path), 'r')
    await handle.sync().finally(() => handle.close())
  }
}

interface Parts {
  readonly env: Env
  readonly writer: WriterLink
  readonly reader: ReaderLink
  readonly opened: Opened
  readonly limits: WatchLimits
}

class Sqlite implements Store {
  readonly #env: Env
  readonly #writer: WriterLink
  readonly #reader: ReaderLink
  readonly #hub: WatchHub
  readonly #log: RevisionLog
  readonly #expiries = new ExpiryQueue()
  /** The newest revision known to be durable: acknowledged, or seen by a read. */
  #revision: number
  #compacted: number
  #closing: Promise<void> | undefined
  #expiryTimer: { readonly timer: Timer; readonly due: number } | undefined
  #writeFailure: StoreError | undefined
  #probeTimer: Timer | undefined

  constructor(parts: Parts) {
    const { env, writer, reader, opened, limits } = parts
    this.#env = env
    this.#writer = writer
    this.#reader = reader
    this.#revision = opened.revision
    this.#compacted = opened.compacted
    this.#log = new RevisionLog(opened.revision + 1)
    const { clock, scheduler } = env
    const older = { read: (prefix: string, from: number, to: number) => this.#readHistory(prefix, from, to) }
    this.#hub = new WatchHub(
      { clock, scheduler, limits, log: this.#log, older },
      this.#revision,
      this.#compacted,
    )
    writer.onCommit = (revision, results) => this.#committed(revision, results)
    writer.onCompacted = revision => this.#compactedTo(revision)
    writer.onFailed = error => this.#failed(error)
    for (const expiry of opened.expiries) this.#expiries.push(expiry)
    this.#armExpiry()
  }

  async get(key: string, options: GetOptions = {}): Promise<GetResult> {
    this.#assertOpen()
    const { revision: asked } = options
    if (asked !== undefined) validateRevisionNumber(asked)
    const { buffers, revision = 0 } = await this.#reader.request({ type: 'get', key, revision: asked })
    this.#sawRevision(revision)
    const buffer = buffers?.[0]
    return { kv: buffer && readKeyValue(new ByteReader(buffer)), revision }
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    this.#assertOpen()
    validateRange(options)
    const { limit, keysOnly = false, countOnly = false, revision: asked } = options
    const start = options.start !== undefined && options.start > prefix ? options.start : prefix
    const span = { start, end: prefixEnd(prefix) }
    const reply = await this.#reader.request({
      type: 'range',
      ...span,
      revision: asked,
      limit,
      keysOnly,
      countOnly,
    })
    const { revision = 0, count = 0, more = false, buffers = [] } = reply
    this.#sawRevision(revision)
    const items = []
    for (const buffer of buffers) {
      for (const input = new ByteReader(buffer); !input.done; ) items.push(readKeyValue(input))
    }
    return { items, more, count, revision }
  }

  async transact(transaction: Transaction): Promise<TransactionResult> {
    this.#assertOpen()
    validateTransaction(transaction)
    return this.#write(transaction)
  }

  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch> {
    return this.#hub.open(prefix, options)
  }

  async compact(revision: number): Promise<void> {
    this.#assertOpen()
    validateRevision(revision, this.#revision, this.#compacted)
    this.#compactedTo(await this.#writer.compact(revision))
  }

  requestProgress(): void {
    this.#hub.requestProgress()
  }

  async status(): Promise<StoreStatus> {
    this.#assertOpen()
    return { revision: this.#revision, compactedRevision: this.#compacted, watchProgress: true }
  }

  revisionNow(): number {
    this.#assertOpen()
    return this.#revision
  }

  writeFailure(): StoreError | undefined {
    return this.#writeFailure
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#expiryTimer?.timer.cancel()
    this.#probeTimer?.cancel()
    await this.#writer.drain()
    this.#hub.close()
    await this.#reader.close()
    await this.#writer.close()
  }

  #assertOpen(): void {
    if (this.#closing) throw createClosed()
  }

  #write(transaction: Transaction): Promise<TransactionResult> {
    const { conditions = [], operations } = transaction
    const now = this.#env.clock.now()
    const dues = operations.map(operation =>
      operation.type === 'put' && operation.ttl !== undefined ? Math.ceil(now + operation.ttl) : 0,
    )
    return this.#writer.write({ conditions, operations, dues })
  }

  /** A group of transactions is durable. Its writers are notified right after this. */
  #committed(
    revision: number,
    results: readonly { request: WriteRequest; result: TransactionResult }[],
  ): void {
    this.#succeeded()
    const commits: Commit[] = []
    const now = this.#env.clock.now()
    for (const { request, result } of results) {
      if (!result.committed || result.revision <= this.#log.last) continue
      const commit = toCommit(request, result, now)
      commits.push(commit)
      this.#log.push(commit)
      for (const [index, due] of request.dues.entries()) {
        if (due > 0)
          this.#expiries.push({ key: request.operations[index]!.key, modRevision: result.revision, due })
      }
    }
    this.#sawRevision(revision)
    this.#hub.publish(commits)
    while (this.#log.size > recentCommits || (this.#log.bytes > recentBytes && this.#log.size > 1))
      this.#log.shift()
    this.#armExpiry()
  }

  /** Writes fail: logged once, and probed until they succeed. */
  #failed(error: StoreError): void {
    if (this.#closing) return
    if (!this.#writeFailure) this.#env.log.error('the store cannot write', { error })
    this.#writeFailure = error
    this.#probeTimer ??= this.#env.clock.after(probePeriod, () => {
      this.#probeTimer = undefined
      this.#writer.probe().then(
        () => this.#succeeded(),
        (reason: StoreError) => this.#failed(reason),
      )
    })
  }

  #succeeded(): void {
    if (!this.#writeFailure) return
    this.#writeFailure = undefined
    this.#env.log.warn('the store can write again')
  }

  #compactedTo(revision: number): void {
    if (revision > this.#compacted) this.#compacted = revision
    this.#hub.compact(revision)
  }

  #sawRevision(revision: number): void {
    if (revision <= this.#revision) return
    this.#revision = revision
    this.#hub.advance(revision)
  }

  async #readHistory(
    prefix: string,
    from: number,
    to: number,
  ): Promise<{ commits: readonly Commit[]; through: number }> {
    const { buffers = [], through = 0 } = await this.#reader.request({ type: 'history', prefix, from, to })
    return { commits: readCommits(new ByteReader(buffers[0]!)), through }
  }

  #armExpiry(): void {
    const due = this.#expiries.next
    if (this.#closing || due === undefined) return
    if (this.#expiryTimer && this.#expiryTimer.due <= due) return
    this.#expiryTimer?.timer.cancel()
    const { clock } = this.#env
    const timer = clock.after(Math.max(0, due - clock.now()), () => {
      this.#expiryTimer = undefined
      this.#expire()
    })
    this.#expiryTimer = { timer, due }
  }

  /** Keys that were written since fail the condition and stay. */
  #expire(): void {
    const now = this.#env.clock.now()
    const gone: Expiry[] = []
    for (let expiry = this.#expiries.popDue(now); expiry; expiry = this.#expiries.popDue(now))
      gone.push(expiry)
    for (const { key, modRevision } of gone) {
      if (this.#closing) return
      this.#write({ conditions: [{ key, modRevision }], operations: [{ type: 'delete', key }] }).catch(
        error => {
          this.#env.log.debug('a key could not expire', { key, error })
          this.#expiries.push({ key, modRevision, due: now + expireAgainAfter })
          this.#armExpiry()
        },
      )
    }
    this.#armExpiry()
  }
}

function toCommit(
  request: WriteRequest,
  result: Extract<TransactionResult, { committed: true }>,
  time: number,
): Commit {
  const { revision } = result
  const changes: Change[] = []
  for (const [index, operation] of request.operations.entries()) {
    const { key } = operation
    const previous = result.previous[index]
    if (operation.type === 'put') {
      const { createRevision = revision, version = 0 } = previous ?? {}
      const kv = { key, value: operation.value, modRevision: revision, createRevision, version: version + 1 }
      changes.push({ type: 'put', kv, previous })
    } else if (previous) {
      changes.push({ type: 'delete', key, revision, previous })
    }
  }
  return { revision, changes, time }
}
