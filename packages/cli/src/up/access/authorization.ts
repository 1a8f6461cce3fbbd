import {
  type AuthorizerFactory,
  alwaysAllow,
  alwaysDeny,
  authorizePrivileged,
  rbacAuthorizer,
  unionAuthorizer,
} from '@coxswain/apiserver'
import { CommandError } from '../../exit.ts'
import {
  type AuthorizationFlags,
  checkAuthorizationFlags,
  defaultAuthorizationModes,
} from './authorization-options.ts'
import { readFlagFile } from './flag-file.ts'

/** Whether requests are allowed whoever makes them: then those without a credential have to be kept out. */
export async function allowsEverything(options: AuthorizationFlags): Promise<boolean> {
  if (options.authorizationConfig === undefined)
    return (options.authorizationMode ?? []).includes('AlwaysAllow')
  const { readConfiguredTypes } = await import('./authorization-config.ts')
  return readConfiguredTypes(options.authorizationConfig).includes('AlwaysAllow')
}

/** Whatever the options say, members of `system:masters` get in. */
export async function createAuthorization(options: AuthorizationFlags): Promise<AuthorizerFactory> {
  checkAuthorizationFlags(options)
  const authorizers: AuthorizerFactory[] = [() => authorizePrivileged]
  if (options.authorizationConfig !== undefined) {
    const { createConfiguredAuthorizers } = await import('./authorization-config.ts')
    for (const item of await createConfiguredAuthorizers(options.authorizationConfig)) authorizers.push(item)
  } else {
    for (const mode of options.authorizationMode ?? defaultAuthorizationModes)
      authorizers.push(await createAuthorizer(mode, options))
  }
  return unionAuthorizer(authorizers)
}

/** What is not asked for is not loaded. */
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
      const { createWebhookFromFlags } = await import('./authorization-config.ts')
      return await createWebhookFromFlags(options)
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
