import type { AuditBackend } from './backend.ts'
import type { AuditPolicy } from './policy.ts'

/** The audit policy, and the backends that receive its events. */
export interface Auditing {
  readonly policy: AuditPolicy
  readonly backends: readonly AuditBackend[]
}
