import type { Fault, FaultName } from '../fault.ts'
import type { RunResult } from '../world/run.ts'

/** Every single fault at every write, read, watch event, Pod and call of an undisturbed run, the most telling ones first. */
export function singleFaults(
  { writes, events, counts, plan }: RunResult,
  { only, replicas }: { readonly only: ReadonlySet<FaultName>; readonly replicas: number },
): Fault[] {
  const numbers = writes.map(({ number }) => number)
  const resources = [...events.keys()].sort()
  const at = (make: (write: number) => Fault): Fault[] => numbers.map(make)
  const times = (count: number, make: (number: number) => Fault): Fault[] =>
    Array.from({ length: count }, (_, index) => make(index + 1))
  const each = (make: (resource: string, event: number) => Fault): Fault[] =>
    resources.flatMap(resource => times(events.get(resource) ?? 0, event => make(resource, event)))
  const isReplicated = (plan.replicas ?? replicas) > 1
  const all: Fault[] = [
    ...at(write => ({ fault: 'crash', write, when: 'after' })),
    { fault: 'stale-watch', ms: 1_000 },
    { fault: 'stale-watch', ms: 10_000 },
    ...resources.map((resource): Fault => ({ fault: 'stale-watch', ms: 5_000, resource })),
    ...at(write => ({ fault: 'lose-response', write })),
    ...at(write => ({ fault: 'reject', write, status: 409 })),
    ...(isReplicated ? at(write => ({ fault: 'pause', write, ms: 40_000 })) : []),
    ...(isReplicated ? at(write => ({ fault: 'lose-lease', write, ms: 30_000 })) : []),
    ...times(counts.calls, call => ({ fault: 'service', call, how: 'lose-response' })),
    ...times(counts.calls, call => ({ fault: 'service', call, how: 'fail' })),
    ...at(write => ({ fault: 'crash', write, when: 'after', staleBy: 2 })),
    ...at(write => ({ fault: 'crash', write, when: 'before' })),
    ...each((resource, event) => ({ fault: 'hide-events', resource, event, ms: 30_000 })),
    ...at(write => ({ fault: 'reject', write, status: 500 })),
    ...at(write => ({ fault: 'edit', write, edit: 'annotate' })),
    ...at(write => ({ fault: 'crash-in-flight', write, ms: 3_000 })),
    ...times(counts.pods, pod => ({ fault: 'pod', pod, becomes: 'slow' })),
    ...times(counts.pods, pod => ({ fault: 'pod', pod, becomes: 'crashed' })),
    ...times(counts.pods, pod => ({ fault: 'pod', pod, becomes: 'evicted' })),
    ...times(counts.pods, pod => ({ fault: 'pod', pod, becomes: 'never-ready' })),
    ...times(counts.pods, pod => ({ fault: 'lose-node', pod })),
    ...at(write => ({ fault: 'edit', write, edit: 'delete' })),
    ...at(write => ({ fault: 'deny', write, ms: 20_000, why: 'quota' })),
    ...at(write => ({ fault: 'lose-request', write })),
    ...at(write => ({ fault: 'duplicate', write })),
    ...times(counts.calls, call => ({ fault: 'service', call, how: 'refuse' })),
    ...times(counts.calls, call => ({ fault: 'service', call, how: 'hang' })),
    ...times(counts.webhookCalls, call => ({ fault: 'webhook', call, how: 'down' })),
    ...times(counts.webhookCalls, call => ({ fault: 'webhook', call, how: 'slow' })),
    ...times(counts.reads, read => ({ fault: 'crash-read', read })),
    ...at(write => ({ fault: 'edit', write, edit: 'label' })),
    ...at(write => ({ fault: 'edit', write, edit: 'finalizer' })),
    ...at(write => ({ fault: 'deny', write, ms: 20_000, why: 'rights' })),
    ...at(write => ({ fault: 'deny', write, ms: 20_000, why: 'terminating' })),
    ...at(write => ({ fault: 'upgrade-definition', write })),
    ...at(write => ({ fault: 'terminate-namespace', write })),
    ...at(write => ({ fault: 'reject', write, status: 429 })),
    ...at(write => ({ fault: 'reject', write, status: 503 })),
    ...at(write => ({ fault: 'reject', write, status: 504 })),
    ...each((resource, event) => ({ fault: 'cut-watch', resource, event })),
    ...each((resource, event) => ({ fault: 'expire-watch', resource, event })),
    ...each((resource, event) => ({ fault: 'bookmarks-only', resource, event, ms: 20_000 })),
    ...at(write => ({ fault: 'pause', write, ms: 20_000 })),
    { fault: 'clock-skew', ms: 60_000 },
    { fault: 'clock-skew', ms: -60_000 },
    ...at(write => ({ fault: 'clock-jump', write, ms: 3_600_000 })),
    ...at(write => ({ fault: 'clock-jump', write, ms: -3_600_000 })),
  ]
  return all.filter(({ fault }) => only.has(fault))
}
