import type { Env } from '@coxswain/kit'
import type { Operator, WebhookOptions } from '@coxswain/runtime'
import { createCertificateMaker, createWebhookListener } from '@coxswain/runtime/node'
import { CommandError } from './exit.ts'
import type { WebhookSuccession } from './webhook-succession.ts'

export interface WebhookCommandOptions {
  readonly webhookPort?: number
  /** `namespace/name` of the Service of this process. */
  readonly webhookService?: string
  readonly webhookConfigurationPrefix?: string
  /** A directory with a certificate and its key. */
  readonly webhookCertPath?: string
  readonly webhookCertName?: string
  readonly webhookCertKey?: string
  /** The older name of `webhookCertPath`. */
  readonly webhookCertDir?: string
  /** For a process that replaces another one, or that another one will replace. */
  readonly succession?: WebhookSuccession
}

/**
 * How this process serves the webhooks of operators. Without a Service they are reached at this machine's loopback
 * address, and the configurations are removed when the process stops; with one they stay, and replicas share the certificates.
 */
export function webhookOptionsFor(
  operators: readonly Operator[],
  env: Env,
  options: WebhookCommandOptions = {},
): WebhookOptions {
  const { webhookPort, webhookService, webhookCertName: name, webhookCertKey: key } = options
  const service = webhookService === undefined ? undefined : parseService(webhookService)
  const path = options.webhookCertPath ?? options.webhookCertDir
  // Behind a Service the configurations stay anyway, and certificate files are kept by others.
  const succession = service || path !== undefined ? undefined : options.succession
  const { port: preferredPort, inherited } = succession ?? {}
  const initial = inherited?.certificates
  const listener = createWebhookListener({
    ...env,
    port: webhookPort ?? (service ? 9443 : 0),
    ...(preferredPort !== undefined && !webhookPort && { preferredPort }),
    ...(service && { service }),
    ...(path !== undefined && {
      certificate: { path, ...(name !== undefined && { name }), ...(key !== undefined && { key }) },
    }),
  })
  const names = operators.map(operator => operator.name).join('-')
  return {
    listener,
    removeOnStop: succession ? succession.isLast : service === undefined,
    ...(succession && { onServing: succession.serves }),
    ...(initial && { initialCertificates: initial }),
    ...(options.webhookConfigurationPrefix !== undefined && {
      namePrefix: options.webhookConfigurationPrefix,
    }),
    ...(path === undefined && { certificates: createCertificateMaker(env.random) }),
    ...(service && { secret: { namespace: service.namespace, name: `${names}-webhook-cert` } }),
  }
}

function parseService(text: string): { namespace: string; name: string } {
  const [namespace, name, ...rest] = text.split('/')
  if (!namespace || !name || rest.length > 0)
    throw new CommandError(`--webhook-service ${text}: must be NAMESPACE/NAME`, { exitCode: 2 })
  return { namespace, name }
}
