import type { RateLimitFlags } from '../../host/rate-limit.ts'
import type { EndpointFlags } from '../../host/serve-endpoints.ts'
import type { TracingFlags } from '../../host/tracing.ts'
import type { WebhookCommandOptions } from '../../webhooks.ts'

/** How `coxswain up` runs the operators beside the server; the names are those of `coxswain run`. */
export interface OperatorFlags extends EndpointFlags, RateLimitFlags, TracingFlags, WebhookCommandOptions {
  readonly leaderElectionId?: string
  readonly leaderElectionNamespace?: string
  readonly namespaces?: readonly string[]
  readonly concurrency?: Readonly<Record<string, number>>
  readonly logFormat?: 'text' | 'json'
}
