import type { Env, Lane, Timer } from '@coxswain/kit'
import { createClosed, StoreError } from './errors.ts'
import { evaluate, type Outcome } from './internal/evaluate.ts'
import { type Expiry, ExpiryQueue } from './internal/expiry-queue.ts'
import { defaultHistoryWindow, type HistoryWindow } from './internal/revision-log.ts'
import { prefixEnd } from './internal/sorted-map.ts'
import { validateRange, validateRevision, validateTransaction } from './internal/validate.ts'
import { defaultWatchLimits, WatchHub, type WatchLimits } from './internal/watch-hub.ts'
import { MemoryDisk } from './memory-disk.ts'
import type {
  GetOptions,
  GetResult,
  KeyValue,
  RangeOptions,
  RangeResult,
  Store,
  StoreStatus,
  Transaction,
  TransactionResult,
  WatchBatch,
  WatchOptions,
} from './store.ts'

/** Options of {@link createMemoryStore}. */
export interface MemoryStoreOptions {
  readonly env: Env
  /** The disk of an earlier store. @default an empty one */
  readonly disk?: MemoryDisk
  /** How much history is kept. */
  readonly history?: Partial<HistoryWindow>
  readonly watch?: Partial<WatchLimits>
}

/** How a simulated crash treats the commit in progress. */
export interface CrashOptions {
  /** Whether the commit in progress reached the disk anyway. @default random */
  readonly keepPending?: boolean
}

/** A store in memory, with fault injection for tests and the simulator. */
export interface MemoryStore extends Store {
  /** Survives `crash` and `close`: pass it to the next store. */
  readonly disk: MemoryDisk
  /** Makes the current or next commit fail; from then on every write is rejected. Reads continue. */
  failWrites(cause?: unknown): void
  /** Every later commit takes this long. */
  delayCommits(ms: number): void
  /** Stops at once: what is not durable is lost, its writers get `UnknownOutcome`, watches end with `Closed`. */
  crash(options?: CrashOptions): void
}

/** Every commit and every watch batch is a hand-off of `env.scheduler`. */
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  return new Memory(options)
}

interface Pending {
  readonly outcome: Outcome
  readonly expiries: readonly Expiry[]
  readonly resolve: (result: TransactionResult) => void
  readonly reject: (error: unknown) => void
}

const noValue = new Uint8Array(0)

class Memory implements MemoryStore {
  readonly disk: MemoryDisk
  readonly #env: Env
  readonly #window: HistoryWindow
  readonly #hub: WatchHub
  readonly #lane: Lane
  /** The results of transactions that are not yet durable, by key. */
  readonly #head = new Map<string, { readonly revision: number; readonly kv: KeyValue | undefined }>()
  #headRevision: number
  /** Waits for the commit in progress; all of it is committed together. */
  #queue: Pending[] = []
  #underWay: readonly Pending[] | undefined
  #delay = 0
  readonly #expiries = new ExpiryQueue()
  /** Set by `failWrites`, and then by the commit that failed because of it. */
  #fault: { readonly cause: unknown } | undefined
  #failed: StoreError | undefined
  #closed = false
  #idle: (() => void)[] = []
  #expiryTimer: { readonly timer: Timer; readonly due: number } | undefined

  constructor(options: MemoryStoreOptions) {
    const { env, disk = new MemoryDisk() } = options
    disk.acquire(this)
    this.disk = disk
    this.#env = env
    this.#window = { ...defaultHistoryWindow, ...options.history }
    this.#lane = env.scheduler.lane('storage commit')
    this.#headRevision = disk.revision
    const { clock, scheduler } = env
    const limits = { ...defaultWatchLimits, ...options.watch }
    this.#hub = new WatchHub({ clock, scheduler, limits, log: disk.log }, disk.revision, disk.compacted)
    for (const expiry of disk.expiries.values()) this.#expiries.push(expiry)
    this.#armExpiry()
  }

  async get(key: string, options: GetOptions = {}): Promise<GetResult> {
    const { disk } = this
    const at = this.#readableRevision(options)
    return { kv: disk.get(key, at), revision: disk.revision }
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    validateRange(options)
    const { disk } = this
    const revision = this.#readableRevision(options)
    const { limit = Number.POSITIVE_INFINITY, keysOnly = false, countOnly = false } = options
    const start = options.start !== undefined && options.start > prefix ? options.start : prefix
    const span = { start, end: prefixEnd(prefix) }
    const items: KeyValue[] = []
    const count = disk.count(span, revision)
    if (countOnly) return { items, more: false, count, revision }
    if (limit > 0) {
      disk.scan(span, revision, kv => {
        items.push(keysOnly ? { ...kv, value: noValue } : kv)
        return items.length < limit
      })
    }
    return { items, more: count > items.length, count, revision }
  }

  async transact(transaction: Transaction): Promise<TransactionResult> {
    this.#assertWritable()
    validateTransaction(transaction)
    return this.#enqueue(transaction)
  }

  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch> {
    return this.#hub.open(prefix, options)
  }

  async compact(revision: number): Promise<void> {
    this.#assertOpen()
    validateRevision(revision, this.disk.revision, this.disk.compacted)
    this.disk.compact(revision)
    this.#hub.compact(revision)
  }

  requestProgress(): void {
    this.#hub.requestProgress()
  }

  async status(): Promise<StoreStatus> {
    this.#assertOpen()
    const { revision, compacted } = this.disk
    return { revision, compactedRevision: compacted, watchProgress: true }
  }

  revisionNow(): number {
    this.#assertOpen()
    return this.disk.revision
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    if (this.#underWay) await new Promise<void>(resolve => this.#idle.push(resolve))
    this.#letGo()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  failWrites(cause: unknown = new Error('the disk failed')): void {
    this.#fault = { cause }
  }

  delayCommits(ms: number): void {
    this.#delay = ms
  }

  crash(options: CrashOptions = {}): void {
    if (this.#closed && !this.#underWay) return
    this.#closed = true
    const lost = [...(this.#underWay ?? []), ...this.#queue]
    const keep = options.keepPending ?? this.#env.random.below(2) === 1
    if (this.#underWay && keep && !this.#fault) this.#apply(this.#underWay)
    this.#underWay = undefined
    this.#queue = []
    this.#letGo()
    for (const { reject } of lost)
      reject(new StoreError('UnknownOutcome', 'the store crashed during the write'))
    this.#becomeIdle()
  }

  #assertOpen(): void {
    if (this.#closed) throw createClosed()
  }

  #assertWritable(): void {
    this.#assertOpen()
    if (this.#failed) throw this.#failed
  }

  #readableRevision(options: GetOptions): number {
    this.#assertOpen()
    const { revision } = options
    const { disk } = this
    if (revision === undefined) return disk.revision
    validateRevision(revision, disk.revision, disk.compacted)
    return revision
  }

  /** Decides the outcome on the pending head, and reports it once everything it depends on is durable. */
  #enqueue(transaction: Transaction): Promise<TransactionResult> {
    const now = this.#env.clock.now()
    const outcome = evaluate(transaction, { head: this.#headRevision, now, read: key => this.#read(key) })
    const { commit } = outcome
    const expiries: Expiry[] = []
    if (commit) {
      const { revision } = commit
      this.#headRevision = revision
      for (const change of commit.changes) {
        if (change.type === 'put') this.#head.set(change.kv.key, { revision, kv: change.kv })
        else this.#head.set(change.key, { revision, kv: undefined })
      }
      for (const operation of transaction.operations) {
        if (operation.type !== 'put' || operation.ttl === undefined) continue
        expiries.push({ key: operation.key, modRevision: commit.revision, due: now + operation.ttl })
      }
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ outcome, expiries, resolve, reject })
      this.#pump()
    })
  }

  #read(key: string): KeyValue | undefined {
    const pending = this.#head.get(key)
    return pending ? pending.kv : this.disk.get(key)
  }

  #pump(): void {
    if (this.#underWay || this.#queue.length === 0) return
    const group = this.#queue
    this.#queue = []
    this.#underWay = group
    const hand = () => this.#lane.post(() => this.#finish(group))
    if (this.#delay > 0) this.#env.clock.after(this.#delay, hand)
    else hand()
  }

  #finish(group: readonly Pending[]): void {
    if (this.#underWay !== group) return
    this.#underWay = undefined
    if (this.#fault) this.#fail(group, this.#fault.cause)
    else this.#succeed(group)
    this.#pump()
    if (!this.#underWay) this.#becomeIdle()
  }

  #succeed(group: readonly Pending[]): void {
    const commits = this.#apply(group)
    for (const { outcome, resolve } of group) resolve(outcome.result)
    this.#hub.compact(this.disk.compacted)
    this.#hub.publish(commits)
    this.#armExpiry()
  }

  #apply(group: readonly Pending[]): NonNullable<Outcome['commit']>[] {
    const commits = []
    for (const { outcome, expiries } of group) {
      const { commit } = outcome
      if (!commit) continue
      this.disk.apply(commit, expiries)
      for (const expiry of expiries) this.#expiries.push(expiry)
      commits.push(commit)
      for (const change of commit.changes) {
        const key = change.type === 'put' ? change.kv.key : change.key
        if (this.#head.get(key)?.revision === commit.revision) this.#head.delete(key)
      }
    }
    if (this.#expiries.size > 2 * this.disk.expiries.size + 1024) this.#expiries.prune(this.#isCurrent)
    this.disk.trim(this.#window, this.#env.clock.now())
    return commits
  }

  /** A commit failed: everything decided on its state fails too. */
  #fail(group: readonly Pending[], cause: unknown): void {
    this.#failed = new StoreError('Failed', 'the store accepts no more writes: a commit failed', { cause })
    const error = new StoreError('Failed', 'the write could not be made durable', { cause })
    const lost = [...group, ...this.#queue]
    this.#queue = []
    this.#head.clear()
    this.#headRevision = this.disk.revision
    for (const { reject } of lost) reject(error)
  }

  #armExpiry(): void {
    const due = this.#expiries.next
    if (this.#closed || this.#failed || due === undefined) return
    if (this.#expiryTimer && this.#expiryTimer.due <= due) return
    this.#expiryTimer?.timer.cancel()
    const { clock } = this.#env
    const timer = clock.after(Math.max(0, due - clock.now()), () => {
      this.#expiryTimer = undefined
      this.#expire()
    })
    this.#expiryTimer = { timer, due }
  }

  #expire(): void {
    const now = this.#env.clock.now()
    for (let expiry = this.#expiries.popDue(now); expiry; expiry = this.#expiries.popDue(now)) {
      if (this.#closed || this.#failed) return
      if (!this.#isCurrent(expiry)) continue
      const { key, modRevision } = expiry
      const gone: Transaction = { conditions: [{ key, modRevision }], operations: [{ type: 'delete', key }] }
      this.#enqueue(gone).catch(error => this.#env.log.debug('a key could not expire', { key, error }))
    }
    this.#armExpiry()
  }

  readonly #isCurrent = (expiry: Expiry): boolean => this.disk.expiries.get(expiry.key) === expiry

  #letGo(): void {
    this.#expiryTimer?.timer.cancel()
    this.#expiryTimer = undefined
    this.#hub.close()
    this.disk.release(this)
  }

  #becomeIdle(): void {
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }
}
