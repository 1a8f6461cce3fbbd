/**
 * The scheduler: binds every pod to a node.
 *
 *   createScheduler()                   upstream's plug-ins
 *   createScheduler({ plugins: [mine] })  and your own
 *
 * @module
 */

export type { NodeView, PodView } from '@coxswain/kinds'
export {
  type ReadConfigurationOptions,
  readSchedulerConfiguration,
} from './configuration/read-configuration.ts'
export { createScheduler, defaultSchedulerName, type SchedulerOptions } from './create-scheduler.ts'
export {
  createDefaultPlugins,
  type PluginArgs,
  type PluginFactory,
} from './default-plugins.ts'
export { isSchedulerError, SchedulerError, type SchedulerErrorCode } from './errors.ts'
export type { Evict } from './evict.ts'
export { createExtender, type Extender, type ExtenderConfiguration, type PostJson } from './extender.ts'
export type { NodeInfo } from './node-info.ts'
export {
  type ClusterEvent,
  type Cycle,
  type CycleData,
  highestScore,
  type NodeScore,
  normalizeToHighest,
  type SchedulerHandle,
  type SchedulerPlugin,
  skip,
  unresolvable,
  unschedulable,
  type Verdict,
  type Wait,
} from './plugin.ts'
export type { DynamicResourcesArgs } from './plugins/dynamic-resources.ts'
export type { PodInfo } from './pod-info.ts'
export type { PreemptionArgs } from './preemption.ts'
export type { ExtensionPoint, Profile, WeightedPlugin } from './profile.ts'
