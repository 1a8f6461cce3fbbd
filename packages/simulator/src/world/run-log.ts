import type { Clock } from '@coxswain/kit'
import type { Fault, FaultName } from '../fault.ts'
import type { TraceEntry, WriteRecord } from './trace.ts'

/** Why writes to a resource are forbidden, and until when by the clock's monotonic time. */
export interface Denial {
  readonly until: number
  readonly why: 'quota' | 'rights' | 'terminating'
}

/** What the replicas of one run share: the faults to come, the counts that decide when, and the record of what happened. */
export class RunLog {
  readonly faults: readonly Fault[]
  readonly trace: TraceEntry[] = []
  readonly writes: WriteRecord[] = []
  /** Faults that have happened. */
  readonly struck: Set<Fault> = new Set()
  /** How many watch events each resource has had. */
  readonly events: Map<string, number> = new Map()
  /** Until when no watch of a resource can be opened, by the clock's monotonic time. */
  readonly blocked: Map<string, number> = new Map()
  /** Resources whose next watch is answered 410 Expired. */
  readonly expired: Set<string> = new Set()
  readonly denials: Map<string, Denial> = new Map()
  /** Until when a replica cannot renew its lease, by its number. */
  readonly leaseBlocks: Map<number, number> = new Map()
  /** Reads of single objects and lists that were sent to the server. */
  reads = 0
  /** Pods that got a node. */
  pods = 0
  /** Calls of outside services. */
  calls = 0
  /** Calls of the operator's webhooks. */
  webhookCalls = 0
  /** The operator has written so often that it never comes to rest; no further write gets through. */
  isFlooded = false
  /** Off after the scenario has ended, so that what follows is undisturbed. */
  isArmed = true
  /** Whether to find the line of source of every write, which takes time. */
  readonly isTraced: boolean
  readonly #clock: Clock
  readonly #begin: number

  constructor(
    faults: readonly Fault[],
    clock: Clock,
    { isTraced = false }: { readonly isTraced?: boolean } = {},
  ) {
    this.faults = faults
    this.isTraced = isTraced
    this.#clock = clock
    this.#begin = clock.monotonic()
  }

  /** Virtual milliseconds since the beginning of the run. */
  get time(): number {
    return this.#clock.monotonic() - this.#begin
  }

  /** The faults that are hit now, which are then struck off. */
  strike(isHit: (fault: Fault) => boolean): Fault[] {
    if (!this.isArmed) return []
    const hit = this.faults.filter(fault => !this.struck.has(fault) && isHit(fault))
    for (const fault of hit) this.struck.add(fault)
    return hit
  }

  /** A fault that is planned, whether it has happened or not. */
  find<N extends FaultName>(
    name: N,
    matches: (fault: Extract<Fault, { readonly fault: N }>) => boolean = () => true,
  ): Extract<Fault, { readonly fault: N }> | undefined {
    if (!this.isArmed) return undefined
    return this.faults.find(
      (fault): fault is Extract<Fault, { readonly fault: N }> =>
        fault.fault === name && matches(fault as never),
    )
  }

  note(text: string): void {
    this.trace.push({ entry: 'fault', time: this.time, text })
  }
}
