import type { PluginReference } from './configuration/types.ts'
import type { Evict } from './evict.ts'
import type { SchedulerPlugin } from './plugin.ts'
import { createBalancedAllocation } from './plugins/balanced-allocation.ts'
import { defaultBinder } from './plugins/default-binder.ts'
import { createDynamicResources, type DynamicResourcesArgs } from './plugins/dynamic-resources.ts'
import { imageLocality } from './plugins/image-locality.ts'
import { createInterPodAffinity, type InterPodAffinityArgs } from './plugins/inter-pod-affinity.ts'
import { createNodeAffinity, type NodeAffinityArgs } from './plugins/node-affinity.ts'
import { nodeDeclaredFeatures } from './plugins/node-declared-features.ts'
import { nodeName } from './plugins/node-name.ts'
import { nodePorts } from './plugins/node-ports.ts'
import { createNodeResourcesFit, type NodeResourcesFitArgs } from './plugins/node-resources-fit.ts'
import { nodeUnschedulable } from './plugins/node-unschedulable.ts'
import { nodeVolumeLimits } from './plugins/node-volume-limits.ts'
import { prioritySort } from './plugins/priority-sort.ts'
import { schedulingGates } from './plugins/scheduling-gates.ts'
import type { ResourceWeight } from './plugins/scored-resources.ts'
import { taintToleration } from './plugins/taint-toleration.ts'
import { createTopologySpread, type TopologySpreadArgs } from './plugins/topology-spread.ts'
import { createVolumeBinding, type VolumeBindingArgs } from './plugins/volume-binding.ts'
import { volumeRestrictions } from './plugins/volume-restrictions.ts'
import { volumeZone } from './plugins/volume-zone.ts'
import { createPreemption, type PreemptionArgs } from './preemption.ts'
import type { ExtensionPoint, WeightedPlugin } from './profile.ts'

/** The arguments of the built-in plug-ins, as in `pluginConfig` of a scheduler configuration. */
export interface PluginArgs {
  readonly NodeAffinity?: NodeAffinityArgs
  readonly NodeResourcesFit?: NodeResourcesFitArgs
  readonly NodeResourcesBalancedAllocation?: { readonly resources?: readonly ResourceWeight[] }
  readonly PodTopologySpread?: TopologySpreadArgs
  readonly InterPodAffinity?: InterPodAffinityArgs
  readonly VolumeBinding?: VolumeBindingArgs
  readonly DynamicResources?: DynamicResourcesArgs
  readonly DefaultPreemption?: PreemptionArgs
}

/** Creates a plug-in with arguments: its unvalidated `args` in `pluginConfig`. */
export interface PluginFactory {
  readonly name: string
  readonly create: (args: unknown) => SchedulerPlugin
}

/** A plug-in that profiles can name. */
export interface DefaultPlugin {
  readonly create: (args: unknown) => SchedulerPlugin
  /** The extension points of upstream's plug-in of this name. Ours may implement others. */
  readonly points?: readonly ExtensionPoint[]
}

const filtering = ['preFilter', 'filter'] as const
const scoring = ['preScore', 'score'] as const

/** Upstream's plug-ins, in their order. `ignoredResources` are handled by extenders. */
export function builtinPlugins(
  evict: Evict,
  ignoredResources: readonly string[] = [],
): [name: string, plugin: DefaultPlugin][] {
  const fixed = (plugin: SchedulerPlugin, points: readonly ExtensionPoint[]): [string, DefaultPlugin] => [
    plugin.name,
    { create: () => plugin, points },
  ]
  const made = <N extends keyof PluginArgs>(
    name: N,
    create: (args: PluginArgs[N]) => SchedulerPlugin,
    points: readonly ExtensionPoint[],
  ): [string, DefaultPlugin] => [name, { create: args => create(args as PluginArgs[N]), points }]
  return [
    fixed(schedulingGates, ['preEnqueue']),
    fixed(prioritySort, ['queueSort']),
    fixed(nodeUnschedulable, ['filter']),
    fixed(nodeName, ['filter']),
    fixed(taintToleration, ['filter', ...scoring]),
    made('NodeAffinity', createNodeAffinity, [...filtering, ...scoring]),
    fixed(nodePorts, filtering),
    made(
      'NodeResourcesFit',
      (args = {}) => {
        const ignored = [...(args.ignoredResources ?? []), ...ignoredResources]
        return createNodeResourcesFit({ ...args, ignoredResources: ignored })
      },
      [...filtering, ...scoring],
    ),
    fixed(volumeRestrictions, filtering),
    fixed(nodeVolumeLimits, filtering),
    made('VolumeBinding', createVolumeBinding, [...filtering, ...scoring, 'reserve', 'preBind']),
    fixed(volumeZone, filtering),
    made('PodTopologySpread', createTopologySpread, [...filtering, ...scoring]),
    made('InterPodAffinity', createInterPodAffinity, [...filtering, ...scoring]),
    made('DynamicResources', createDynamicResources, [
      'preEnqueue',
      ...filtering,
      'postFilter',
      'score',
      'reserve',
      'preBind',
    ]),
    made('DefaultPreemption', args => createPreemption(evict, args), ['postFilter', 'preEnqueue']),
    made('NodeResourcesBalancedAllocation', args => createBalancedAllocation(args?.resources), scoring),
    fixed(imageLocality, ['score']),
    fixed(defaultBinder, ['bind']),
    fixed(nodeDeclaredFeatures, filtering),
  ]
}

const weights: Readonly<Record<string, number>> = {
  TaintToleration: 3,
  NodeAffinity: 2,
  PodTopologySpread: 2,
  InterPodAffinity: 2,
  DynamicResources: 2,
}

/** The default plug-ins of profiles, under `multiPoint`. */
export const defaultPluginSet: readonly PluginReference[] = builtinPlugins(async () => {}).map(([name]) => ({
  name,
  weight: weights[name] ?? 1,
}))

/** Creates upstream's plug-ins with their weights, in their order. */
export function createDefaultPlugins(evict: Evict, args: PluginArgs = {}): WeightedPlugin[] {
  return builtinPlugins(evict).map(([name, { create }]) => ({
    plugin: create(args[name as keyof PluginArgs]),
    weight: weights[name] ?? 1,
  }))
}
