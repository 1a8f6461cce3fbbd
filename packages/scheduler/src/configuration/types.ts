import type { ExtenderConfiguration } from '../extender.ts'
import type { ExtensionPoint } from '../profile.ts'

/** `kubescheduler.config.k8s.io/v1`, as its author writes it. */
export interface KubeSchedulerConfiguration {
  readonly profiles?: readonly KubeSchedulerProfile[]
  readonly extenders?: readonly ExtenderConfiguration[]
  /** 0 chooses by the size of the cluster. @default 0 */
  readonly percentageOfNodesToScore?: number
  /** @default 1 */
  readonly podInitialBackoffSeconds?: number
  /** @default 10 */
  readonly podMaxBackoffSeconds?: number
  /** Checked; nodes are looked at one after the other. @default 16 */
  readonly parallelism?: number
  /** Checked; whoever runs the scheduler says whether it stands for election. */
  readonly leaderElection?: LeaderElectionConfiguration
  /** Checked; whoever runs the scheduler gives it its client. */
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
  /** Instead of that of the whole configuration. */
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
  /** 0 is as good as nothing. @default 1 */
  readonly weight?: number
}

export interface PluginConfig {
  readonly name: string
  readonly args?: unknown
}
