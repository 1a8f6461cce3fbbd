/**
 * Operators as processes: what `coxswain torture` runs.
 * @module
 */
export { performTorture, type TortureStage, type TortureStep } from './perform-torture.ts'
