import type { Clock } from '@coxswain/kit'
import type { Fault } from '../fault.ts'
import type { TraceEntry, WriteRecord } from './trace.ts'

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
  /** The operator has written so often that it never comes to rest; no further write gets through. */
  isFlooded = false
  /** Off after the scenario has ended, so that what follows is undisturbed. */
  isArmed = true
  /** Whether to find the line of source of every write, which takes time. */
  isTraced = false
  readonly #clock: Clock
  readonly #begin: number

  constructor(faults: readonly Fault[], clock: Clock) {
    this.faults = faults
    this.#clock = clock
    this.#begin = clock.monotonic()
  }

  /** Virtual milliseconds since the beginning of the run. */
  get time(): number {
    return this.#clock.monotonic() - this.#begin
  }

  /** The faults of one write, which are then struck off. */
  strike(isHit: (fault: Fault) => boolean): Fault[] {
    if (!this.isArmed) return []
    const hit = this.faults.filter(fault => !this.struck.has(fault) && isHit(fault))
    for (const fault of hit) this.struck.add(fault)
    return hit
  }

  note(text: string): void {
    this.trace.push({ entry: 'fault', time: this.time, text })
  }
}
