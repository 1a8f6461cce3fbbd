/**
 * Authenticators that only some flags need: loaded when one of those is set.
 *
 * @module
 */
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { readYaml } from '@coxswain/apimachinery/yaml'
import type { AuthenticationOptions, SignatureAlgorithm, TokenAuthenticator } from '@coxswain/apiserver'
import {
  type AuthenticationConfiguration,
  authenticateBootstrapToken,
  createOidcAuthenticator,
  createProxyAuthenticators,
  createWebhookTokenAuthenticator,
  type JwtAuthenticator,
  proxyHeadersOf,
  readAuthenticationConfiguration,
  signatureAlgorithms,
  uniteTokens,
} from '@coxswain/apiserver/authentication'
import { createIssuerCheck, importJwk } from '@coxswain/apiserver/node'
import type { Env } from '@coxswain/kit'
import type { PeerCertificate } from '@coxswain/wire'
import { CommandError } from '../../exit.ts'
import { readBoundedFile } from '../../host/flag-file.ts'
import type { AuthenticationFlags } from '../options/authentication-options.ts'
import { readCertificates, readFlagFile } from '../options/flag-file.ts'
import { socketOutbound } from '../outbound.ts'
import { readWebhookKubeconfig } from './webhook-kubeconfig.ts'

export interface ProviderSurroundings {
  readonly env: Env
  /** PEM of the CAs of clients. */
  readonly clientCa: string
  readonly isAnonymousAuthGiven: boolean
  /** The server's own issuers, which no provider may use. */
  readonly issuers: readonly string[]
}

/** The authenticators that the flags add. */
export async function createProviders(
  flags: AuthenticationFlags,
  surroundings: ProviderSurroundings,
): Promise<Pick<AuthenticationOptions, 'authenticators' | 'tokens' | 'anonymous' | 'proxyHeaders'>> {
  const tokens: TokenAuthenticator[] = []
  if (flags.enableBootstrapTokenAuth) tokens.push(authenticateBootstrapToken)
  const { configuration, algorithms } = readProviders(flags)
  const build = ({ jwt }: AuthenticationConfiguration) =>
    jwt.map(authenticator =>
      createOidcAuthenticator({
        env: surroundings.env,
        outbound: socketOutbound,
        authenticator,
        algorithms,
        importKey: importJwk,
        disallowedIssuers: surroundings.issuers,
      }),
    )
  const { authenticationConfig } = flags
  try {
    const present = build(configuration)
    if (authenticationConfig === undefined) for (const item of present) tokens.push(item)
    else tokens.push(followFile(authenticationConfig, { present, build, env: surroundings.env }))
  } catch (error) {
    const flag = authenticationConfig === undefined ? '--oidc-issuer-url' : '--authentication-config'
    throw new CommandError(`${flag}: jwt: ${(error as Error).message}`, { cause: error })
  }
  const { authenticationTokenWebhookConfigFile: file } = flags
  if (file !== undefined) {
    const server = readWebhookKubeconfig('authentication-token-webhook-config-file', file)
    tokens.push(
      createWebhookTokenAuthenticator({
        env: surroundings.env,
        outbound: socketOutbound,
        ...server,
        version: flags.authenticationTokenWebhookVersion,
        cacheTtl: durationToMilliseconds(parseDuration(flags.authenticationTokenWebhookCacheTtl)),
      }),
    )
  }
  const { anonymous } = configuration
  if (anonymous && surroundings.isAnonymousAuthGiven)
    throw usage(
      '--authentication-config: anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    )
  return { tokens, ...readAnonymous(flags, configuration), ...createProxies(flags, surroundings) }
}

interface Followed {
  readonly present: readonly TokenAuthenticator[]
  readonly build: (configuration: AuthenticationConfiguration) => readonly TokenAuthenticator[]
  readonly env: Env
}

/** The least time between checks of the file; it is checked only when a token arrives. */
const reloadPause = 10_000

/** The providers of the current file. An invalid file is logged, and the previous providers stay. */
function followFile(file: string, { present, build, env }: Followed): TokenAuthenticator {
  let current = present
  let text = readBoundedFile(file)
  let nextLook = env.clock.now() + reloadPause
  return uniteTokens(() => {
    const now = env.clock.now()
    if (now < nextLook) return current
    nextLook = now + reloadPause
    try {
      const read = readBoundedFile(file)
      if (read !== text) {
        text = read
        current = build(readAuthenticationConfiguration(readYaml(read)?.value))
        env.log.info('reloaded authentication config', { file })
      }
    } catch (error) {
      env.log.error('failed to reload authentication config', { file, error })
    }
    return current
  })
}

interface Providers {
  readonly configuration: AuthenticationConfiguration
  readonly algorithms: readonly SignatureAlgorithm[]
}

function readProviders(flags: AuthenticationFlags): Providers {
  const { authenticationConfig: file, oidcIssuerUrl, oidcClientId } = flags
  const hasOidcFlags = oidcIssuerUrl !== undefined || oidcClientId !== undefined
  if (file !== undefined) {
    if (hasOidcFlags) throw usage('authentication-config file and oidc-* flags are mutually exclusive')
    const configuration = readFlagFile('authentication-config', file, text =>
      readAuthenticationConfiguration(readYaml(text)?.value),
    )
    return { configuration, algorithms: signatureAlgorithms }
  }
  if (!hasOidcFlags) return { configuration: { jwt: [] }, algorithms: [] }
  if (!oidcIssuerUrl || !oidcClientId)
    throw usage('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set')
  for (const name of flags.oidcSigningAlgs) {
    if (!(signatureAlgorithms as readonly string[]).includes(name))
      throw usage(`oidc: unsupported signing alg: ${JSON.stringify(name)}`)
  }
  return {
    configuration: { jwt: [describeProvider(flags, oidcIssuerUrl, oidcClientId)] },
    algorithms: flags.oidcSigningAlgs as readonly SignatureAlgorithm[],
  }
}

/** The flags as an AuthenticationConfiguration. */
function describeProvider(flags: AuthenticationFlags, url: string, audience: string): JwtAuthenticator {
  const { oidcUsernameClaim: claim, oidcUsernamePrefix, oidcGroupsClaim, oidcGroupsPrefix = '' } = flags
  const preset = claim === 'email' ? '' : `${url}#`
  const prefix = oidcUsernamePrefix === '-' ? '' : (oidcUsernamePrefix ?? preset)
  const { oidcCaFile } = flags
  return {
    issuer: {
      url,
      audiences: [audience],
      ...(oidcCaFile !== undefined && {
        certificateAuthority: readFlagFile('oidc-ca-file', oidcCaFile, readCertificates),
      }),
    },
    claimMappings: {
      username: { claim, prefix },
      ...(oidcGroupsClaim !== undefined && { groups: { claim: oidcGroupsClaim, prefix: oidcGroupsPrefix } }),
    },
    claimValidationRules: (flags.oidcRequiredClaim ?? []).map(text => {
      const at = text.indexOf('=')
      if (at < 1) throw usage('--oidc-required-claim: must be key=value')
      return { claim: text.slice(0, at).trim(), requiredValue: text.slice(at + 1).trim() }
    }),
  }
}

function readAnonymous(
  flags: AuthenticationFlags,
  { anonymous }: AuthenticationConfiguration,
): Pick<AuthenticationOptions, 'anonymous'> {
  if (!anonymous) return { anonymous: flags.anonymousAuth }
  if (!anonymous.enabled && anonymous.conditions.length > 0) {
    throw new CommandError(
      '--authentication-config: anonymous.conditions: enabled should be set to true when conditions are defined',
    )
  }
  if (!anonymous.enabled || anonymous.conditions.length === 0) return { anonymous: anonymous.enabled }
  return { anonymous: { paths: anonymous.conditions.map(({ path }) => path) } }
}

function createProxies(
  flags: AuthenticationFlags,
  { clientCa }: ProviderSurroundings,
): Pick<AuthenticationOptions, 'authenticators' | 'proxyHeaders'> {
  const file = flags.requestheaderClientCaFile
  if (file === undefined) return {}
  const lower = (names: readonly string[] = []) => names.map(name => name.toLowerCase())
  const isProxy = readFlagFile('requestheader-client-ca-file', file, createIssuerCheck)
  const isSignedForClients = createIssuerCheck(clientCa)
  const options = {
    isProxy,
    // Connections inside this process have a peer and no certificate.
    isClient: (peer: PeerCertificate) => peer.raw === undefined || isSignedForClients(peer),
    allowedNames: flags.requestheaderAllowedNames ?? [],
    usernameHeaders: lower(flags.requestheaderUsernameHeaders),
    uidHeaders: lower(flags.requestheaderUidHeaders),
    groupHeaders: lower(flags.requestheaderGroupHeaders),
    extraHeaderPrefixes: lower(flags.requestheaderExtraHeadersPrefix),
  }
  return { authenticators: createProxyAuthenticators(options), proxyHeaders: proxyHeadersOf(options) }
}

function usage(message: string): CommandError {
  return new CommandError(message, { exitCode: 2 })
}
