import type { EndpointFlags } from '../../host/serve-endpoints.ts'
import type { TracingFlags } from '../../host/tracing.ts'
import type { WebhookCommandOptions } from '../../webhooks.ts'

/** How `coxswain up` runs the operators beside the server; the names are those of `coxswain run`. */
export interface OperatorFlags extends EndpointFlags, TracingFlags, WebhookCommandOptions {
  readonly namespaces?: readonly string[]
  readonly concurrency?: Readonly<Record<string, number>>
  readonly logFormat?: 'text' | 'json'
}
