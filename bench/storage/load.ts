import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createRealEnv } from '@coxswain/kit'
import { createMemoryStore, type Operation, type Store } from '@coxswain/storage'

export const value: Uint8Array = new Uint8Array(2048).fill(65)
let runs = 0

/** New keys with values of 2 KB, by so many clients, each waiting for its own. */
export async function write(
  store: Store,
  concurrency: number,
  milliseconds: number,
): Promise<{ readonly rate: number; readonly lag: number }> {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  const run = ++runs
  let writes = 0
  const start = performance.now()
  delays.enable()
  const client = async (index: number) => {
    for (let i = 0; performance.now() - start < milliseconds; i++) {
      const key = `/pods/default/pod-${run}-${index}-${i}`
      await store.transact({
        conditions: [{ key, modRevision: 0 }],
        operations: [{ type: 'put', key, value }],
      })
      writes++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, (_, index) => client(index)))
  delays.disable()
  return { rate: (writes / (performance.now() - start)) * 1000, lag: delays.percentile(99) / 1e6 }
}

/** What the disk itself can do: 2 KB appended and synced, one after the other. */
export function syncFile(file: string, milliseconds: number): number {
  const fd = openSync(file, 'w')
  try {
    const start = performance.now()
    let syncs = 0
    while (performance.now() - start < milliseconds) {
      writeSync(fd, value)
      fdatasyncSync(fd)
      syncs++
    }
    return (syncs / (performance.now() - start)) * 1000
  } finally {
    closeSync(fd)
  }
}

/** In milliseconds. */
export function readFileThrough(file: string): number {
  const buffer = new Uint8Array(1024 * 1024)
  const start = performance.now()
  const fd = openSync(file, 'r')
  while (readSync(fd, buffer) > 0);
  closeSync(fd)
  return performance.now() - start
}

/** `count` objects of 2 KB under a hundred namespaces. */
export async function fill(store: Store, count: number): Promise<void> {
  const inFlight = new Set<Promise<unknown>>()
  for (let i = 0; i < count; i += 100) {
    const operations = Array.from({ length: 100 }, (_, j): Operation => {
      const name = `pod-${i + j}-${((i + j) * 7919) % 100_003}`
      return { type: 'put', key: `/pods/namespace-${(i + j) % 100}/${name}`, value }
    })
    const work = store.transact({ operations }).finally(() => inFlight.delete(work))
    inFlight.add(work)
    if (inFlight.size >= 16) await Promise.race(inFlight)
  }
  await Promise.all(inFlight)
}

/** Changes delivered a second, all watches together, while eight clients write to a store that is as fast as can be. */
export async function deliver(watches: number, milliseconds: number): Promise<number> {
  await using store = createMemoryStore({ env: createRealEnv() })
  const stop = new AbortController()
  let delivered = 0
  const watching = Array.from({ length: watches }, async () => {
    for await (const { changes } of store.watch('/pods/', { signal: stop.signal }))
      delivered += changes.length
  })
  const start = performance.now()
  const turn = () => new Promise(resolve => setImmediate(resolve))
  while (performance.now() - start < milliseconds) {
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        store.transact({ operations: [{ type: 'put', key: `/pods/default/pod-${i}`, value }] }),
      ),
    )
    await turn()
  }
  const rate = (delivered / (performance.now() - start)) * 1000
  stop.abort()
  await Promise.all(watching)
  return rate
}
