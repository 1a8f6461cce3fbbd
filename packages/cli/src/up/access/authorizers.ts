import { type AuthorizerFactory, alwaysAllow, alwaysDeny, rbacAuthorizer } from '@coxswain/apiserver'
import { CommandError } from '../../exit.ts'
import type { AuthorizationFlags } from '../options/authorization-options.ts'
import { readFlagFile } from '../options/flag-file.ts'

/** Authorizers are loaded on demand. */
export async function createAuthorizer(
  mode: string,
  options: AuthorizationFlags,
): Promise<AuthorizerFactory> {
  switch (mode) {
    case 'AlwaysAllow':
      return () => alwaysAllow
    case 'AlwaysDeny':
      return () => alwaysDeny
    case 'RBAC':
      return rbacAuthorizer
    case 'Node': {
      const { createNodeAuthorizer } = await import('@coxswain/apiserver/authorization')
      return createNodeAuthorizer
    }
    case 'ABAC':
      return await loadPolicyFile(options.authorizationPolicyFile)
    case 'Webhook': {
      const { createWebhookFromFlags } = await import('./authorization-webhook.ts')
      return createWebhookFromFlags(options)
    }
    default:
      throw new CommandError(`unknown authorization mode ${mode} specified`, { exitCode: 2 })
  }
}

async function loadPolicyFile(file: string | undefined): Promise<AuthorizerFactory> {
  if (file === undefined)
    throw new CommandError("authorization-mode ABAC's authorization policy file not passed", { exitCode: 2 })
  const { createAbacAuthorizer, parseAbacPolicy } = await import('@coxswain/apiserver/authorization')
  const abac = readFlagFile('authorization-policy-file', file, text =>
    createAbacAuthorizer(parseAbacPolicy(text)),
  )
  return () => abac
}
