/**
 * Breaks an operator before production does.
 *
 *   simulate -> undisturbed runs -> every single fault -> several at once -> oracles -> the smallest failing run, in words
 *
 * A run is a world of its own: API server, controllers, operator and users in one process, on a virtual clock. A plan decides it
 * completely, so that a failure can be replayed.
 * @module
 */
export { describeFault, type Fault, type FaultName, faultNames, faultTexts } from './fault.ts'
export { type OracleName, oracleNames, oracleTexts } from './oracle-names.ts'
export type { Finding } from './oracles.ts'
export type { Plan } from './plan.ts'
export type { ManifestObject } from './preview/manifest-object.ts'
export {
  type KnownObject,
  type OutsideCall,
  type Preview,
  type PreviewOptions,
  previewChange,
  type UserChange,
} from './preview/preview.ts'
export { comparable, type PlannedWrite } from './preview/write-recorder.ts'
export { describeEntry } from './report/explain.ts'
export { hashTrace } from './report/trace-hash.ts'
export type { Action } from './scenario/action.ts'
export type { Sample } from './scenario/generate.ts'
export type { SearchPhase } from './search/plans.ts'
export {
  type Failure,
  type Progress,
  type Report,
  replay,
  type SimulateOptions,
  simulate,
} from './simulate.ts'
export { type TortureFault, type TortureFaultName, tortureFaultNames } from './torture/faults.ts'
export {
  type PerformTorture,
  type TortureFailure,
  type TortureOptions,
  type TortureReport,
  type TortureRun,
  torture,
} from './torture/torture.ts'
export type { ServiceHandler, ServiceRequest, ServiceResponse } from './world/services.ts'
export type { Invariant, Scenario, ScenarioContext, StageOptions } from './world/stage.ts'
export type { TraceEntry, WriteRecord } from './world/trace.ts'
