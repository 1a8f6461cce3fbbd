import { StoreError } from './errors.ts'
import type { Expiry } from './internal/expiry-queue.ts'
import { type Commit, type HistoryWindow, RevisionLog } from './internal/revision-log.ts'
import { SortedMap } from './internal/sorted-map.ts'
import type { Change, KeyValue } from './store.ts'

/** One state of a key and the one before it; `kv` is undefined where it was absent. */
interface Version {
  readonly revision: number
  readonly kv: KeyValue | undefined
  older: Version | undefined
}

interface Entry {
  readonly key: string
  newest: Version
}

/**
 * What survives a crash of a memory store: the durable state and its history. Pass it to the next store.
 * Values are shared with their writers and readers, never copied.
 */
export class MemoryDisk {
  readonly #entries = new SortedMap<Entry>()
  /** Keys whose newest state is a deletion: still in `#entries` for reads of the past. */
  readonly #deleted = new SortedMap<Entry>()
  readonly #expiries = new Map<string, Expiry>()
  #log = new RevisionLog(2)
  #compacted = 1
  #owner: object | undefined

  get revision(): number {
    return this.#log.last
  }

  get compacted(): number {
    return this.#compacted
  }

  get log(): RevisionLog {
    return this.#log
  }

  /** The expiries of existing keys. */
  get expiries(): ReadonlyMap<string, Expiry> {
    return this.#expiries
  }

  /** A disk of its own with the present state and no earlier history. Values are shared. */
  copy(): MemoryDisk {
    const copy = new MemoryDisk()
    this.scan({ start: '', end: undefined }, this.revision, kv => {
      copy.#entries.set({ key: kv.key, newest: { revision: kv.modRevision, kv, older: undefined } })
      return true
    })
    for (const [key, expiry] of this.#expiries) copy.#expiries.set(key, expiry)
    copy.#log = new RevisionLog(this.revision + 1)
    copy.#compacted = this.revision
    return copy
  }

  /** Throws `Locked` while another store has it. */
  acquire(owner: object): void {
    if (this.#owner) throw new StoreError('Locked', 'another store uses this disk')
    this.#owner = owner
  }

  release(owner: object): void {
    if (this.#owner === owner) this.#owner = undefined
  }

  get(key: string, revision: number = this.revision): KeyValue | undefined {
    const entry = this.#entries.get(key)
    return entry && stateAt(entry, revision)
  }

  /** Visits keys with start <= key < end, in order, as long as `visit` returns true. */
  scan(span: Span, revision: number, visit: (kv: KeyValue) => boolean): void {
    const { start, end } = span
    this.#entries.scan(start, entry => {
      if (end !== undefined && entry.key >= end) return false
      const kv = stateAt(entry, revision)
      return !kv || visit(kv)
    })
  }

  count(span: Span, revision: number): number {
    const { start, end } = span
    if (revision === this.revision) return this.#entries.count(start, end) - this.#deleted.count(start, end)
    let count = 0
    this.scan(span, revision, () => {
      count++
      return true
    })
    return count
  }

  /** Makes `commit`, whose revision is the next one, durable. */
  apply(commit: Commit, expiries: readonly Expiry[]): void {
    for (const change of commit.changes) this.#change(change, commit.revision)
    for (const expiry of expiries) this.#expiries.set(expiry.key, expiry)
    this.#log.push(commit)
  }

  /** Compacts what is outside `window`. Returns whether anything was. */
  trim(window: HistoryWindow, now: number): boolean {
    const before = this.#compacted
    while (this.#log.exceeds(window, now)) this.compact(this.#log.first + 1)
    return this.#compacted > before
  }

  /** Commits at `revision` stay, with their previous values. */
  compact(revision: number): void {
    if (revision <= this.#compacted) return
    this.#compacted = revision
    while (this.#log.first < revision && this.#log.size > 0) {
      for (const change of this.#log.shift()!.changes) this.#forget(keyOf(change), revision)
    }
    // What the commit at `revision` deleted is absent from then on.
    for (const change of this.#log.at(revision)?.changes ?? []) this.#forget(keyOf(change), revision)
  }

  #change(change: Change, revision: number): void {
    const key = keyOf(change)
    const kv = change.type === 'put' ? change.kv : undefined
    this.#expiries.delete(key)
    const entry = this.#entries.get(key)
    if (!entry) {
      this.#entries.set({ key, newest: { revision, kv, older: undefined } })
      return
    }
    if (!entry.newest.kv) this.#deleted.delete(key)
    entry.newest = { revision, kv, older: entry.newest }
    if (!kv) this.#deleted.set(entry)
  }

  /** Drops the states of `key` that no read can reach when `revision` is the oldest. */
  #forget(key: string, revision: number): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    let version: Version | undefined = entry.newest
    while (version && version.revision > revision) version = version.older
    if (version) version.older = undefined
    if (version === entry.newest && !version.kv) {
      this.#entries.delete(key)
      this.#deleted.delete(key)
    }
  }
}

/** Keys from `start` on, before `end`. */
export interface Span {
  readonly start: string
  readonly end: string | undefined
}

function stateAt(entry: Entry, revision: number): KeyValue | undefined {
  let version: Version | undefined = entry.newest
  while (version && version.revision > revision) version = version.older
  return version?.kv
}

function keyOf(change: Change): string {
  return change.type === 'put' ? change.kv.key : change.key
}
