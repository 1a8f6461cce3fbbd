import { type Clock, requireDelay, sleepWith, type Timer } from './clock.ts'
import type { Env } from './env.ts'
import { type Logger, silentLogger } from './logger.ts'
import { createSeededRandom, type Random } from './random.ts'
import type { Lane, Scheduler } from './scheduler.ts'
import { UndrivenWatch } from './undriven.ts'

/** Options of a {@link VirtualWorld}. */
export interface VirtualWorldOptions {
  /** Decides the order of hand-offs and every random number. @default 1 */
  readonly seed?: number
  /** What the clock shows at first, in milliseconds since the epoch. @default 2030-01-01T00:00:00Z */
  readonly start?: number
  /** Called for every hand-off and timer as it is taken: the event log of the run. */
  readonly onStep?: (record: StepRecord) => void
  /** Steps without the clock moving after which a live-lock is reported. @default 1000000 */
  readonly stepLimit?: number
  /** Creates the logger, given the clock for timestamps. @default silent */
  readonly log?: (clock: Clock) => Logger
}

/** A hand-off or timer that the world has run. */
export interface StepRecord {
  readonly time: number
  readonly label: string
}

/** A periodic timer keeps a world alive forever; after thirty days a promise counts as stuck. */
const longestRun = 30 * 24 * 3_600_000

const defaultStart = Date.UTC(2030, 0, 1)

interface PendingTimer {
  readonly due: number
  readonly order: number
  readonly callback: () => void
  /** Its place in the heap; -1 once it has run or was cancelled. */
  at: number
}

/** The pending hand-offs of one lane, oldest first. A lone step is a lane of its own. */
interface PendingLane {
  readonly label: string
  readonly actions: (() => void)[]
}

/**
 * A world without real time: the clock moves only when driven, hand-offs are taken one at a time in an order that the seed
 * decides, and between two of them all promise work is drained. Code in it may await promises, this world's clock and its
 * scheduler, and nothing else; then two runs from one seed are identical.
 */
export class VirtualWorld implements Env {
  readonly clock: Clock
  readonly random: Random
  readonly scheduler: Scheduler
  readonly log: Logger

  readonly #order: Random
  readonly #onStep: ((record: StepRecord) => void) | undefined
  /** Lanes with pending hand-offs. The order has no meaning. */
  readonly #ready: PendingLane[] = []
  /** A binary heap by (due, order). */
  readonly #timers: PendingTimer[] = []
  readonly #start: number
  readonly #stepLimit: number
  #elapsed = 0
  #timerCount = 0
  #driving: Promise<void> | undefined
  readonly #undriven = new UndrivenWatch(() => this.#describeWaiting())

  constructor(options: VirtualWorldOptions = {}) {
    const { seed = 1, start = defaultStart, stepLimit = 1_000_000, onStep } = options
    this.#start = start
    this.#stepLimit = stepLimit
    this.#onStep = onStep
    this.#order = createSeededRandom(seed)
    this.random = createSeededRandom(seed + 0x5eed)
    const after = (ms: number, callback: () => void) => this.#after(ms, callback)
    this.clock = {
      now: () => this.#start + this.#elapsed,
      monotonic: () => this.#elapsed,
      after,
      sleep: (ms, sleepOptions) => sleepWith(after, ms, sleepOptions),
    }
    this.scheduler = {
      step: label => new Promise(resolve => this.#push({ label, actions: [resolve] })),
      lane: label => this.#lane(label),
    }
    this.log = options.log?.(this.clock) ?? silentLogger
  }

  /** Whether there is nothing to do until a timer is due (promise work not counted: `settle` drains it). */
  get idle(): boolean {
    return this.#ready.length === 0 && !(this.#timers[0] && this.#timers[0].due <= this.#elapsed)
  }

  /** When the next timer is due, in milliseconds from now; undefined if there is none. */
  get nextTimer(): number | undefined {
    const timer = this.#timers[0]
    return timer && Math.max(0, timer.due - this.#elapsed)
  }

  /** Settles when the call that drives this world now has ended; undefined while no call does. */
  get driven(): Promise<void> | undefined {
    return this.#driving
  }

  /** Runs until nothing is left to do at the present time. */
  settle(): Promise<void> {
    return this.#drive(() => this.#settle())
  }

  /** Moves the clock by `ms`, running each timer when it is due and settling in between. */
  advance(ms: number): Promise<void> {
    return this.#drive(() => this.#advanceTo(this.#elapsed + ms))
  }

  /**
   * Settles, then moves from timer to timer until `condition` holds. Throws when it still does not after `within`
   * milliseconds of this world's time.
   */
  runUntil(condition: () => boolean, within = 3_600_000): Promise<void> {
    return this.#drive(async () => {
      const started = this.#elapsed
      const deadline = started + within
      await this.#settle()
      while (!condition()) {
        const timer = this.#timers[0]
        if (!timer || timer.due > deadline) {
          const why = timer ? `within ${within} ms` : 'and nothing is left to run'
          throw new Error(
            `the condition does not hold after ${this.#elapsed - started} ms of virtual time, ${why}`,
          )
        }
        await this.#advanceTo(timer.due)
      }
    })
  }

  /**
   * Drives the world until `promise` settles, and settles likewise. Throws when nothing is left that could settle it,
   * or when it has not after `within` milliseconds of this world's time.
   */
  async run<T>(promise: Promise<T>, within: number = longestRun): Promise<T> {
    let settled = false
    const mark = () => {
      settled = true
    }
    promise.then(mark, mark)
    await this.runUntil(() => settled, within)
    return promise
  }

  async #drive(work: () => Promise<void>): Promise<void> {
    if (this.#driving) throw new Error('the world is already being driven: await the earlier call first')
    const ended = Promise.withResolvers<void>()
    this.#driving = ended.promise
    this.#undriven.disarm()
    try {
      await work()
    } finally {
      this.#driving = undefined
      ended.resolve()
    }
  }

  #settle(): Promise<void> {
    let taken = 0
    return drainBetween(() => {
      if (!this.#takeStep()) return false
      if (taken++ === this.#stepLimit) throw new Error(`live-lock: ${taken} steps without time passing`)
      return true
    })
  }

  #advanceTo(target: number): Promise<void> {
    let taken = 0
    return drainBetween(() => {
      if (this.#takeStep()) {
        if (taken++ === this.#stepLimit) throw new Error(`live-lock: ${taken} steps without time passing`)
        return true
      }
      const timer = this.#timers[0]
      const isLast = !timer || timer.due > target
      this.#elapsed = Math.max(this.#elapsed, isLast ? target : timer.due)
      taken = 0
      return !isLast
    })
  }

  /**
   * Takes one hand-off or one due timer: the seed decides which. Due timers keep the order of their time and creation
   * among themselves, as if they were one more lane.
   */
  #takeStep(): boolean {
    const timer = this.#timers[0]
    const isDue = timer !== undefined && timer.due <= this.#elapsed
    const choices = this.#ready.length + (isDue ? 1 : 0)
    if (choices === 0) return false
    const index = this.#order.below(choices)
    const lane = this.#ready[index]
    if (!lane) {
      this.#onStep?.({ time: this.clock.now(), label: 'timer' })
      removeAt(this.#timers, 0)
      timer!.callback()
      return true
    }
    const action = lane.actions.shift()!
    if (lane.actions.length === 0) {
      const last = this.#ready.pop()!
      if (last !== lane) this.#ready[index] = last
    }
    this.#onStep?.({ time: this.clock.now(), label: lane.label })
    action()
    return true
  }

  #push(lane: PendingLane): void {
    this.#ready.push(lane)
    if (!this.#driving) this.#undriven.arm()
  }

  #describeWaiting(): string {
    const labels = this.#ready.map(({ label }) => label)
    return labels.length > 0
      ? `${labels.length} to be handed over, among them ${labels[0]}`
      : `${this.#timers.length} timers`
  }

  #lane(label: string): Lane {
    const lane: PendingLane = { label, actions: [] }
    const post = (action: () => void) => {
      if (lane.actions.push(action) === 1) this.#push(lane)
    }
    return { post, step: () => new Promise(resolve => post(resolve)) }
  }

  #after(ms: number, callback: () => void): Timer {
    requireDelay(ms)
    if (ms === Number.POSITIVE_INFINITY) return { cancel() {} } // never due: nothing to wait for
    const timer = { due: this.#elapsed + Math.max(0, ms), order: this.#timerCount++, callback, at: -1 }
    pushHeap(this.#timers, timer)
    if (!this.#driving) this.#undriven.arm()
    return { cancel: () => removeAt(this.#timers, timer.at) }
  }
}

/**
 * The most turns that are queued together: Node.js drains all promise callbacks between two of them without polling for I/O, which
 * makes a step several times faster.
 */
const largestBatch = 64

/** Queues a macrotask: it runs when no promise callback is left to run. */
const queueTurn: (turn: () => void) => void =
  typeof setImmediate === 'function'
    ? turn => void setImmediate(turn)
    : turn => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => {
          port1.close()
          turn()
        }
        port2.postMessage(undefined)
      }

/** Calls `step` again and again, each time when no promise callback is left to run, until it returns false. */
function drainBetween(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let queued = 0
    let batchSize = 1
    let isDone = false
    const queueBatch = () => {
      for (queued = 0; queued < batchSize; queued++) queueTurn(turn)
      batchSize = Math.min(batchSize * 2, largestBatch)
    }
    const turn = () => {
      if (isDone) return
      queued--
      try {
        isDone = !step()
      } catch (error) {
        isDone = true
        reject(error)
        return
      }
      if (isDone) resolve()
      else if (queued === 0) queueBatch()
    }
    queueBatch()
  })
}

const isBefore = (a: PendingTimer, b: PendingTimer) => a.due < b.due || (a.due === b.due && a.order < b.order)

function pushHeap(heap: PendingTimer[], timer: PendingTimer): void {
  timer.at = heap.push(timer) - 1
  siftUp(heap, heap.length - 1)
}

/** Does nothing for an `index` of -1. */
function removeAt(heap: PendingTimer[], index: number): void {
  if (index < 0) return
  const last = heap.length - 1
  swap(heap, index, last)
  heap.pop()!.at = -1
  if (index === last) return
  siftUp(heap, index)
  siftDown(heap, index)
}

function siftUp(heap: PendingTimer[], from: number): void {
  for (let at = from; at > 0; ) {
    const parent = (at - 1) >> 1
    if (!isBefore(heap[at]!, heap[parent]!)) return
    swap(heap, at, parent)
    at = parent
  }
}

function siftDown(heap: PendingTimer[], from: number): void {
  for (let at = from; ; ) {
    const left = 2 * at + 1
    if (left >= heap.length) return
    const right = left + 1
    const child = right < heap.length && isBefore(heap[right]!, heap[left]!) ? right : left
    if (!isBefore(heap[child]!, heap[at]!)) return
    swap(heap, at, child)
    at = child
  }
}

function swap(heap: PendingTimer[], a: number, b: number): void {
  const held = heap[a]!
  heap[a] = heap[b]!
  heap[b] = held
  heap[a].at = a
  held.at = b
}
