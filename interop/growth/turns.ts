/** What an amount of work took of this thread. */
export interface Effort {
  /** Milliseconds of processor time altogether. */
  readonly total: number
  /** The longest stretch of it during which nothing else had a turn. */
  readonly longestTurn: number
}

function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/**
 * Measures processor time: a machine that does something else meanwhile does not make it longer. A turn is a round of the
 * event loop, seen by a callback in each.
 */
export async function measureEffort(work: () => Promise<unknown>): Promise<Effort> {
  await nextRound()
  const started = processorTime()
  let longestTurn = 0
  let last = started
  let isDone = false
  const look = (): void => {
    const now = processorTime()
    longestTurn = Math.max(longestTurn, now - last)
    last = now
    if (!isDone) setImmediate(look)
  }
  setImmediate(look)
  try {
    await work()
  } finally {
    isDone = true
  }
  await nextRound()
  return { total: last - started, longestTurn }
}

function nextRound(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** What `measureSlowness` takes on the machine that the limits are meant for. */
const calibration = 8

/** How much slower than that this machine is now: caches and cores are shared with whatever else runs. */
export function measureSlowness(): number {
  const member = { name: 'x', value: 'y'.repeat(40), list: [1, 2, 3], nested: { a: 'b', c: 'd' } }
  const text = JSON.stringify(Array.from({ length: 10_000 }, () => member))
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 4; attempt++) {
    const before = processorTime()
    JSON.stringify(JSON.parse(text))
    best = Math.min(best, processorTime() - before)
  }
  return Math.max(1, best / calibration)
}
