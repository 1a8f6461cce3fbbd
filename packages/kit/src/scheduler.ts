/**
 * Where one part of the system hands something to another: a request, a response chunk, a commit, a batch of watch
 * events. In production a hand-off is direct. In simulation each is a step, and the seed decides which comes next.
 */
export interface Scheduler {
  /** Resolves when the receiver may go on. Steps that wait at the same time may be taken in any order. */
  step(label: string): Promise<void>
  /** A sequence of hand-offs that keep their order among themselves: one stream, one connection, one log. */
  lane(label: string): Lane
}

/** Hand-offs that keep their order. */
export interface Lane {
  /** Resolves after every earlier hand-off of this lane. */
  step(): Promise<void>
  /** Calls `action` in its turn; synchronously in production. `action` must not throw. */
  post(action: () => void): void
}

const done = Promise.resolve()
const directLane: Lane = { step: () => done, post: action => action() }

/** Every hand-off happens at once. */
export const directScheduler: Scheduler = { step: () => done, lane: () => directLane }
