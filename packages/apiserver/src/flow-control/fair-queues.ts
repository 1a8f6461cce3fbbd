import type { Clock, Timer } from '@coxswain/kit'

export interface QueueSettings {
  /** The number of queues; with none, requests that cannot start are rejected. */
  readonly queues: number
  /** How many queues a flow may choose from. */
  readonly handSize: number
  /** The maximum length of a queue. */
  readonly lengthLimit: number
}

export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

/** Called when the request is done. */
export interface Seat {
  readonly release: () => void
}

/** The maximum wait of a request, unless its client disconnects earlier. */
export interface Wait {
  readonly ms: number
  /** Its signal is read only when the request has to wait: most requests never create one. */
  readonly request: { readonly signal: AbortSignal }
}

interface Waiting {
  readonly flow: string
  readonly seats: number
  readonly since: number
  readonly queue: Queue
  settle(result: Seat | Refusal): void
}

interface Queue {
  readonly index: number
  readonly requests: Waiting[]
  /** The virtual time at which the queue's next request would start. */
  start: number
  /** Seats held by requests from this queue. */
  executing: number
}

/** The estimated duration of a request in seconds, until it is known. */
const guess = 60

/**
 * Seats shared fairly between flows. While seats are free no request waits. Otherwise a flow's requests go
 * to the shortest of the few queues dealt to it, and queues are served by the work that was done for each, so that a flow with
 * many requests delays itself and hardly any other.
 */
export class FairQueues {
  readonly #clock: Clock
  readonly #queues: readonly Queue[]
  readonly #settings: QueueSettings
  #limit: number
  #executing = 0
  #waiting = 0
  #waitingSeats = 0
  /** Virtual time: how much work each busy queue should have received by now. */
  #work = 0
  #workAt: number
  #peak = 0

  constructor(clock: Clock, settings: QueueSettings, limit: number) {
    this.#clock = clock
    this.#settings = settings
    this.#limit = limit
    this.#workAt = clock.monotonic()
    this.#queues = Array.from({ length: settings.queues }, (_, index) => ({
      index,
      requests: [],
      start: 0,
      executing: 0,
    }))
  }

  get limit(): number {
    return this.#limit
  }

  get executing(): number {
    return this.#executing
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Queues in use, for the debug pages. */
  get queues(): readonly { index: number; waiting: number; executing: number; start: number }[] {
    return this.#queues.map(({ index, requests, executing, start }) => ({
      index,
      waiting: requests.length,
      executing,
      start,
    }))
  }

  *requests(): Generator<{ queue: number; flow: string; since: number }, void, undefined> {
    for (const { index, requests } of this.#queues)
      for (const { flow, since } of requests) yield { queue: index, flow, since }
  }

  /** The maximum number of requested seats since the last call. */
  takePeak(): number {
    const peak = this.#peak
    this.#peak = this.#executing + this.#waitingSeats
    return peak
  }

  setLimit(limit: number): void {
    this.#advance()
    this.#limit = limit
    this.#dispatch()
  }

  /** Acquires a seat, synchronously where possible; a rejection when the wait ends or cannot begin. */
  enter(flow: string, wanted: number, wait: Wait): Seat | Refusal | Promise<Seat | Refusal> {
    const seats = Math.min(wanted, Math.max(1, this.#limit))
    this.#peak = Math.max(this.#peak, this.#executing + this.#waitingSeats + seats)
    if (this.#waiting === 0 && this.#executing + seats <= this.#limit) return this.#seat(seats, undefined)
    if (this.#queues.length === 0) return 'concurrency-limit'
    this.#advance()
    const queue = this.#chooseQueue(flow)
    if (queue.requests.length >= this.#settings.lengthLimit) return 'queue-full'
    return this.#wait(queue, flow, seats, wait)
  }

  #wait(
    queue: Queue,
    flow: string,
    seats: number,
    { ms, request: { signal } }: Wait,
  ): Promise<Seat | Refusal> {
    return new Promise(resolve => {
      let timer: Timer | undefined
      const leave = (refusal: Refusal) => {
        const at = queue.requests.indexOf(request)
        if (at < 0) return
        queue.requests.splice(at, 1)
        this.#waiting--
        this.#waitingSeats -= seats
        request.settle(refusal)
      }
      const onAbort = () => leave('cancelled')
      const request: Waiting = {
        flow,
        seats,
        since: this.#clock.now(),
        queue,
        settle: result => {
          timer?.cancel()
          signal.removeEventListener('abort', onAbort)
          resolve(result)
        },
      }
      if (queue.requests.length === 0 && queue.executing === 0) queue.start = this.#work
      queue.requests.push(request)
      this.#waiting++
      this.#waitingSeats += seats
      timer = this.#clock.after(ms, () => leave('time-out'))
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      this.#dispatch()
    })
  }

  #seat(seats: number, queue: Queue | undefined): Seat {
    this.#executing += seats
    if (queue) {
      queue.executing += seats
      queue.start += guess * seats
    }
    const startedAt = this.#clock.monotonic()
    let isHeld = true
    return {
      release: () => {
        if (!isHeld) return
        isHeld = false
        this.#advance()
        this.#executing -= seats
        if (queue) {
          queue.executing -= seats
          const took = (this.#clock.monotonic() - startedAt) / 1_000
          queue.start -= (guess - took) * seats
        }
        if (this.#waiting > 0) this.#dispatch()
      },
    }
  }

  /** Serves the queue that received the least; a first request that needs more seats than are free holds up the others. */
  #dispatch(): void {
    while (this.#waiting > 0) {
      let next: Queue | undefined
      for (const queue of this.#queues)
        if (queue.requests.length > 0 && (!next || queue.start < next.start)) next = queue
      const request = next?.requests[0]
      if (!next || !request) return
      if (this.#executing > 0 && this.#executing + request.seats > this.#limit) return
      next.requests.shift()
      this.#waiting--
      this.#waitingSeats -= request.seats
      request.settle(this.#seat(request.seats, next))
    }
  }

  /** Work is done at the rate of the seats in use, for all busy queues together. */
  #advance(): void {
    const now = this.#clock.monotonic()
    const busy = this.#queues.reduce(
      (count, { requests, executing }) => count + (requests.length > 0 || executing > 0 ? 1 : 0),
      0,
    )
    const seats = Math.min(this.#executing + this.#waitingSeats, this.#limit)
    if (busy > 0) this.#work += (((now - this.#workAt) / 1_000) * seats) / busy
    this.#workAt = now
  }

  #chooseQueue(flow: string): Queue {
    let best: Queue | undefined
    let least = Number.POSITIVE_INFINITY
    for (const index of dealHand(flow, this.#queues.length, this.#settings.handSize)) {
      const queue = this.#queues[index]!
      const load = queue.requests.reduce((sum, { seats }) => sum + seats, queue.executing)
      if (load < least) {
        best = queue
        least = load
      }
    }
    return best!
  }
}

/** Deals a flow its queues, always the same, so that two flows seldom share all of theirs. */
export function dealHand(flow: string, queues: number, handSize: number): number[] {
  let low = 0x811c9dc5
  let high = 0xcbf29ce4
  for (let index = 0; index < flow.length; index++) {
    const code = flow.charCodeAt(index)
    low = Math.imul(low ^ code, 0x01000193) >>> 0
    high = Math.imul(high ^ (code + index), 0x01000193) >>> 0
  }
  let entropy = (BigInt(high) << 32n) | BigInt(low)
  const left = Array.from({ length: queues }, (_, index) => index)
  const hand: number[] = []
  for (let card = 0; card < Math.min(handSize, queues); card++) {
    const size = BigInt(left.length)
    for (const item of left.splice(Number(entropy % size), 1)) hand.push(item)
    entropy /= size
  }
  return hand
}
