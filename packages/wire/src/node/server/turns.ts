/** Milliseconds after which one turn of the event loop begins no more work. */
const longestTurn = 10
/** Pieces of work that one turn begins at most: an attempt at each costs something, even where the turn is long before. */
const mostInTurn = 128
/**
 * Turns without work that follow one with. Each takes a few microseconds, and Node accepts one connection a turn: those
 * who come anew, health checks among them, get through a handshake in the meantime.
 */
const pauses = 8

/**
 * Shares the event loop out. While there is little to do, work is begun at once. When one turn has become long, what is
 * left waits for later turns, so that sockets are looked at in between; connections take turns then, and one with a
 * hundred requests delays the others by one at a time.
 */
export class Turns {
  /** By connection; the one whose turn is next comes first. */
  readonly #waiting = new Map<object, (() => void)[]>()
  /** When this turn began; undefined when nothing was begun in it. */
  #startedAt: number | undefined
  /** Milliseconds of this turn that work begun at once has taken. */
  #spent = 0
  #count = 0
  /** Whether work has to wait for a later turn. */
  #isActive = false
  readonly #now: () => number

  /** `now` tells milliseconds that pass evenly. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Calls `work` now, or in a later turn. */
  run(connection: object, work: () => void): void {
    const now = this.#now()
    if (!this.#isActive && this.#isShort(now)) {
      work()
      this.#spent += this.#now() - now
      return
    }
    this.#count++
    const queue = this.#waiting.get(connection)
    if (queue) queue.push(work)
    else this.#waiting.set(connection, [work])
    if (!this.#isActive) this.#schedule()
  }

  #isShort(now: number): boolean {
    if (this.#startedAt === undefined) {
      this.#startedAt = now
      setImmediate(this.#onTurnOver)
      return true
    }
    return now - this.#startedAt < longestTurn
  }

  readonly #onTurnOver = (): void => {
    // What others do in a turn is no reason to pause: a turn full of events to watchers is followed by one with little work.
    const isLong = this.#spent >= longestTurn
    this.#startedAt = undefined
    this.#spent = 0
    if (!isLong || this.#isActive) return
    this.#isActive = true
    this.#pause(pauses)
  }

  /**
   * Begins what waits, until the turn is long. Each piece of work is an immediate of its own: what follows from it is done,
   * and counted, before the next.
   */
  #schedule(): void {
    this.#isActive = true
    let startedAt: number | undefined
    const isShort = () => this.#now() - startedAt! < longestTurn
    const step = (): void => {
      startedAt ??= this.#now()
      if (isShort()) this.#take()?.()
    }
    for (let left = Math.min(mostInTurn, this.#count); left > 0; left--) setImmediate(step)
    setImmediate(() => {
      if (!isShort()) this.#pause(pauses)
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
