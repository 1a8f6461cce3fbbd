/** Milliseconds after which a turn of the event loop starts no more work. */
const longestTurn = 10
/**
 * Milliseconds of work before the end of a turn is looked for: an immediate costs the event loop one more system call, which is
 * noticeable when every request has a turn of its own. What was started before counts for the turn.
 */
const noticeable = 1
/** Milliseconds without work after which a turn is certainly a new one; so much in all is noticeable, too. */
const quiet = 5
/** The maximum work of one turn: even an attempt at each has a cost, once the turn is long. */
const mostInTurn = 128
/**
 * Idle turns after a busy one. Each takes a few microseconds, and Node accepts one connection per turn: new
 * connections, health checks among them, get through a handshake in the meantime.
 */
const pauses = 8

/** Both in milliseconds. */
export interface TurnClocks {
  /** Time that passes evenly; looked at twice for each piece of work. */
  now(): number
  /** Processor time of this thread; it costs a system call. */
  processorTime(): number
}

const realClocks: TurnClocks = {
  now: () => performance.now(),
  processorTime() {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  },
}

/** One turn. It is long by processor time, which is asked for only when time has passed: on a busy machine a thread also waits for a core. */
class Turn {
  readonly #clocks: TurnClocks
  #startedAt: number
  #usedBefore: number

  constructor(clocks: TurnClocks, now: number) {
    this.#clocks = clocks
    this.#startedAt = now
    this.#usedBefore = clocks.processorTime()
  }

  isNoticeable(now: number): boolean {
    return now - this.#startedAt >= quiet
  }

  isLong(now: number): boolean {
    if (now - this.#startedAt < longestTurn) return false
    const used = this.used()
    this.#startedAt = now - used
    return used >= longestTurn
  }

  /** Its processor time, with that of others in the turn. */
  used(): number {
    return this.#clocks.processorTime() - this.#usedBefore
  }
}

/**
 * Shares the event loop. Under low load, work starts at once. When a turn has become long, the
 * rest waits for later turns, so that sockets are served in between; connections take turns then, and one with a
 * hundred requests delays the others by one at a time.
 */
export class Turns {
  /** By connection; the next one comes first. */
  readonly #waiting = new Map<object, (() => void)[]>()
  /** This turn, counted from its beginning or from less than {@link quiet} before it. */
  #turn: Turn
  /** When work was last started. */
  #lastAt = Number.NEGATIVE_INFINITY
  /** Whether an immediate tells the end of this turn. */
  #isMarked = false
  /** Milliseconds of this turn spent in work that was started at once. */
  #spent = 0
  #count = 0
  /** Whether work has to wait for a later turn. */
  #isActive = false
  readonly #clocks: TurnClocks

  constructor(clocks: TurnClocks = realClocks) {
    this.#clocks = clocks
    this.#turn = new Turn(clocks, clocks.now())
  }

  /** Calls `work` now, or in a later turn. */
  run(connection: object, work: () => void): void {
    const now = this.#clocks.now()
    if (!this.#isActive && this.#isShort(now)) {
      work()
      this.#spent += this.#clocks.now() - now
      if (this.#spent >= noticeable) this.#mark()
      return
    }
    this.#count++
    const queue = this.#waiting.get(connection)
    if (queue) queue.push(work)
    else this.#waiting.set(connection, [work])
    if (!this.#isActive) this.#schedule()
  }

  #isShort(now: number): boolean {
    if (!this.#isMarked && now - this.#lastAt > quiet) {
      this.#turn = new Turn(this.#clocks, now)
      this.#spent = 0
    }
    this.#lastAt = now
    if (this.#turn.isNoticeable(now)) this.#mark()
    return !this.#turn.isLong(now)
  }

  #mark(): void {
    if (this.#isMarked) return
    this.#isMarked = true
    setImmediate(this.#onTurnOver)
  }

  readonly #onTurnOver = (): void => {
    // What others do in a turn is no reason to pause: a turn full of events to watchers is followed by one with little work.
    const isLong = this.#spent >= longestTurn && this.#turn.used() >= longestTurn
    this.#isMarked = false
    this.#lastAt = Number.NEGATIVE_INFINITY
    this.#spent = 0
    if (!isLong || this.#isActive) return
    this.#isActive = true
    this.#pause(pauses)
  }

  /**
   * Starts waiting work until the turn is long. Each piece of work is its own immediate: its consequences are done, and
   * counted, before the next.
   */
  #schedule(): void {
    this.#isActive = true
    let turn: Turn | undefined
    const isLong = () => turn?.isLong(this.#clocks.now())
    const step = (): void => {
      turn ??= new Turn(this.#clocks, this.#clocks.now())
      if (!isLong()) this.#take()?.()
    }
    for (let left = Math.min(mostInTurn, this.#count); left > 0; left--) setImmediate(step)
    setImmediate(() => {
      if (isLong()) this.#pause(pauses)
      else if (this.#count > 0) this.#schedule()
      else this.#isActive = false
    })
  }

  #pause(left: number): void {
    if (left > 0) setImmediate(() => this.#pause(left - 1))
    else if (this.#count > 0) this.#schedule()
    else this.#isActive = false
  }

  #take(): (() => void) | undefined {
    for (const [connection, queue] of this.#waiting) {
      const work = queue.shift()
      this.#count--
      this.#waiting.delete(connection)
      if (queue.length > 0) this.#waiting.set(connection, queue)
      return work
    }
    return undefined
  }
}
