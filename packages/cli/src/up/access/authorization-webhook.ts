import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import type { AuthorizerFactory } from '@coxswain/apiserver'
import { createWebhookAuthorizer } from '@coxswain/apiserver/authorization'
import { CommandError } from '../../exit.ts'
import type { AuthorizationFlags } from '../options/authorization-options.ts'
import { readWebhookKubeconfig } from './webhook-kubeconfig.ts'

export const defaultTtls = { authorizedTTL: '5m0s', unauthorizedTTL: '30s' }
/** The longest timeout of a webhook, which is also that of the flags. */
export const secondsAtMost = 30

/** The mode Webhook of the options. As upstream, it has no opinion when the server does not answer. */
export function createWebhookFromFlags(flags: AuthorizationFlags): AuthorizerFactory {
  const file = flags.authorizationWebhookConfigFile ?? ''
  const version = flags.authorizationWebhookVersion ?? 'v1beta1'
  if (version !== 'v1' && version !== 'v1beta1')
    throw new CommandError(
      `unsupported webhook authorizer version ${JSON.stringify(version)}, supported versions are "v1", "v1beta1"`,
      { exitCode: 2 },
    )
  const server = readWebhookKubeconfig('authorization-webhook-config-file', file)
  return createWebhookAuthorizer({
    ...server,
    version,
    timeout: secondsAtMost * 1000,
    authorizedTtl: milliseconds(flags.authorizationWebhookCacheAuthorizedTtl ?? defaultTtls.authorizedTTL),
    unauthorizedTtl: milliseconds(
      flags.authorizationWebhookCacheUnauthorizedTtl ?? defaultTtls.unauthorizedTTL,
    ),
    failurePolicy: 'NoOpinion',
  })
}

export function milliseconds(text: string): number {
  return durationToMilliseconds(parseDuration(text))
}
