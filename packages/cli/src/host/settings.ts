import { type Command, Option } from 'commander'
import type { RunConfig } from './config.ts'
import {
  readBindAddress,
  readBoolean,
  readConcurrency,
  readDuration,
  readNames,
  readNumber,
  readOneOf,
  readPort,
  readService,
  readText,
} from './parsers.ts'

/** What can be said with a flag, an environment variable and the configuration file. */
export interface Setting {
  readonly flag: string
  /** What stands for the value in the help; `[bool]` may be left out. */
  readonly value: string
  readonly what: string
  /** `before` is what the same flag said already. */
  readonly read: (text: string, before?: never) => unknown
  readonly default?: string | boolean
}

const setting = (
  flag: string,
  value: string,
  what: string,
  rest: Pick<Setting, 'read' | 'default'>,
): Setting => ({
  flag,
  value,
  what,
  ...rest,
})
const bool = (flag: string, what: string, preset: boolean): Setting =>
  setting(flag, '[bool]', what, { read: readBoolean, default: preset })
const text = (flag: string, what: string, preset?: string): Setting =>
  setting(flag, '<text>', what, { read: readText, ...(preset !== undefined && { default: preset }) })
const file = (flag: string, value: '<file>' | '<dir>', what: string): Setting =>
  setting(flag, value, what, { read: readText })
const duration = (flag: string, what: string, preset: string): Setting =>
  setting(flag, '<duration>', what, { read: readDuration, default: preset })
const address = (flag: string, what: string): Setting =>
  setting(flag, '<address>', what, { read: readBindAddress, default: '0' })

const logFormat: Setting = setting(
  'log-format',
  '<format>',
  'text or json (default: text in a terminal, json elsewhere)',
  { read: readOneOf(['text', 'json']) },
)

/** Which cluster, as whom, and whether to install what the operators define. */
const connection: readonly Setting[] = [
  file('kubeconfig', '<file>', 'the kubeconfig to use (default: $KUBECONFIG, ~/.kube/config, or in-cluster)'),
  text('context', 'the context to use'),
  bool('install', 'apply the CustomResourceDefinitions of the operators first', false),
  setting('kube-api-qps', '<n>', 'requests a second to the API server, in the long run (default: no limit)', {
    read: readNumber,
  }),
  setting('kube-api-burst', '<n>', 'requests at once after a quiet time (default: twice --kube-api-qps)', {
    read: readNumber,
  }),
]

const leaderElection: readonly Setting[] = [
  bool('leader-elect', 'reconcile only while this replica holds the lease', false),
  text('leader-election-id', 'the name of the Lease (default: the names of the operators)'),
  text(
    'leader-election-namespace',
    "its namespace (default: the Pod's, or that of the kubeconfig's context)",
  ),
  duration('leader-election-lease-duration', 'how long others wait for a leader that is silent', '15s'),
  duration('leader-election-renew-deadline', 'how long the leader tries to renew before it stops', '10s'),
  duration('leader-election-retry-period', 'how long to wait between tries', '2s'),
  bool('leader-election-release-on-cancel', 'give the lease up when stopped', true),
]

/** How operators are run, wherever the API server is. */
const hosting: readonly Setting[] = [
  setting('namespaces', '<list>', 'watch namespaced kinds in these namespaces only (default: all)', {
    read: readNames,
  }),
  setting(
    'concurrency',
    '<controller=n>',
    'how many objects a controller reconciles at once; may be repeated',
    { read: readConcurrency },
  ),
  address('metrics-bind-address', 'where /metrics is served, such as :8443; 0 is nowhere'),
  bool('metrics-secure', 'serve metrics over TLS, to users whom the API server lets get /metrics', true),
  file(
    'metrics-cert-path',
    '<dir>',
    'folder with the certificate of the metrics server (default: self-signed)',
  ),
  text('metrics-cert-name', 'file name of that certificate', 'tls.crt'),
  text('metrics-cert-key', 'file name of its key', 'tls.key'),
  address('health-probe-bind-address', 'where /healthz and /readyz are served, such as :8081; 0 is nowhere'),
  address(
    'pprof-bind-address',
    'where /debug is served: profiles, heap, reconciles, log level; over TLS to authorized users unless on loopback; 0 is nowhere',
  ),
  setting('webhook-port', '<n>', 'port of the webhooks (default: a free one; 9443 with --webhook-service)', {
    read: readPort,
  }),
  setting('webhook-service', '<namespace/name>', 'the Service that leads to the webhooks, in a Pod', {
    read: readService,
  }),
  file(
    'webhook-cert-path',
    '<dir>',
    'folder with the certificate of the webhooks, when it is made elsewhere',
  ),
  text('webhook-cert-name', 'file name of that certificate', 'tls.crt'),
  text('webhook-cert-key', 'file name of its key', 'tls.key'),
]

const logLevel: Setting = setting('log-level', '<level>', 'debug, info, warn or error', {
  read: readOneOf(['debug', 'info', 'warn', 'error']),
  default: 'info',
})

/** Those of `coxswain run`. */
export const runSettings: readonly Setting[] = [
  ...connection,
  ...leaderElection,
  ...hosting,
  logFormat,
  logLevel,
]

/** Those of `coxswain up`, for the operators beside the server. */
export const upSettings: readonly Setting[] = [...hosting, logFormat]

/** `--metrics-secure` -> `COXSWAIN_METRICS_SECURE`. */
export function variableOf({ flag }: Setting): string {
  return `COXSWAIN_${flag.replaceAll('-', '_').toUpperCase()}`
}

/** `--metrics-secure` -> `metricsSecure`. */
export function propertyOf({ flag }: Setting): keyof RunConfig {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof RunConfig
}

export function addSettings(command: Command, settings: readonly Setting[]): Command {
  for (const each of settings) {
    const option = new Option(`--${each.flag} ${each.value}`, each.what)
      .env(variableOf(each))
      .argParser(each.read as (value: string, previous: unknown) => unknown)
    if (each.default !== undefined) option.default(each.default)
    command.addOption(option)
  }
  return command
}

/** As in Go, a boolean takes its value only after `=`: what follows a bare one is something else. */
export function completeBooleans(argv: readonly string[]): string[] {
  const bare = new Set(runSettings.filter(({ value }) => value === '[bool]').map(({ flag }) => `--${flag}`))
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  return argv.map((word, index) => (index < end && bare.has(word) ? `${word}=true` : word))
}
