import type { Fault, FaultName } from '../fault.ts'
import type { RunResult } from '../world/run.ts'

/** Every single fault at every write and watch event of an undisturbed run, the most telling ones first. */
export function singleFaults({ writes, events }: RunResult, only: ReadonlySet<FaultName>): Fault[] {
  const numbers = writes.map(({ number }) => number)
  const resources = [...events.keys()].sort()
  const at = (make: (write: number) => Fault): Fault[] => numbers.map(make)
  const each = (make: (resource: string, event: number) => Fault): Fault[] =>
    resources.flatMap(resource =>
      Array.from({ length: events.get(resource) ?? 0 }, (_, index) => make(resource, index + 1)),
    )
  const all: Fault[] = [
    ...at(write => ({ fault: 'crash', write, when: 'after' })),
    ...at(write => ({ fault: 'lose-response', write })),
    { fault: 'stale-watch', ms: 1_000 },
    { fault: 'stale-watch', ms: 10_000 },
    ...resources.map((resource): Fault => ({ fault: 'stale-watch', ms: 5_000, resource })),
    ...at(write => ({ fault: 'reject', write, status: 409 })),
    ...at(write => ({ fault: 'crash', write, when: 'after', staleBy: 2 })),
    ...at(write => ({ fault: 'crash', write, when: 'before' })),
    ...each((resource, event) => ({ fault: 'hide-events', resource, event, ms: 30_000 })),
    ...at(write => ({ fault: 'reject', write, status: 500 })),
    ...at(write => ({ fault: 'lose-request', write })),
    ...at(write => ({ fault: 'duplicate', write })),
    ...at(write => ({ fault: 'reject', write, status: 429 })),
    ...at(write => ({ fault: 'reject', write, status: 503 })),
    ...at(write => ({ fault: 'reject', write, status: 504 })),
    ...each((resource, event) => ({ fault: 'cut-watch', resource, event })),
    ...at(write => ({ fault: 'pause', write, ms: 20_000 })),
  ]
  return all.filter(({ fault }) => only.has(fault))
}
