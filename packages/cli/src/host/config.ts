/**
 * The configuration in `coxswain.config.ts`: the flags of `coxswain run` in camel case. Flags take precedence, then environment
 * variables, then this file, then the defaults.
 */
export interface RunConfig {
  /** Files whose default export is an operator, relative to the configuration file; used when the command line names none. */
  readonly operators?: readonly string[]
  readonly kubeconfig?: string
  readonly context?: string
  /** Apply the CustomResourceDefinitions of the operators first. @default false */
  readonly install?: boolean
  /** Only the replica that holds the lease reconciles. @default false */
  readonly leaderElect?: boolean
  /** The name of the Lease. @default the names of the operators */
  readonly leaderElectionId?: string
  /** @default the namespace of the Pod, or of the kubeconfig's context */
  readonly leaderElectionNamespace?: string
  /** @default '15s' */
  readonly leaderElectionLeaseDuration?: string
  /** @default '10s' */
  readonly leaderElectionRenewDeadline?: string
  /** @default '2s' */
  readonly leaderElectionRetryPeriod?: string
  /** @default true */
  readonly leaderElectionReleaseOnCancel?: boolean
  /** `:8443`, or `0` to disable it. @default '0' */
  readonly metricsBindAddress?: string
  /** Serve over TLS, and only to users who may `get` /metrics. @default true */
  readonly metricsSecure?: boolean
  readonly metricsCertPath?: string
  readonly metricsCertName?: string
  readonly metricsCertKey?: string
  /** `:8081`, or `0` to disable it. @default '0' */
  readonly healthProbeBindAddress?: string
  /** @default '0' */
  readonly pprofBindAddress?: string
  /** @default all */
  readonly namespaces?: readonly string[]
  /** How many objects a controller reconciles concurrently, by controller name. */
  readonly concurrency?: Readonly<Record<string, number>>
  readonly webhookPort?: number
  /** `namespace/name`. */
  readonly webhookService?: string
  /** What precedes the operator's name in the names of its webhook configurations. @default '' */
  readonly webhookConfigurationPrefix?: string
  readonly webhookCertPath?: string
  readonly webhookCertName?: string
  readonly webhookCertKey?: string
  /** A TracingConfiguration. @default traces go where the process has registered a provider, if anywhere */
  readonly tracingConfigFile?: string
  readonly logFormat?: 'text' | 'json'
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error'
  readonly kubeApiQps?: number
  readonly kubeApiBurst?: number
}

/** A type-checked configuration of `coxswain run`: the default export of `coxswain.config.ts`. */
export function defineConfig(config: RunConfig): RunConfig {
  return config
}
