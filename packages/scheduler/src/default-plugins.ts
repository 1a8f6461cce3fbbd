import { createBalancedAllocation } from './plugins/balanced-allocation.ts'
import { defaultBinder } from './plugins/default-binder.ts'
import { imageLocality } from './plugins/image-locality.ts'
import { createInterPodAffinity, type InterPodAffinityArgs } from './plugins/inter-pod-affinity.ts'
import { createNodeAffinity, type NodeAffinityArgs } from './plugins/node-affinity.ts'
import { nodeName } from './plugins/node-name.ts'
import { nodePorts } from './plugins/node-ports.ts'
import {
  createNodeResourcesFit,
  type NodeResourcesFitArgs,
  type ResourceWeight,
} from './plugins/node-resources-fit.ts'
import { nodeUnschedulable } from './plugins/node-unschedulable.ts'
import { nodeVolumeLimits } from './plugins/node-volume-limits.ts'
import { prioritySort } from './plugins/priority-sort.ts'
import { schedulingGates } from './plugins/scheduling-gates.ts'
import { taintToleration } from './plugins/taint-toleration.ts'
import { createTopologySpread, type TopologySpreadArgs } from './plugins/topology-spread.ts'
import { createVolumeBinding, type VolumeBindingArgs } from './plugins/volume-binding.ts'
import { volumeRestrictions } from './plugins/volume-restrictions.ts'
import { volumeZone } from './plugins/volume-zone.ts'
import { createPreemption, type Evict, type PreemptionArgs } from './preemption.ts'
import type { WeightedPlugin } from './profile.ts'

/** What `pluginConfig` of a scheduler configuration holds, by plug-in. */
export interface PluginArgs {
  readonly NodeAffinity?: NodeAffinityArgs
  readonly NodeResourcesFit?: NodeResourcesFitArgs
  readonly NodeResourcesBalancedAllocation?: { readonly resources?: readonly ResourceWeight[] }
  readonly PodTopologySpread?: TopologySpreadArgs
  readonly InterPodAffinity?: InterPodAffinityArgs
  readonly VolumeBinding?: VolumeBindingArgs
  readonly DefaultPreemption?: PreemptionArgs
}

/** Upstream's plug-ins with their weights, in their order. */
export function createDefaultPlugins(evict: Evict, args: PluginArgs = {}): WeightedPlugin[] {
  return [
    { plugin: schedulingGates },
    { plugin: prioritySort },
    { plugin: nodeUnschedulable },
    { plugin: nodeName },
    { plugin: taintToleration, weight: 3 },
    { plugin: createNodeAffinity(args.NodeAffinity), weight: 2 },
    { plugin: nodePorts },
    { plugin: createNodeResourcesFit(args.NodeResourcesFit), weight: 1 },
    { plugin: volumeRestrictions },
    { plugin: nodeVolumeLimits },
    { plugin: createVolumeBinding(args.VolumeBinding) },
    { plugin: volumeZone },
    { plugin: createTopologySpread(args.PodTopologySpread), weight: 2 },
    { plugin: createInterPodAffinity(args.InterPodAffinity), weight: 2 },
    { plugin: createPreemption(evict, args.DefaultPreemption) },
    { plugin: createBalancedAllocation(args.NodeResourcesBalancedAllocation?.resources), weight: 1 },
    { plugin: imageLocality, weight: 1 },
    { plugin: defaultBinder },
  ]
}
