import { type Command, InvalidArgumentError, Option } from 'commander'

/** The authentication flags of `coxswain up`; the names are kube-apiserver's. */
export interface AuthenticationFlags {
  readonly anonymousAuth: boolean
  readonly apiAudiences?: readonly string[]
  readonly authenticationConfig?: string
  readonly authenticationTokenWebhookCacheTtl: string
  readonly authenticationTokenWebhookConfigFile?: string
  readonly authenticationTokenWebhookVersion: 'v1' | 'v1beta1'
  readonly clientCaFile?: string
  readonly enableBootstrapTokenAuth: boolean
  readonly oidcCaFile?: string
  readonly oidcClientId?: string
  readonly oidcGroupsClaim?: string
  readonly oidcGroupsPrefix?: string
  readonly oidcIssuerUrl?: string
  readonly oidcRequiredClaim?: readonly string[]
  readonly oidcSigningAlgs: readonly string[]
  readonly oidcUsernameClaim: string
  readonly oidcUsernamePrefix?: string
  readonly proxyClientCertFile?: string
  readonly proxyClientKeyFile?: string
  readonly requestheaderAllowedNames?: readonly string[]
  readonly requestheaderClientCaFile?: string
  readonly requestheaderExtraHeadersPrefix?: readonly string[]
  readonly requestheaderGroupHeaders?: readonly string[]
  readonly requestheaderUidHeaders?: readonly string[]
  readonly requestheaderUsernameHeaders?: readonly string[]
  readonly serviceAccountExtendTokenExpiration: boolean
  readonly serviceAccountIssuer?: readonly string[]
  readonly serviceAccountJwksUri?: string
  readonly serviceAccountKeyFile?: readonly string[]
  readonly serviceAccountMaxTokenExpiration?: string
  readonly serviceAccountSigningKeyFile?: string
  readonly tokenAuthFile?: string
}

export function addAuthenticationOptions(command: Command): Command {
  const text = (flag: string, what: string) => command.option(`--${flag} <text>`, what)
  const file = (flag: string, what: string) => command.option(`--${flag} <file>`, what)
  const list = (flag: string, what: string) =>
    command.addOption(new Option(`--${flag} <list>`, `${what}; comma-separated`).argParser(appendList))
  const repeatable = (flag: string, what: string) =>
    command.addOption(new Option(`--${flag}`, `${what}; may be repeated`).argParser(append))
  const boolean = (flag: string, what: string, preset: boolean) =>
    command.addOption(
      new Option(`--${flag} [bool]`, what).default(preset).preset('true').argParser(parseBoolean),
    )
  const duration = (flag: string, what: string) =>
    new Option(`--${flag} <duration>`, what).argParser(checkDuration)

  boolean('anonymous-auth', 'allow unauthenticated requests as system:anonymous', true)
  file('token-auth-file', 'bearer tokens, lines of token,user,uid,"group1,group2"')
  file('client-ca-file', 'CAs of client certificates, in addition to that of the data directory')
  list('api-audiences', 'the audiences of tokens (default: the issuers)')
  repeatable(
    'service-account-issuer <url>',
    'issuer of service account tokens; the first is used for new ones',
  )
  file('service-account-signing-key-file', 'private key for new tokens (default: one in the data directory)')
  repeatable('service-account-key-file <file>', 'keys that verify service account tokens')
  text('service-account-jwks-uri', 'URL of the JSON web key set that discovery publishes')
  command.addOption(duration('service-account-max-token-expiration', 'the longest lifetime of a token'))
  boolean('service-account-extend-token-expiration', 'extend the lifetime of Pod tokens to a year', true)
  boolean(
    'enable-bootstrap-token-auth',
    'accept the tokens of Secrets bootstrap-token-* in kube-system',
    false,
  )
  file('authentication-config', 'AuthenticationConfiguration: identity providers and anonymous access')
  file('authentication-token-webhook-config-file', 'kubeconfig of a server that authenticates tokens')
  command.addOption(
    new Option('--authentication-token-webhook-version <version>', 'version of TokenReview to send')
      .choices(['v1', 'v1beta1'])
      .default('v1beta1'),
  )
  command.addOption(
    duration('authentication-token-webhook-cache-ttl', 'how long to cache its answers').default('2m0s'),
  )
  text('oidc-issuer-url', 'OpenID provider: its https URL, as in the claim iss')
  text('oidc-client-id', 'OpenID provider: the audience of tokens')
  file('oidc-ca-file', "OpenID provider: CAs of the server's certificate (default: the system's)")
  command.option('--oidc-username-claim <text>', 'OpenID provider: the claim with the user', 'sub')
  text('oidc-username-prefix', 'OpenID provider: prefix of users; - for none')
  text('oidc-groups-claim', 'OpenID provider: the claim with the groups')
  text('oidc-groups-prefix', 'OpenID provider: prefix of groups')
  command.addOption(
    new Option('--oidc-signing-algs <list>', 'OpenID provider: accepted signing algorithms')
      .default(['RS256'])
      .argParser(parseList),
  )
  repeatable('oidc-required-claim <key=value>', 'OpenID provider: a required claim')
  file('requestheader-client-ca-file', 'CA of the certificates of front proxies')
  list('requestheader-allowed-names', 'common names of front proxies (default: any)')
  list('requestheader-username-headers', 'headers with the user')
  list('requestheader-uid-headers', 'headers with the uid')
  list('requestheader-group-headers', 'headers with the groups')
  list('requestheader-extra-headers-prefix', 'prefix of headers with extra fields')
  file(
    'proxy-client-cert-file',
    'client certificate for extension API servers (default: one of the front proxy CA of the data directory)',
  )
  file('proxy-client-key-file', 'its key')
  return command
}

function append(item: string, before: readonly string[] = []): string[] {
  return [...before, item]
}

function parseList(text: string): string[] {
  return text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}

function appendList(text: string, before: readonly string[] = []): string[] {
  return [...before, ...parseList(text)]
}

function parseBoolean(text: string): boolean {
  if (/^(1|t|true)$/i.test(text)) return true
  if (/^(0|f|false)$/i.test(text)) return false
  throw new InvalidArgumentError('must be true or false.')
}

/** In Go's format; parsed where it is used, so that other commands do not load the parser. */
export function checkDuration(text: string): string {
  if (/^(\d+(\.\d+)?(ns|us|ms|s|m|h))+$/.test(text)) return text
  throw new InvalidArgumentError('must be a duration such as 10s or 1h30m.')
}
