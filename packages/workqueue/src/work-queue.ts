import type { Clock, Timer } from '@coxswain/kit'
import { createEntry, type Entry } from './internal/entry.ts'
import { createFairOrder, createFifoOrder, createPriorityOrder, type Order } from './internal/order.ts'
import { Waiting } from './internal/waiting.ts'
import { noMetrics, type QueueMetrics } from './metrics.ts'
import { createExponentialLimiter, type RateLimiter } from './rate-limiter.ts'

/** Options of a {@link WorkQueue}. */
export interface WorkQueueOptions<T> {
  readonly clock: Clock
  /**
   * Which ready item is next. `fifo`: in the order of arrival. `priority`: by priority, then in the order of arrival; one in
   * sixteen is of the lowest priority, to prevent starvation. `fairBy`: flows (a namespace, a tenant) take turns, and items of
   * one flow are in order. @default 'priority'
   */
  readonly order?: 'fifo' | 'priority' | { readonly fairBy: (item: T) => string }
  /** Used by `addRateLimited`. @default per item, 5 ms doubling to 1000 s */
  readonly rateLimiter?: RateLimiter<T>
  /** @default none */
  readonly metrics?: QueueMetrics
}

/** How an item is added. */
export interface AddOptions {
  /** @default 0 */
  readonly priority?: number
  /** Milliseconds until the item is ready. @default 0 */
  readonly after?: number
}

/**
 * A queue of items to process, each at most once at a time.
 *
 *   add ──> waiting (until due) ──> ready ──get──> in flight ──done──> removed, or ready if it was added meanwhile
 *
 * - However often an item is added before a worker gets it, it is processed once: with the highest of the priorities
 *   and after the shortest of the delays that were requested.
 * - An item added while it is in flight is processed again, after `done` and never concurrently.
 * - Items are compared as the keys of a `Map` are: use strings.
 */
export class WorkQueue<T> {
  readonly #clock: Clock
  readonly #limiter: RateLimiter<T>
  readonly #metrics: QueueMetrics
  /** The clock is read only for metrics: reading it is half the cost of an item. */
  readonly #isTimed: boolean
  /** All entries: those that are waiting, ready or in flight. */
  readonly #entries = new Map<T, Entry<T>>()
  /** Entries that are ready and not in flight. */
  readonly #ready: Order<T>
  /** Entries that are not ready yet (an entry may be in flight meanwhile). */
  readonly #waiting = new Waiting<T>()
  /** Idle workers, longest-waiting first. Empty whenever an item is ready. */
  readonly #workers: ((item: T | undefined) => void)[] = []
  #readyCount = 0
  #inFlightCount = 0
  /** Armed for the first of `#waiting`. */
  #timer: Timer | undefined
  #timerDue = Number.POSITIVE_INFINITY
  #shuttingDown = false
  #onDrained: (() => void)[] = []

  constructor(options: WorkQueueOptions<T>) {
    const { clock, order = 'priority', rateLimiter, metrics = noMetrics } = options
    this.#clock = clock
    this.#limiter = rateLimiter ?? createExponentialLimiter()
    this.#metrics = metrics
    this.#isTimed = metrics !== noMetrics
    this.#ready =
      order === 'fifo'
        ? createFifoOrder()
        : order === 'priority'
          ? createPriorityOrder()
          : createFairOrder(order.fairBy)
  }

  /** The number of ready items. */
  get size(): number {
    return this.#readyCount
  }

  /** The number of items in flight. */
  get inFlight(): number {
    return this.#inFlightCount
  }

  /** The number of items that become ready later. */
  get waiting(): number {
    return this.#waiting.size
  }

  get isShuttingDown(): boolean {
    return this.#shuttingDown
  }

  /** Queues `item`. Ignored once the queue is shutting down. */
  add(item: T, options?: AddOptions): void {
    if (this.#shuttingDown) return
    const priority = options?.priority ?? 0
    const after = options?.after ?? 0
    let entry = this.#entries.get(item)
    if (!entry) {
      entry = createEntry(item)
      this.#entries.set(item, entry)
    }
    if (entry.wanted) this.#raise(entry, priority)
    else if (after > 0) this.#wait(entry, this.#clock.monotonic() + after, priority)
    else this.#want(entry, priority)
  }

  /** Queues `item` when the rate limiter allows it. Returns the delay in milliseconds. */
  addRateLimited(item: T, options?: AddOptions): number {
    if (this.#shuttingDown) return Number.POSITIVE_INFINITY
    this.#metrics.retried()
    const after = Math.max(options?.after ?? 0, this.#limiter.when(item))
    this.add(item, { priority: options?.priority ?? 0, after })
    return after
  }

  /** Resets the rate limiter for `item`. */
  forget(item: T): void {
    this.#limiter.forget(item)
  }

  /** How often `item` was added through the rate limiter since it was last forgotten. */
  retries(item: T): number {
    return this.#limiter.retries(item)
  }

  /** The priority with which `item` was handed out; 0 if it is not in flight. */
  priorityOf(item: T): number {
    const entry = this.#entries.get(item)
    return entry?.inFlight ? entry.givenPriority : 0
  }

  /** The next item, if one is ready. The caller must call `done` for it. */
  take(): T | undefined {
    const entry = this.#ready.pop()
    return entry && this.#handOut(entry)
  }

  /**
   * Resolves with the next item. The caller must call `done` for it. Undefined when the queue is shut down and empty, or `signal`
   * aborts.
   */
  get(signal?: AbortSignal): Promise<T | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined)
    const entry = this.#ready.pop()
    if (entry) return Promise.resolve(this.#handOut(entry))
    if (this.#shuttingDown) return Promise.resolve(undefined)
    return new Promise(resolve => {
      if (!signal) return this.#workers.push(resolve)
      const worker = (item: T | undefined): void => {
        signal.removeEventListener('abort', onAbort)
        resolve(item)
      }
      const onAbort = (): void => {
        this.#workers.splice(this.#workers.indexOf(worker), 1)
        resolve(undefined)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      return this.#workers.push(worker)
    })
  }

  /** The caller has finished `item`, which it got from `get` or `take`. */
  done(item: T): void {
    const entry = this.#entries.get(item)
    if (!entry?.inFlight) return
    entry.inFlight = false
    this.#inFlightCount--
    if (this.#isTimed) this.#metrics.finished((this.#clock.monotonic() - entry.startedAt) / 1000)
    if (entry.wanted) this.#makeReady(entry)
    else if (entry.heapIndex < 0) this.#entries.delete(item)
    this.#checkDrained()
  }

  /**
   * Accepts no more items and drops those that wait. Workers get what is ready, then undefined.
   * @see shutDownWithDrain
   */
  shutDown(): void {
    if (this.#shuttingDown) return
    this.#shuttingDown = true
    this.#timer?.cancel()
    this.#timer = undefined
    for (const entry of [...this.#waiting]) {
      this.#waiting.remove(entry)
      if (!entry.wanted && !entry.inFlight) this.#entries.delete(entry.item)
    }
    for (const worker of this.#workers.splice(0)) worker(undefined)
    this.#checkDrained()
  }

  /** Shuts down, and resolves when workers have finished everything that was ready or in flight. */
  shutDownWithDrain(): Promise<void> {
    this.shutDown()
    return new Promise(resolve => {
      this.#onDrained.push(resolve)
      this.#checkDrained()
    })
  }

  /** Seconds of unfinished work in flight, summed over all workers; 0 for a queue without `metrics`, which records no times. */
  unfinishedWork(): number {
    return this.#work((total, seconds) => total + seconds)
  }

  /** Seconds that the longest-running worker has been busy; 0 for a queue without `metrics`. */
  longestWork(): number {
    return this.#work(Math.max)
  }

  #work(combine: (a: number, b: number) => number): number {
    if (!this.#isTimed) return 0
    const now = this.#clock.monotonic()
    let result = 0
    for (const entry of this.#entries.values()) {
      if (entry.inFlight) result = combine(result, (now - entry.startedAt) / 1000)
    }
    return result
  }

  #raise(entry: Entry<T>, priority: number): void {
    if (priority <= entry.priority) return
    const before = entry.priority
    entry.priority = priority
    if (!entry.list) return
    this.#ready.raise(entry)
    this.#metrics.depthChanged(before, -1)
    this.#metrics.depthChanged(priority, 1)
  }

  #wait(entry: Entry<T>, due: number, priority: number): void {
    if (entry.heapIndex < 0) {
      entry.priority = priority
      this.#waiting.push(entry, due)
    } else {
      if (priority > entry.priority) entry.priority = priority
      if (due < entry.due) this.#waiting.hasten(entry, due)
    }
    this.#arm()
  }

  #want(entry: Entry<T>, priority: number): void {
    if (entry.heapIndex < 0) entry.priority = priority
    else {
      this.#waiting.remove(entry)
      if (priority > entry.priority) entry.priority = priority
    }
    entry.wanted = true
    if (this.#isTimed) {
      entry.addedAt = this.#clock.monotonic()
      this.#metrics.added(entry.priority)
    }
    if (!entry.inFlight) this.#makeReady(entry)
  }

  #makeReady(entry: Entry<T>): void {
    this.#readyCount++
    this.#metrics.depthChanged(entry.priority, 1)
    const worker = this.#workers.shift()
    if (worker) worker(this.#handOut(entry))
    else this.#ready.push(entry)
  }

  #handOut(entry: Entry<T>): T {
    this.#readyCount--
    entry.wanted = false
    entry.inFlight = true
    this.#inFlightCount++
    entry.givenPriority = entry.priority
    if (this.#isTimed) {
      const now = this.#clock.monotonic()
      entry.startedAt = now
      this.#metrics.depthChanged(entry.priority, -1)
      this.#metrics.started((now - entry.addedAt) / 1000)
    }
    return entry.item
  }

  #arm(): void {
    const first = this.#waiting.first
    if (!first || (this.#timer && this.#timerDue <= first.due)) return
    this.#timer?.cancel()
    this.#timerDue = first.due
    this.#timer = this.#clock.after(first.due - this.#clock.monotonic(), () => this.#release())
  }

  #release(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    for (let entry = this.#waiting.first; entry && entry.due <= now; entry = this.#waiting.first) {
      this.#want(entry, entry.priority)
    }
    this.#arm()
  }

  #checkDrained(): void {
    if (!this.#shuttingDown || this.#readyCount > 0 || this.#inFlightCount > 0) return
    for (const resolve of this.#onDrained.splice(0)) resolve()
  }
}
