import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import {
  type AuthenticationOptions,
  createTokenAuthenticator,
  parseTokenFile,
  type ServiceAccountOptions,
} from '@coxswain/apiserver'
import { generateSigningKey, readSigningKey, readVerificationKeys } from '@coxswain/apiserver/node'
import type { Env } from '@coxswain/kit'
import { CommandError } from '../../exit.ts'
import type { AuthenticationFlags } from '../options/authentication-options.ts'
import { readCertificates, readFlagFile } from '../options/flag-file.ts'

export interface AuthenticationSurroundings {
  /** Where keys are kept. */
  readonly directory: string
  readonly env: Env
  /** PEM: the CA of the data directory. */
  readonly ca: string
  /** PEM: the front proxy CA that is published where no flag names one. */
  readonly frontProxyCa?: string
  /** The jwks URI without --service-account-jwks-uri: one that Pods can reach. @default that of the advertised address */
  readonly locateKeys?: () => Promise<string>
  /** Whether --anonymous-auth is on the command line: a configuration must not contradict it. @default false */
  readonly isAnonymousAuthGiven?: boolean
}

/** Authentication, and the CAs whose client certificates the transport requests. */
export interface Authentication {
  readonly options: AuthenticationOptions
  /** PEM of every CA of client certificates, front proxies' too. */
  readonly clientCa: string
  /** The key that signs service account tokens. */
  readonly signingKeyFile: string
}

/** As in kube-apiserver: AlwaysAllow turns anonymous requests off, unless an authentication configuration enables them. */
export function keepAnonymousOut<T extends AuthenticationFlags>(flags: T): T {
  if (!flags.anonymousAuth) return flags
  process.stderr.write(
    'coxswain: AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer\n',
  )
  return { ...flags, anonymousAuth: false }
}

/** Authentication from flags. Code that only some flags need is loaded on demand. */
export async function createAuthentication(
  flags: AuthenticationFlags,
  { directory, env, ca, frontProxyCa, locateKeys, isAnonymousAuthGiven = false }: AuthenticationSurroundings,
): Promise<Authentication> {
  const { tokenAuthFile, apiAudiences, clientCaFile, requestheaderClientCaFile: proxyCaFile } = flags
  const clientCa = [
    ca,
    ...(clientCaFile === undefined ? [] : [readFlagFile('client-ca-file', clientCaFile, readCertificates)]),
  ].join('\n')
  const proxyCa =
    proxyCaFile === undefined
      ? []
      : [readFlagFile('requestheader-client-ca-file', proxyCaFile, readCertificates)]
  const signingKeyFile = flags.serviceAccountSigningKeyFile ?? ensureSigningKey(directory)
  const serviceAccounts = readServiceAccounts(flags, signingKeyFile, locateKeys)
  const known =
    tokenAuthFile === undefined
      ? []
      : [createTokenAuthenticator(readFlagFile('token-auth-file', tokenAuthFile, parseTokenFile))]
  const { tokens = [], ...providers } = hasProviderFlags(flags)
    ? await (await import('./identity-providers.ts')).createProviders(flags, {
        env,
        clientCa,
        isAnonymousAuthGiven,
        issuers: serviceAccounts.issuers ?? [],
      })
    : { anonymous: flags.anonymousAuth }
  const options = {
    ...providers,
    knownTokens: known,
    tokens,
    serviceAccounts,
    trust: {
      'client-ca-file': clientCa,
      ...(proxyCa[0] === undefined
        ? describeProxies(kubeadmProxies, frontProxyCa)
        : describeProxies(flags, proxyCa[0])),
    },
    ...(apiAudiences?.length && { audiences: apiAudiences }),
  }
  return {
    options,
    clientCa: [clientCa, ...proxyCa].join('\n'),
    signingKeyFile,
  }
}

/** kubeadm's names, and the uid, which this server sends too. */
const kubeadmProxies = {
  requestheaderAllowedNames: ['front-proxy-client'],
  requestheaderUsernameHeaders: ['X-Remote-User'],
  requestheaderUidHeaders: ['X-Remote-Uid'],
  requestheaderGroupHeaders: ['X-Remote-Group'],
  requestheaderExtraHeadersPrefix: ['X-Remote-Extra-'],
}

/** The front proxy configuration that aggregated API servers read. */
function describeProxies(
  flags: Partial<AuthenticationFlags>,
  ca: string | undefined,
): Record<string, string> {
  if (ca === undefined) return {}
  const print = (names: readonly string[] = []) => JSON.stringify(names)
  return {
    'requestheader-client-ca-file': ca,
    'requestheader-allowed-names': print(flags.requestheaderAllowedNames),
    'requestheader-username-headers': print(flags.requestheaderUsernameHeaders),
    'requestheader-uid-headers': print(flags.requestheaderUidHeaders),
    'requestheader-group-headers': print(flags.requestheaderGroupHeaders),
    'requestheader-extra-headers-prefix': print(flags.requestheaderExtraHeadersPrefix),
  }
}

/** Whether flags need identity providers that are loaded on demand. */
function hasProviderFlags(flags: AuthenticationFlags): boolean {
  return (
    flags.enableBootstrapTokenAuth ||
    flags.authenticationConfig !== undefined ||
    flags.authenticationTokenWebhookConfigFile !== undefined ||
    flags.oidcIssuerUrl !== undefined ||
    flags.oidcClientId !== undefined ||
    flags.requestheaderClientCaFile !== undefined
  )
}

function readServiceAccounts(
  flags: AuthenticationFlags,
  own: string,
  locateKeys: (() => Promise<string>) | undefined,
): ServiceAccountOptions {
  const {
    serviceAccountKeyFile: keyFiles = [],
    serviceAccountIssuer: issuers,
    serviceAccountMaxTokenExpiration: maximum,
    serviceAccountJwksUri: jwksUri = locateKeys,
  } = flags
  const signingKey = readFlagFile('service-account-signing-key-file', own, readSigningKey)
  const keys = (file: string) => readFlagFile('service-account-key-file', file, readVerificationKeys)
  const verificationKeys = [...keyFiles, own].flatMap(keys)
  const known = new Set<string>()
  return {
    signingKey,
    verificationKeys: verificationKeys.filter(({ keyId }) => !known.has(keyId) && known.add(keyId)),
    extendExpiration: flags.serviceAccountExtendTokenExpiration,
    ...(issuers && { issuers }),
    ...(jwksUri !== undefined && { jwksUri }),
    ...(maximum !== undefined && { maxExpiration: readMaximum(maximum) }),
  }
}

/** The bounds are upstream's. */
function readMaximum(text: string): number {
  const seconds = Math.floor(durationToMilliseconds(parseDuration(text)) / 1000)
  if (seconds >= 3600 && seconds <= 2 ** 32) return seconds
  throw new CommandError(
    '--service-account-max-token-expiration: must be a duration from 1 hour to 2^32 seconds',
    { exitCode: 2 },
  )
}

/** The file with the private key, created on the first start. */
function ensureSigningKey(directory: string): string {
  const file = join(directory, 'sa.key')
  if (existsSync(file)) return file
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(file, generateSigningKey(), { mode: 0o600 })
  return file
}
