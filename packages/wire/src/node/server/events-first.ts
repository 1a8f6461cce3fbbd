import { TurnBatches } from './turn-batch.ts'

/**
 * The response to a write follows the watch events that the write caused when both are sent on one connection: a controller that sees
 * its own write before the response need not wait for its cache. Node sends the chunks of a stream one after the
 * other, each when the socket has accepted the one before, while responses are separate streams and would overtake.
 */
export class EventsFirst {
  /** Events of this turn. */
  readonly batches: TurnBatches = new TurnBatches()
  /** Chunks of streamed bodies that the socket has not accepted yet. */
  #pending = 0
  #waiting: (() => void)[] = []

  /** Records a chunk in flight; call the result when the socket has accepted it. */
  sent(): () => void {
    this.#pending++
    return this.#taken
  }

  /** Calls back at once when nothing is in flight, and never much later: a client that does not read its watch still gets responses. */
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
