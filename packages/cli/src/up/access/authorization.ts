import { type AuthorizerFactory, authorizePrivileged, unionAuthorizer } from '@coxswain/apiserver'
import {
  type AuthorizationFlags,
  checkAuthorizationFlags,
  defaultAuthorizationModes,
} from '../options/authorization-options.ts'
import { createAuthorizer } from './authorizers.ts'

/** Whether every request is allowed: then unauthenticated requests have to be rejected. */
export async function allowsEverything(options: AuthorizationFlags): Promise<boolean> {
  if (options.authorizationConfig === undefined)
    return (options.authorizationMode ?? []).includes('AlwaysAllow')
  const { readConfiguredTypes } = await import('./authorization-config.ts')
  return readConfiguredTypes(options.authorizationConfig).includes('AlwaysAllow')
}

/** Members of `system:masters` are always authorized, whatever the options. */
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
