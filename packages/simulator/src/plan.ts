import type { Fault } from './fault.ts'
import type { Action } from './scenario/action.ts'

/** What decides a run, besides the operator and its scenario: two runs of one plan are identical. */
export interface Plan {
  readonly seed: number
  readonly faults: readonly Fault[]
  /** What users do, where the simulator made it up. @default the scenario of the author */
  readonly actions?: readonly Action[]
  /** Processes of the operator. @default those of the simulation */
  readonly replicas?: number
}
