/**
 * Breaks an operator before production does.
 *
 *   simulate -> undisturbed runs -> every single fault -> several at once -> oracles -> the smallest failing run, in words
 *
 * A run is a world of its own: API server, controllers, operator and users in one process, on a virtual clock. A plan decides it
 * completely, so that a failure can be replayed.
 * @module
 */
export { describeFault, type Fault, type FaultName, faultNames } from './fault.ts'
export { type Finding, type OracleName, oracleNames, oracleTexts } from './oracles.ts'
export type { Plan } from './plan.ts'
export {
  type KnownObject,
  type ManifestObject,
  type Preview,
  type PreviewOptions,
  previewChange,
  type UserChange,
} from './preview/preview.ts'
export { comparable, type PlannedWrite } from './preview/write-recorder.ts'
export { type Failure, type Progress, type Report, type SimulateOptions, simulate } from './simulate.ts'
export type { Invariant, Scenario, ScenarioContext } from './world/run.ts'
