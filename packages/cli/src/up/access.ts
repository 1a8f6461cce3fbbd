import { readFileSync } from 'node:fs'
import {
  type Authenticator,
  type Authorizer,
  alwaysAllow,
  alwaysDeny,
  authenticateCertificate,
  authorizeMasters,
  createTokenAuthenticator,
  parseTokenFile,
} from '@coxswain/apiserver'
import { CommandError, explainSystemError } from '../exit.ts'

export function createAuthentication(options: { readonly tokenAuthFile?: string }): Authenticator[] {
  if (options.tokenAuthFile === undefined) return [authenticateCertificate]
  let text: string
  try {
    text = readFileSync(options.tokenAuthFile, 'utf8')
  } catch (error) {
    throw new CommandError(`--token-auth-file ${options.tokenAuthFile}: ${explainSystemError(error)}`, {
      cause: error,
    })
  }
  try {
    return [authenticateCertificate, createTokenAuthenticator(parseTokenFile(text))]
  } catch (error) {
    throw new CommandError(`--token-auth-file ${options.tokenAuthFile}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'Masters'

const authorizers: Readonly<Record<AuthorizationMode, Authorizer>> = {
  AlwaysAllow: alwaysAllow,
  AlwaysDeny: alwaysDeny,
  Masters: authorizeMasters,
}

export function createAuthorization(mode: AuthorizationMode): Authorizer {
  return authorizers[mode]
}
