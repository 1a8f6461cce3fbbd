/**
 * The audit log, as an audit policy configures it. Loaded only by servers that keep one.
 *
 *   request -> policy (which level?) -> events at its stages -> backends (file, webhook)
 *
 * @module
 */

export { OutboundPool } from '../outbound/outbound-pool.ts'
export type { Auditing } from './auditing.ts'
export { type AuditBackend, type BatchOptions, createBatchingBackend } from './backend.ts'
export type { AuditEvent } from './event.ts'
export type { AuditPolicy } from './policy.ts'
export { readAuditPolicy } from './read-policy.ts'
export { truncateEvent } from './truncate.ts'
