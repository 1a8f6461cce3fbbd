/**
 * One thing that goes wrong, as data: it can be planned, combined, printed, and read from a file. Writes and watch events of the operator
 * are counted from 1, over all of its replicas and restarts; events and leases are not counted as writes.
 */
export type Fault = CrashFault | WriteFault | RejectFault | PauseFault | StaleFault | HideFault | CutFault

/** The process is killed at a write, and another one starts two seconds later. */
export interface CrashFault {
  readonly fault: 'crash'
  readonly write: number
  /** Whether the write reached the server. */
  readonly when: 'before' | 'after'
  /** The new process first sees the state as it was this many writes ago: it is connected to an API server that lags behind. */
  readonly staleBy?: number
}

/** The connection breaks around a write: before it was sent, or before its response arrived; or the request is delivered twice. */
export interface WriteFault {
  readonly fault: 'lose-request' | 'lose-response' | 'duplicate'
  readonly write: number
}

/** A write is rejected, as by a conflict, priority and fairness, a failing webhook, an overloaded or a restarting server. */
export interface RejectFault {
  readonly fault: 'reject'
  readonly write: number
  readonly status: 409 | 429 | 500 | 503 | 504
}

/** The process stops for a while right before a write, as by SIGSTOP or a long garbage collection, and then goes on. */
export interface PauseFault {
  readonly fault: 'pause'
  readonly write: number
  readonly ms: number
}

/** Every watch event of a resource, or of all of them, is late. */
export interface StaleFault {
  readonly fault: 'stale-watch'
  readonly ms: number
  /** `GROUP/PLURAL`, or the plural in the core group. @default all resources */
  readonly resource?: string
}

/** The watch of a resource breaks before an event, cannot be opened for a while, and its history is then gone: what happened in between is never seen. */
export interface HideFault {
  readonly fault: 'hide-events'
  readonly resource: string
  readonly event: number
  readonly ms: number
}

/** The watch of a resource breaks before an event, and is opened again. */
export interface CutFault {
  readonly fault: 'cut-watch'
  readonly resource: string
  readonly event: number
}

/** The name of a fault. */
export type FaultName = Fault['fault']

/** The names of all faults, in the order in which they are tried. */
export const faultNames: readonly FaultName[] = [
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

/** The fault in a sentence, given the description of a write. */
export function describeFault(fault: Fault, describeWrite: (write: number) => string): string {
  switch (fault.fault) {
    case 'crash': {
      const stale =
        fault.staleBy === undefined
          ? ''
          : `, and its successor started with a cache that was ${fault.staleBy} write${fault.staleBy === 1 ? '' : 's'} behind`
      return `the process was killed ${fault.when} ${describeWrite(fault.write)}${stale}`
    }
    case 'lose-request':
      return `the connection broke before ${describeWrite(fault.write)} was sent`
    case 'lose-response':
      return `${describeWrite(fault.write)} was done, but its response was lost`
    case 'duplicate':
      return `${describeWrite(fault.write)} was delivered twice`
    case 'reject':
      return `${describeWrite(fault.write)} was answered ${fault.status}`
    case 'pause':
      return `the process was paused for ${fault.ms / 1000} s before ${describeWrite(fault.write)}`
    case 'stale-watch':
      return `watch events of ${fault.resource ?? 'all resources'} arrived ${fault.ms} ms late`
    case 'hide-events':
      return `the watch of ${fault.resource} broke before its event ${fault.event}, and the operator never saw what happened in the ${fault.ms / 1000} s after it`
    case 'cut-watch':
      return `the watch of ${fault.resource} broke before its event ${fault.event}`
  }
}
