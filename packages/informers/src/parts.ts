/**
 * The pure functions an informer is made of, for tests that put wrong ones in to see that they are found out. Not for
 * programs.
 * @module
 */
export { applyDelta, type Notification, type StoreDelta } from './delta.ts'
export type { InformerParts } from './informer.ts'
export { type Outcome, type ReflectorState, type Transition, transition } from './transition.ts'
