import type { EndpointFlags } from '../../host/serve-endpoints.ts'
import type { WebhookCommandOptions } from '../../webhooks.ts'

/** The flags of `coxswain up --operator`; the names are those of `coxswain run`. */
export interface OperatorFlags extends EndpointFlags, WebhookCommandOptions {
  readonly namespaces?: readonly string[]
  readonly concurrency?: Readonly<Record<string, number>>
  readonly logFormat?: 'text' | 'json'
}
