import {
  type Authorizer,
  alwaysAllow,
  alwaysDeny,
  authorizePrivileged,
  createRbacAuthorizer,
  createUnionAuthorizer,
} from '@coxswain/apiserver'
import { CommandError } from '../../exit.ts'
import { readFlagFile } from './authentication.ts'
import {
  type AuthorizationFlags,
  checkAuthorizationFlags,
  defaultAuthorizationModes,
} from './authorization-options.ts'

/** Whatever the options say, members of `system:masters` get in. */
export async function createAuthorization(options: AuthorizationFlags): Promise<Authorizer> {
  checkAuthorizationFlags(options)
  const authorizers: Authorizer[] = [authorizePrivileged]
  if (options.authorizationConfig !== undefined) {
    const { createConfiguredAuthorizers } = await import('./authorization-config.ts')
    for (const item of await createConfiguredAuthorizers(options.authorizationConfig)) authorizers.push(item)
  } else {
    for (const mode of options.authorizationMode ?? defaultAuthorizationModes)
      authorizers.push(await createAuthorizer(mode, options))
  }
  return createUnionAuthorizer(authorizers)
}

/** What is not asked for is not loaded. */
export async function createAuthorizer(mode: string, options: AuthorizationFlags): Promise<Authorizer> {
  switch (mode) {
    case 'AlwaysAllow':
      return alwaysAllow
    case 'AlwaysDeny':
      return alwaysDeny
    case 'RBAC':
      return createRbacAuthorizer()
    case 'Node': {
      const { createNodeAuthorizer } = await import('@coxswain/apiserver/authorization')
      return createNodeAuthorizer()
    }
    case 'ABAC':
      return await loadPolicyFile(options.authorizationPolicyFile)
    case 'Webhook': {
      const { createWebhookFromFlags } = await import('./authorization-config.ts')
      return await createWebhookFromFlags(options)
    }
    default:
      throw new CommandError(`unknown authorization mode ${mode} specified`, { exitCode: 2 })
  }
}

async function loadPolicyFile(file: string | undefined): Promise<Authorizer> {
  if (file === undefined)
    throw new CommandError("authorization-mode ABAC's authorization policy file not passed", { exitCode: 2 })
  const { createAbacAuthorizer, parseAbacPolicy } = await import('@coxswain/apiserver/authorization')
  return readFlagFile('authorization-policy-file', file, text => createAbacAuthorizer(parseAbacPolicy(text)))
}
