import { type Command, Option } from 'commander'
import type { RunConfig } from './config.ts'
import {
  readBindAddress,
  readBoolean,
  readConcurrency,
  readDuration,
  readNamespaces,
  readNumber,
  readOneOf,
  readPort,
  readService,
  readText,
} from './parsers.ts'

/** A setting with a flag, an environment variable and a property of the configuration file. */
export interface Setting {
  readonly flag: string
  /** The placeholder of the value in the help; `[bool]` may be omitted. */
  readonly value: string
  readonly what: string
  /** `before` is the value of earlier occurrences of the flag. */
  readonly read: (text: string, before?: never) => unknown
  readonly default?: string | boolean
}

const setting = (flag: string, what: string, rest: Omit<Setting, 'flag' | 'what'>): Setting => ({
  flag,
  what,
  ...rest,
})
const yesOrNo = (flag: string, what: string, preset: 'true' | 'false'): Setting =>
  setting(flag, what, { value: '[bool]', read: readBoolean, default: preset === 'true' })
const text = (flag: string, what: string, preset?: string): Setting =>
  setting(flag, what, { value: '<text>', read: readText, ...(preset !== undefined && { default: preset }) })
const file = (flag: string, what: string, value: '<file>' | '<dir>'): Setting =>
  setting(flag, what, { value, read: readText })
const duration = (flag: string, what: string, preset: string): Setting =>
  setting(flag, what, { value: '<duration>', read: readDuration, default: preset })
const address = (flag: string, what: string): Setting =>
  setting(flag, what, { value: '<address>', read: readBindAddress, default: '0' })

const logFormat: Setting = setting(
  'log-format',
  'text or json (default: text in a terminal, json elsewhere)',
  { value: '<format>', read: readOneOf(['text', 'json']) },
)

/** The cluster and the user, and whether to install the operators' CRDs. */
const connection: readonly Setting[] = [
  file('kubeconfig', 'the kubeconfig to use (default: $KUBECONFIG, ~/.kube/config, or in-cluster)', '<file>'),
  text('context', 'the context to use'),
  yesOrNo('install', 'apply the CustomResourceDefinitions of the operators first', 'false'),
]

const rateLimit: readonly Setting[] = [
  setting('kube-api-qps', 'sustained requests per second to the API server (default: no limit)', {
    value: '<n>',
    read: readNumber,
  }),
  setting('kube-api-burst', 'burst of requests to the API server (default: twice --kube-api-qps)', {
    value: '<n>',
    read: readNumber,
  }),
]

const leaderElection: readonly Setting[] = [
  yesOrNo('leader-elect', 'reconcile only while this replica holds the lease', 'false'),
  text('leader-election-id', 'the name of the Lease (default: the names of the operators)'),
  text(
    'leader-election-namespace',
    "the namespace of the Lease (default: the Pod's, or that of the kubeconfig's context)",
  ),
  duration(
    'leader-election-lease-duration',
    'how long candidates wait after the last renewal before they take over',
    '15s',
  ),
  duration('leader-election-renew-deadline', 'how long the leader tries to renew before it stops', '10s'),
  duration('leader-election-retry-period', 'how long to wait between attempts', '2s'),
  yesOrNo('leader-election-release-on-cancel', 'release the lease when stopped', 'true'),
]

const tracing: Setting = file(
  'tracing-config-file',
  'TracingConfiguration: the collector that traces are sent to, and how many are sampled',
  '<file>',
)

/** How operators are run, wherever the API server is. */
const hosting: readonly Setting[] = [
  setting('namespaces', 'watch namespaced kinds in these namespaces only (default: all)', {
    value: '<list>',
    read: readNamespaces,
  }),
  setting('concurrency', 'how many objects a controller reconciles concurrently; may be repeated', {
    value: '<controller=n>',
    read: readConcurrency,
  }),
  address('metrics-bind-address', 'address that serves /metrics, such as :8443; 0 disables it'),
  yesOrNo('metrics-secure', 'serve metrics over TLS, only to users who may get /metrics', 'true'),
  file(
    'metrics-cert-path',
    'directory with the certificate of the metrics server (default: self-signed)',
    '<dir>',
  ),
  text('metrics-cert-name', 'file name of that certificate', 'tls.crt'),
  text('metrics-cert-key', 'file name of its key', 'tls.key'),
  address(
    'health-probe-bind-address',
    'address that serves /healthz and /readyz, such as :8081; 0 disables it',
  ),
  address(
    'pprof-bind-address',
    'address that serves /debug: profiles, heap, reconciles, log level; over TLS to authorized users unless on loopback; 0 disables it',
  ),
  setting('webhook-port', 'port of the webhook server (default: a free one; 9443 with --webhook-service)', {
    value: '<n>',
    read: readPort,
  }),
  setting('webhook-service', 'the Service of the webhook server, when run in a Pod', {
    value: '<namespace/name>',
    read: readService,
  }),
  text(
    'webhook-configuration-prefix',
    "what precedes the operator's name in the names of its webhook configurations, as with kustomize's namePrefix",
  ),
  file(
    'webhook-cert-path',
    'directory with the certificate of the webhook server, when it is managed elsewhere',
    '<dir>',
  ),
  text('webhook-cert-name', 'file name of that certificate', 'tls.crt'),
  text('webhook-cert-key', 'file name of its key', 'tls.key'),
]

const logLevel: Setting = setting('log-level', 'debug, info, warn or error', {
  value: '<level>',
  read: readOneOf(['debug', 'info', 'warn', 'error']),
  default: 'info',
})

/** The settings of `coxswain run`. */
export const runSettings: readonly Setting[] = [
  ...connection,
  ...rateLimit,
  ...leaderElection,
  ...hosting,
  tracing,
  logFormat,
  logLevel,
]

/** Those of `coxswain up`, for the operators beside the server; its controllers have the other flags of leader election. */
export const upSettings: readonly Setting[] = [
  ...rateLimit,
  text(
    'leader-election-id',
    'let operators reconcile only while this server holds this Lease, as servers with one etcd need it (default: no lease)',
  ),
  text('leader-election-namespace', 'the namespace of that Lease (default: default)'),
  ...hosting,
  tracing,
  logFormat,
]

/** Those of `coxswain dev`: the cluster is its own, and webhooks are reached on this machine. */
export const devSettings: readonly Setting[] = [
  ...hosting.filter(({ flag }) => flag !== 'webhook-service'),
  tracing,
  { ...logFormat, what: 'text or json', default: 'text' },
  logLevel,
]

/** `--metrics-secure` -> `COXSWAIN_METRICS_SECURE`. */
export function variableOf({ flag }: Setting): string {
  return `COXSWAIN_${flag.replaceAll('-', '_').toUpperCase()}`
}

/** `--metrics-secure` -> `metricsSecure`. */
export function propertyOf({ flag }: Setting): keyof RunConfig {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof RunConfig
}

/** A Service coxswain-webhook gives the Pods of its namespace COXSWAIN_WEBHOOK_PORT=tcp://10.0.0.1:443, which is not a setting. */
function isServiceLink(value: string | undefined): boolean {
  return value !== undefined && /^(tcp|udp|sctp):\/\//.test(value)
}

export function addSettings(command: Command, settings: readonly Setting[]): Command {
  for (const each of settings) {
    const option = new Option(`--${each.flag} ${each.value}`, each.what).argParser(
      each.read as (value: string, previous: unknown) => unknown,
    )
    if (!isServiceLink(process.env[variableOf(each)])) option.env(variableOf(each))
    if (each.default !== undefined) option.default(each.default)
    command.addOption(option)
  }
  return command
}

/** As in Go, a boolean flag takes its value only after `=`: the next argument is not its value. */
export function completeBooleans(argv: readonly string[]): string[] {
  const bare = new Set(runSettings.filter(({ value }) => value === '[bool]').map(({ flag }) => `--${flag}`))
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  return argv.map((word, index) => (index < end && bare.has(word) ? `${word}=true` : word))
}
