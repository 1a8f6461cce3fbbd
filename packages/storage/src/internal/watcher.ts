import type { Lane, Scheduler } from '@coxswain/kit'
import type { Change, WatchBatch, WatchOptions } from '../store.ts'
import type { Commit } from './revision-log.ts'
import { invalid } from './validate.ts'

type Result = IteratorResult<WatchBatch, undefined>

interface Waiting {
  readonly resolve: (result: Result | Promise<Result>) => void
  readonly reject: (error: unknown) => void
}

const none: readonly Change[] = []
const finished: Result = { done: true, value: undefined }

/** Where a watcher gets its batches. */
export interface BatchSource {
  readonly published: number
  readonly scheduler: Scheduler
  add(watcher: Watcher, options: WatchOptions): number
  remove(watcher: Watcher): void
  read(watcher: Watcher, from: number, to: number): WatchBatch | Promise<WatchBatch | undefined> | undefined
}

/**
 * One watch: a position in the log, advanced by hand-offs of its lane.
 *
 *   delivered ... the consumer has received everything up to here
 *   next ........ the first revision not yet examined; between the two nothing concerns this watch
 *   reached ..... what has been handed over so far; next..reached waits for the consumer
 */
export class Watcher implements AsyncIterator<WatchBatch, undefined> {
  readonly prefix: string
  readonly progress: boolean
  /** Watchers of the same kind get the same batches. */
  readonly kind: string
  /** How far behind the watch began: its lag may be larger by this. */
  headStart = 0
  delivered = 0

  readonly #hub: BatchSource
  readonly #options: WatchOptions
  readonly #previous: boolean
  #lane: Lane | undefined
  #next = 0
  #reached = 0
  /** A progress notification is due. */
  #due = false
  #state: 'new' | 'running' | 'ended' = 'new'
  #failure: { readonly error: unknown } | undefined
  #waiting: Waiting | undefined
  #reading = false

  constructor(hub: BatchSource, prefix: string, options: WatchOptions) {
    this.#hub = hub
    this.#options = options
    this.prefix = prefix
    this.progress = options.progress ?? false
    this.#previous = options.previous ?? false
    this.kind = `${this.#previous ? 'previous' : 'plain'} ${prefix}`
  }

  next(): Promise<Result> {
    if (this.#waiting)
      return Promise.reject(invalid('a watch has one consumer, which asks for one batch at a time'))
    try {
      if (this.#state === 'new') this.#begin()
      return (
        this.#advance() ??
        new Promise((resolve, reject) => {
          this.#waiting = { resolve, reject }
        })
      )
    } catch (error) {
      this.#end()
      return Promise.reject(error)
    }
  }

  return(): Promise<Result> {
    this.#end()
    return Promise.resolve(finished)
  }

  /** Whether `commit` changed a key under the prefix. */
  wants(commit: Commit): boolean {
    const { prefix } = this
    for (const change of commit.changes) if (keyOf(change).startsWith(prefix)) return true
    return false
  }

  /** The changes of `commit` for this watch, in its form. */
  select(commit: Commit): readonly Change[] {
    const { prefix } = this
    const all = this.#previous ? commit.changes : plainChanges(commit)
    if (all.length === 1) return keyOf(all[0]!).startsWith(prefix) ? all : none
    return all.filter(change => keyOf(change).startsWith(prefix))
  }

  /** Hands over everything up to `revision`, which concerns this watch. */
  reach(revision: number): void {
    this.#lane!.post(() => {
      if (revision > this.#reached) this.#reached = revision
      this.#deliver()
    })
  }

  /** Hands over everything up to `revision` and reports progress even when it contains nothing. */
  reportProgress(revision: number): void {
    this.#lane!.post(() => {
      if (revision > this.#reached) this.#reached = revision
      this.#due = true
      this.#deliver()
    })
  }

  /** The revisions from..to do not concern this watch: unless others wait before them it can skip them. */
  skip(from: number, to: number): void {
    if (this.#next === from) this.#next = to + 1
  }

  /** Ends the watch with `error`. */
  fail(error: unknown): void {
    if (this.#state === 'ended') return
    this.#failure = { error }
    const waiting = this.#waiting
    this.#end()
    if (waiting) {
      this.#failure = undefined
      waiting.reject(error)
    }
  }

  #begin(): void {
    const { signal } = this.#options
    if (signal?.aborted) {
      this.#state = 'ended'
      return
    }
    const from = this.#hub.add(this, this.#options)
    this.#state = 'running'
    this.#lane = this.#hub.scheduler.lane(`watch ${this.prefix}`)
    this.#next = from
    this.delivered = from - 1
    this.#reached = from - 1
    const { published } = this.#hub
    this.headStart = Math.max(0, published - this.delivered)
    if (this.headStart > 0) this.reach(published)
    signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  readonly #onAbort = (): void => {
    this.#waiting?.resolve(finished)
    this.#end()
  }

  #end(): void {
    if (this.#state === 'running') this.#hub.remove(this)
    this.#state = 'ended'
    this.#waiting = undefined
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
  }

  /** Delivers what was handed over to a waiting consumer. */
  #deliver(): void {
    const waiting = this.#waiting
    if (!waiting || this.#reading) return
    try {
      const result = this.#advance()
      if (!result) return
      this.#waiting = undefined
      waiting.resolve(result)
    } catch (error) {
      this.#end()
      waiting.reject(error)
    }
  }

  /** The next batch or the end; undefined when the consumer has to wait. Throws the error that ends the watch. */
  #advance(): Promise<Result> | undefined {
    if (this.#failure) {
      const { error } = this.#failure
      this.#failure = undefined
      throw error
    }
    if (this.#state === 'ended') return Promise.resolve(finished)
    if (this.#next <= this.#reached) {
      const found = this.#hub.read(this, this.#next, this.#reached)
      if (found instanceof Promise) return this.#finishReading(found)
      if (found) return Promise.resolve(this.#show(found))
      this.#next = this.#reached + 1
    }
    if (!this.#due) return undefined
    return Promise.resolve(this.#show({ revision: this.#next - 1, changes: none }))
  }

  async #finishReading(reading: Promise<WatchBatch | undefined>): Promise<Result> {
    this.#reading = true
    try {
      const batch = await reading
      this.#reading = false
      if (this.#state === 'ended') return this.#advance()!
      if (batch && batch.changes.length > 0) return this.#show(batch)
      if (batch) this.#next = batch.revision + 1
      return (await this.#advance()) ?? (await this.next())
    } catch (error) {
      this.#reading = false
      this.#end()
      throw error
    }
  }

  #show(batch: WatchBatch): Result {
    this.delivered = batch.revision
    this.#next = batch.revision + 1
    if (batch.revision >= this.#reached) this.#due = false
    return { done: false, value: batch }
  }
}

function keyOf(change: Change): string {
  return change.type === 'put' ? change.kv.key : change.key
}

/** Built once for all watches without previous values. */
const plain = new WeakMap<Commit, readonly Change[]>()

function plainChanges(commit: Commit): readonly Change[] {
  let changes = plain.get(commit)
  if (!changes) {
    changes = commit.changes.map(change =>
      change.type === 'put'
        ? { type: 'put', kv: change.kv }
        : { type: 'delete', key: change.key, revision: change.revision },
    )
    plain.set(commit, changes)
  }
  return changes
}
