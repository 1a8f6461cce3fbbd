import type { Fault } from './fault.ts'

/** What decides a run, besides the operator and its scenario: two runs of one plan are identical. */
export interface Plan {
  readonly seed: number
  readonly faults: readonly Fault[]
}
