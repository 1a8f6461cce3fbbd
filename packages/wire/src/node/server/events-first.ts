import { TurnBatches } from './turn-batch.ts'

/**
 * The answer to a write follows the watch events that the write has caused when both go out on one connection: a controller that is told
 * of its own write before it is told that it has succeeded need not wait for its cache. Node sends one chunk of a stream after the
 * other, each when the socket has taken the one before, while answers are streams of their own and would overtake.
 */
export class EventsFirst {
  /** Events of this turn. */
  readonly batches: TurnBatches = new TurnBatches()
  /** Chunks of streamed bodies that the socket has not taken. */
  #pending = 0
  #waiting: (() => void)[] = []

  /** A chunk is on its way; to be called back when the socket has taken it. */
  sent(): () => void {
    this.#pending++
    return this.#taken
  }

  /** Calls back at once when nothing is on its way, and never much later: a client that does not read its watch gets answers all the same. */
  after(callback: () => void): void {
    this.batches.flush()
    if (this.#pending === 0) {
      callback()
      return
    }
    if (this.#waiting.push(callback) === 1) setImmediate(() => setImmediate(this.#release))
  }

  readonly #taken = (): void => {
    this.#pending--
    if (this.#pending === 0) this.#release()
  }

  readonly #release = (): void => {
    const callbacks = this.#waiting
    this.#waiting = []
    for (const callback of callbacks) callback()
  }
}

const ofConnection = new WeakMap<object, EventsFirst>()

/** The order of one connection. */
export function eventsFirstOf(connection: object): EventsFirst {
  let order = ofConnection.get(connection)
  if (!order) {
    order = new EventsFirst()
    ofConnection.set(connection, order)
  }
  return order
}
