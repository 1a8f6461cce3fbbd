import type { BenchDefinition } from '../harness.ts'
import { auditCases } from './audit.ts'
import { fairnessCases } from './fairness.ts'
import { rbacCases } from './rbac.ts'
import { webhookCases } from './webhooks.ts'

export const bench: BenchDefinition = {
  title: 'access: what it costs to know who may do what, and what may pass',
  rounds: 7,
  cases: async stack => [
    ...(await rbacCases(stack)),
    ...(await webhookCases(stack)),
    ...(await auditCases(stack)),
    ...(await fairnessCases(stack)),
  ],
}
