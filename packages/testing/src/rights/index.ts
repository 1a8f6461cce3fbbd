/**
 * The rights that operators use in tests, from the recordings of clusters to `rbac.lock.json`.
 * @module
 */
export { formatLock, lockRights } from './lock.ts'
export type { RecordedVerb, Recording } from './recording.ts'
