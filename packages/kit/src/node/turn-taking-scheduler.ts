import type { Lane, Scheduler } from '../scheduler.ts'

/** Milliseconds of hand-offs between two polls of sockets. */
const sliceLength = 1
/** The most hand-offs in one slice. */
const sliceSize = 16

/**
 * Runs hand-offs in order, a few at a time, so that sockets are served in between however busy the parts of this process are.
 */
export function createTurnTakingScheduler(): Scheduler {
  const waiting: (() => void)[] = []
  let armed = 0
  let sliceEnd = 0
  const arm = () => {
    sliceEnd = 0
    for (armed = 0; armed < Math.min(sliceSize, waiting.length); armed++) setImmediate(takeTurn)
  }
  // The effects of an action are complete before the next one: promises settle between two immediates.
  const takeTurn = () => {
    armed--
    if (sliceEnd === 0) sliceEnd = performance.now() + sliceLength
    if (performance.now() < sliceEnd) waiting.shift()?.()
    if (armed === 0 && waiting.length > 0) arm()
  }
  const enqueue = (action: () => void) => {
    waiting.push(action)
    if (armed === 0) arm()
  }
  const step = () => new Promise<void>(enqueue)
  return { step, lane: () => createLane(enqueue) }
}

function createLane(enqueue: (action: () => void) => void): Lane {
  let ahead = 0
  const enter = (action: () => void) => {
    ahead++
    enqueue(() => {
      ahead--
      action()
    })
  }
  return {
    step: () => new Promise(enter),
    // No wait is needed, unless this lane has earlier hand-offs.
    post: action => (ahead === 0 ? action() : enter(action)),
  }
}
