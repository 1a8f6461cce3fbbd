/** Milliseconds after which a turn of the event loop starts no more work. */
const longestTurn = 10
/** The maximum work of one turn under load. */
const batch = 16
/**
 * Idle turns after a busy one. Each takes a few microseconds, and Node accepts one connection per turn: new
 * connections, health checks among them, get through a handshake in the meantime.
 */
const pauses = 8

/**
 * Shares the event loop. Under low load, work starts at once. When a turn has become long, the
 * rest waits for later turns, so that sockets are served in between; connections take turns then, and one with a
 * hundred requests delays the others by one at a time.
 */
export class Turns {
  /** By connection; the next one comes first. */
  readonly #waiting = new Map<object, (() => void)[]>()
  /** When this turn began; undefined when nothing was started in it. */
  #startedAt: number | undefined
  #count = 0
  /** Whether work has to wait for a later turn. */
  #isActive = false

  /** Calls `work` now, or in a later turn. */
  run(connection: object, work: () => void): void {
    if (!this.#isActive && this.#isShort()) {
      work()
      return
    }
    this.#count++
    const queue = this.#waiting.get(connection)
    if (queue) queue.push(work)
    else this.#waiting.set(connection, [work])
    if (!this.#isActive) this.#schedule()
  }

  #isShort(): boolean {
    const now = performance.now()
    if (this.#startedAt === undefined) {
      this.#startedAt = now
      setImmediate(this.#onTurnOver)
      return true
    }
    return now - this.#startedAt < longestTurn
  }

  readonly #onTurnOver = (): void => {
    const isLong = performance.now() - this.#startedAt! >= longestTurn
    this.#startedAt = undefined
    if (!isLong || this.#isActive) return
    this.#isActive = true
    this.#pause(pauses)
  }

  /** Each piece of work is its own immediate: its consequences are done, and counted, before the next. */
  #schedule(): void {
    this.#isActive = true
    let left = Math.min(batch, this.#count)
    let startedAt = 0
    const step = (): void => {
      const now = performance.now()
      if (startedAt === 0) startedAt = now
      if (now - startedAt < longestTurn) this.#take()?.()
      if (--left === 0) this.#pause(pauses)
    }
    for (let i = left; i > 0; i--) setImmediate(step)
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
