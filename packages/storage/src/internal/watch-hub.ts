import type { Clock, Scheduler, Timer } from '@coxswain/kit'
import { createClosed, createCompacted, createFutureRevision, StoreError } from '../errors.ts'
import type { Change, WatchBatch, WatchOptions } from '../store.ts'
import type { Commit, RevisionLog } from './revision-log.ts'
import { validateWatch } from './validate.ts'
import { type BatchSource, Watcher } from './watcher.ts'

/** Limits of a store's watches. */
export interface WatchLimits {
  /** How many revisions a consumer may fall behind before its watch ends with `SlowWatcher`. @default 8192 */
  readonly maxLag: number
  /** The interval of progress notifications for watches with `progress`, in milliseconds. @default 1000 */
  readonly progressInterval: number
}

export const defaultWatchLimits: WatchLimits = { maxLag: 8192, progressInterval: 1000 }

/** Reads history that is no longer in memory. */
export interface OlderHistory {
  /** Changes under `prefix` from a revision on, up to `through`, which is `to` or less when there are many. */
  read(prefix: string, from: number, to: number): Promise<{ commits: readonly Commit[]; through: number }>
}

export interface WatchHubOptions {
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly limits: WatchLimits
  /** Written by the store; `publish` announces additions. */
  readonly log: RevisionLog
  /** Undefined when there is only the log in memory. */
  readonly older?: OlderHistory
}

/** The maximum number of changes in a batch, unless a single transaction has more. */
const batchLimit = 1000

/**
 * Delivers commits to watchers. Nothing is queued for a watcher: it has a position in the shared log, so a
 * slow one costs nothing, and a batch is built once for all watchers at the same position (`bench/storage` measures it).
 */
export class WatchHub implements BatchSource {
  readonly #options: WatchHubOptions
  readonly #watchers = new Set<Watcher>()
  /** The last batch built for each kind of watcher since the last commit. */
  readonly #shared = new Map<string, { readonly from: number; readonly batch: WatchBatch }>()
  #progressTimer: Timer | undefined
  #closed = false
  #present: number
  #compacted: number

  /** `present` and `compacted` are the store's newest durable and oldest readable revision. */
  constructor(options: WatchHubOptions, present: number, compacted: number) {
    this.#options = options
    this.#present = present
    this.#compacted = compacted
  }

  get present(): number {
    return this.#present
  }

  /** The newest revision in the log. */
  get published(): number {
    return this.#options.log.last
  }

  get scheduler(): Scheduler {
    return this.#options.scheduler
  }

  /** A watch begins, and is checked, when its first batch is requested. */
  open(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch> {
    return { [Symbol.asyncIterator]: () => new Watcher(this, prefix, options) }
  }

  /** Starts `watcher`; returns its first revision. Throws the error for its consumer. */
  add(watcher: Watcher, options: WatchOptions): number {
    if (this.#closed) throw createClosed()
    validateWatch(options)
    const from = options.from ?? this.#present + 1
    if (from > this.#present + 1) throw createFutureRevision(from, this.#present)
    if (from < this.#compacted) throw createCompacted(from, this.#compacted)
    this.#watchers.add(watcher)
    return from
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher)
  }

  /** Hands durable commits in the log to the watchers: one hand-off for each, in its own lane. */
  publish(commits: readonly Commit[]): void {
    const first = commits[0]?.revision
    const last = commits.at(-1)?.revision
    if (first === undefined || last === undefined) return
    this.advance(last)
    this.#shared.clear()
    let late = false
    for (const watcher of this.#watchers) {
      const wanted = lastRelevant(watcher, commits)
      if (wanted) watcher.reach(wanted.revision)
      else watcher.skip(first, last)
      late ||= watcher.progress && wanted?.revision !== last
    }
    if (late) this.#armProgress()
  }

  /** The store knows of a newer durable revision that will be published later. */
  advance(revision: number): void {
    if (revision > this.#present) this.#present = revision
  }

  compact(revision: number): void {
    if (revision > this.#compacted) this.#compacted = revision
  }

  /** Sends every watch with `progress` a progress notification. */
  requestProgress(): void {
    for (const watcher of this.#watchers) if (watcher.progress) watcher.reportProgress(this.#options.log.last)
  }

  /** Ends every watch with `error`. */
  close(error: StoreError = createClosed()): void {
    this.#closed = true
    this.#progressTimer?.cancel()
    this.#progressTimer = undefined
    for (const watcher of [...this.#watchers]) watcher.fail(error)
  }

  /**
   * What `watcher` gets of the revisions from..to; undefined when they contain nothing for it. Throws when its
   * consumer has fallen too far behind.
   */
  read(watcher: Watcher, from: number, to: number): WatchBatch | Promise<WatchBatch | undefined> | undefined {
    const { log, older, limits } = this.#options
    if (from < this.#compacted) throw createCompacted(from, this.#compacted)
    const lag = log.last - from + 1
    if (lag > limits.maxLag + watcher.headStart) {
      throw new StoreError(
        'SlowWatcher',
        `the watch lags ${lag} revisions behind, the limit is ${limits.maxLag}`,
      )
    }
    if (from < log.first) {
      if (!older) throw createCompacted(from, log.first)
      return this.#readOlder(watcher, from, Math.min(to, log.first - 1))
    }
    const held = this.#shared.get(watcher.kind)
    if (held && held.from === from && held.batch.revision === to) return held.batch
    const batch = this.#build(watcher, from, to)
    if (batch) this.#shared.set(watcher.kind, { from, batch })
    return batch
  }

  #build(watcher: Watcher, from: number, to: number): WatchBatch | undefined {
    const { log } = this.#options
    let changes: readonly Change[] = []
    let revision = from
    for (; revision <= to; revision++) {
      const found = watcher.select(log.at(revision)!)
      if (found.length === 0) continue
      if (changes.length > 0 && changes.length + found.length > batchLimit) break
      changes = changes.length === 0 ? found : changes.concat(found)
    }
    return changes.length === 0 ? undefined : { revision: revision - 1, changes }
  }

  async #readOlder(watcher: Watcher, from: number, to: number): Promise<WatchBatch | undefined> {
    const { commits, through } = await this.#options.older!.read(watcher.prefix, from, to)
    const changes = commits.flatMap(commit => watcher.select(commit))
    return { revision: through, changes }
  }

  #armProgress(): void {
    if (this.#progressTimer || this.#closed) return
    const { clock, limits, log } = this.#options
    this.#progressTimer = clock.after(limits.progressInterval, () => {
      this.#progressTimer = undefined
      for (const watcher of this.#watchers) {
        if (watcher.progress && watcher.delivered < log.last) watcher.reportProgress(log.last)
      }
    })
  }
}

function lastRelevant(watcher: Watcher, commits: readonly Commit[]): Commit | undefined {
  for (let i = commits.length - 1; i >= 0; i--) if (watcher.wants(commits[i]!)) return commits[i]
  return undefined
}
