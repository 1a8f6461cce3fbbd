import type { Env } from '@coxswain/kit'
import type { Operator, WebhookOptions } from '@coxswain/runtime'
import { createCertificateMaker, createWebhookListener } from '@coxswain/runtime/node'
import { CommandError } from './exit.ts'

export interface WebhookCommandOptions {
  readonly webhookPort?: number
  /** `namespace/name` of the Service that leads here. */
  readonly webhookService?: string
  /** A folder with `tls.crt` and `tls.key`. */
  readonly webhookCertDir?: string
}

/**
 * How this process serves the webhooks of an operator. Without a Service they are reached at this machine's loopback
 * address, and the configurations go when the process does; with one they stay, and replicas share the certificates.
 */
export function webhookOptionsFor(
  { name }: Operator,
  env: Env,
  { webhookPort, webhookService, webhookCertDir }: WebhookCommandOptions = {},
): WebhookOptions {
  const service = webhookService === undefined ? undefined : parseService(webhookService)
  const listener = createWebhookListener({
    ...env,
    port: webhookPort ?? (service ? 9443 : 0),
    ...(service && { service }),
    ...(webhookCertDir !== undefined && { certificate: { path: webhookCertDir } }),
  })
  return {
    listener,
    removeOnStop: service === undefined,
    ...(webhookCertDir === undefined && { certificates: createCertificateMaker(env.random) }),
    ...(service && { secret: { namespace: service.namespace, name: `${name}-webhook-cert` } }),
  }
}

function parseService(text: string): { namespace: string; name: string } {
  const [namespace, name, ...rest] = text.split('/')
  if (!namespace || !name || rest.length > 0)
    throw new CommandError(`--webhook-service ${text}: a Service is named NAMESPACE/NAME`, { exitCode: 2 })
  return { namespace, name }
}
