import type { ExtenderConfiguration } from '../extender.ts'
import type { ExtensionPoint } from '../profile.ts'

/** A `kubescheduler.config.k8s.io/v1` configuration as written by the user. */
export interface KubeSchedulerConfiguration {
  readonly profiles?: readonly KubeSchedulerProfile[]
  readonly extenders?: readonly ExtenderConfiguration[]
  /** 0 adapts to the size of the cluster. @default 0 */
  readonly percentageOfNodesToScore?: number
  /** @default 1 */
  readonly podInitialBackoffSeconds?: number
  /** @default 10 */
  readonly podMaxBackoffSeconds?: number
  /** Validated, but nodes are filtered sequentially. @default 16 */
  readonly parallelism?: number
  /** Validated only: leader election is configured where the operator is run. */
  readonly leaderElection?: LeaderElectionConfiguration
  /** Validated only: the operator is given its client. */
  readonly clientConnection?: { readonly burst?: number }
}

export interface LeaderElectionConfiguration {
  readonly leaderElect?: boolean
  readonly leaseDuration?: string
  readonly renewDeadline?: string
  readonly retryPeriod?: string
  readonly resourceLock?: string
}

export interface KubeSchedulerProfile {
  /** @default `default-scheduler`, of the only profile */
  readonly schedulerName?: string
  /** Overrides that of the whole configuration. */
  readonly percentageOfNodesToScore?: number
  readonly plugins?: Plugins
  readonly pluginConfig?: readonly PluginConfig[]
}

export type Plugins = { readonly [point in ExtensionPoint | 'multiPoint']?: PluginSet }

export interface PluginSet {
  readonly enabled?: readonly PluginReference[]
  readonly disabled?: readonly PluginReference[]
}

export interface PluginReference {
  readonly name: string
  /** 0 counts as unset. @default 1 */
  readonly weight?: number
}

export interface PluginConfig {
  readonly name: string
  readonly args?: unknown
}
