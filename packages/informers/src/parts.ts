/**
 * The pure functions of an informer, for tests that replace them to verify that mistakes are detected. Not for programs.
 * @module
 */
export { applyDelta, type Notification, type StoreDelta } from './delta.ts'
export type { InformerParts } from './informer.ts'
export { type Outcome, type ReflectorState, type Transition, transition } from './transition.ts'
