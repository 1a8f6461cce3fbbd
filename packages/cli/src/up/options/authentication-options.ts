import { type Command, InvalidArgumentError, Option } from 'commander'

/** What `coxswain up` may be told about who is who; the names are kube-apiserver's. */
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
    command.addOption(new Option(`--${flag} <list>`, `${what}; several with commas`).argParser(appendList))
  const repeatable = (flag: string, what: string) =>
    command.addOption(new Option(`--${flag}`, `${what}; may be repeated`).argParser(append))
  const boolean = (flag: string, what: string, preset: boolean) =>
    command.addOption(
      new Option(`--${flag} [bool]`, what).default(preset).preset('true').argParser(parseBoolean),
    )
  const duration = (flag: string, what: string) =>
    new Option(`--${flag} <duration>`, what).argParser(checkDuration)

  boolean('anonymous-auth', 'let requests without a credential in as system:anonymous', true)
  file('token-auth-file', 'bearer tokens, lines of token,user,uid,"group1,group2"')
  file('client-ca-file', 'CAs whose client certificates count besides those of the data directory')
  list('api-audiences', 'for whom tokens have to be meant (default: the issuers)')
  repeatable(
    'service-account-issuer <url>',
    'issuer of service account tokens; the first is that of new ones',
  )
  file('service-account-signing-key-file', 'private key for new tokens (default: one in the data directory)')
  repeatable('service-account-key-file <file>', 'keys whose signatures on tokens count')
  text('service-account-jwks-uri', 'where others find the keys')
  command.addOption(duration('service-account-max-token-expiration', 'the longest that a token may last'))
  boolean('service-account-extend-token-expiration', "let pods' tokens last a year", true)
  boolean('enable-bootstrap-token-auth', 'take the tokens of secrets bootstrap-token-* in kube-system', false)
  file('authentication-config', 'AuthenticationConfiguration: identity providers and anonymous access')
  file('authentication-token-webhook-config-file', 'kubeconfig of a server that knows tokens')
  command.addOption(
    new Option('--authentication-token-webhook-version <version>', 'of the TokenReview that it is sent')
      .choices(['v1', 'v1beta1'])
      .default('v1beta1'),
  )
  command.addOption(
    duration('authentication-token-webhook-cache-ttl', 'how long its answers are kept').default('2m0s'),
  )
  text('oidc-issuer-url', 'OpenID provider: its https URL, as in the claim iss')
  text('oidc-client-id', 'OpenID provider: whom tokens have to be meant for')
  file('oidc-ca-file', "OpenID provider: CAs of the server's certificate (default: the system's)")
  command.option('--oidc-username-claim <text>', 'OpenID provider: the claim with the user', 'sub')
  text('oidc-username-prefix', 'OpenID provider: put before the user; - for nothing')
  text('oidc-groups-claim', 'OpenID provider: the claim with the groups')
  text('oidc-groups-prefix', 'OpenID provider: put before groups')
  command.addOption(
    new Option('--oidc-signing-algs <list>', 'OpenID provider: algorithms of signatures that count')
      .default(['RS256'])
      .argParser(parseList),
  )
  repeatable('oidc-required-claim <key=value>', 'OpenID provider: a claim that has to be there')
  file('requestheader-client-ca-file', 'CA of the certificates of front proxies')
  list('requestheader-allowed-names', 'common names of front proxies (default: any)')
  list('requestheader-username-headers', 'headers with the user that a front proxy vouches for')
  list('requestheader-uid-headers', 'headers with the uid')
  list('requestheader-group-headers', 'headers with the groups')
  list('requestheader-extra-headers-prefix', 'what headers with extra begin with')
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
  throw new InvalidArgumentError('true or false is needed.')
}

/** Go's form; it is read where it is used, so that other commands need not load what reads it. */
export function checkDuration(text: string): string {
  if (/^(\d+(\.\d+)?(ns|us|ms|s|m|h))+$/.test(text)) return text
  throw new InvalidArgumentError('a duration like 10s or 1h30m is needed.')
}
