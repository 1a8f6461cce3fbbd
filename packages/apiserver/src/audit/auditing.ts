import type { AuditBackend } from './backend.ts'
import type { AuditPolicy } from './policy.ts'

export interface Auditing {
  readonly policy: AuditPolicy
  readonly backends: readonly AuditBackend[]
}
