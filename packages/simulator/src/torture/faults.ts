import type { Fault } from '../fault.ts'

/** The faults that a server and an operating system can inject into a process, whatever it is written in. */
export type TortureFault = Extract<Fault, { readonly fault: TortureFaultName }>

/** The name of a {@link TortureFault}. */
export type TortureFaultName =
  | 'crash'
  | 'lose-response'
  | 'reject'
  | 'stale-watch'
  | 'hide-events'
  | 'lose-request'
  | 'duplicate'
  | 'cut-watch'
  | 'pause'

/** The names of all faults of a process, in the order in which they are tried. */
export const tortureFaultNames: readonly TortureFaultName[] = [
  'crash',
  'lose-response',
  'reject',
  'stale-watch',
  'hide-events',
  'lose-request',
  'duplicate',
  'cut-watch',
  'pause',
]

/** How long a watch is late, hidden or a process paused, in real milliseconds: a process does not live on a virtual clock. */
const lateness = 1_500
const pauseTime = 3_000

/** Where faults can happen: at the writes and watch events of an undisturbed run. */
export interface Opportunities {
  readonly writes: number
  readonly events: ReadonlyMap<string, number>
}

/** Every single fault, the most telling ones first. */
export function singleTortureFaults(
  { writes, events }: Opportunities,
  only: ReadonlySet<TortureFaultName>,
): TortureFault[] {
  const resources = [...events.keys()].sort()
  const places = resources.flatMap(resource =>
    numbers(events.get(resource)).map(event => ({ resource, event })),
  )
  const at = (make: (write: number) => TortureFault): TortureFault[] => numbers(writes).map(make)
  const all: TortureFault[] = [
    ...at(write => ({ fault: 'crash', write, when: 'after' })),
    ...at(write => ({ fault: 'lose-response', write })),
    ...at(write => ({ fault: 'reject', write, status: 409 })),
    ...at(write => ({ fault: 'reject', write, status: 500 })),
    { fault: 'stale-watch', ms: lateness },
    ...resources.map((resource): TortureFault => ({ fault: 'stale-watch', ms: lateness, resource })),
    ...at(write => ({ fault: 'crash', write, when: 'before' })),
    ...at(write => ({ fault: 'crash', write, when: 'after', staleBy: 2 })),
    ...places.map((place): TortureFault => ({ fault: 'hide-events', ...place, ms: lateness })),
    ...at(write => ({ fault: 'lose-request', write })),
    ...at(write => ({ fault: 'duplicate', write })),
    ...at(write => ({ fault: 'reject', write, status: 503 })),
    ...places.map((place): TortureFault => ({ fault: 'cut-watch', ...place })),
    ...at(write => ({ fault: 'pause', write, ms: pauseTime })),
  ]
  return all.filter(({ fault }) => only.has(fault as TortureFaultName))
}

/** From 1 to `count`. */
function numbers(count = 0): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
