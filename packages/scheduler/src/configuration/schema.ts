import { builtinSchema } from '@coxswain/api'
import type { Schema } from '@coxswain/apimachinery/schema'
import { extensionPoints } from '../profile.ts'

const text: Schema = { type: 'string' }
/** Empty if it is missing. */
const named: Schema = { type: 'string', default: '' }
const bool: Schema = { type: 'boolean' }
const int32: Schema = { type: 'integer', format: 'int32' }
const int64: Schema = { type: 'integer', format: 'int64' }
const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const listOf = (items: Schema): Schema => ({ type: 'array', items })
/** `name` is the Go type, for messages. */
const struct = (name: string, properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  name,
  properties,
})
const coreType = (name: string): Schema => builtinSchema(`io.k8s.api.core.v1.${name}`)!

const typeMeta = { apiVersion: text, kind: text }

const pluginSet = struct('PluginSet', {
  enabled: listOf(struct('Plugin', { name: named, weight: int32 })),
  disabled: listOf(struct('Plugin', { name: named, weight: int32 })),
})

const profile = struct('KubeSchedulerProfile', {
  schedulerName: text,
  percentageOfNodesToScore: int32,
  plugins: struct(
    'Plugins',
    Object.fromEntries(
      ['multiPoint', ...extensionPoints, 'placementGenerate', 'placementScore'].map(point => [
        point,
        pluginSet,
      ]),
    ),
  ),
  pluginConfig: listOf(struct('PluginConfig', { name: named, args: anything })),
})

const extender = struct('Extender', {
  urlPrefix: named,
  filterVerb: text,
  preemptVerb: text,
  prioritizeVerb: text,
  weight: int64,
  bindVerb: text,
  enableHTTPS: bool,
  tlsConfig: struct('ExtenderTLSConfig', {
    insecure: bool,
    serverName: text,
    certFile: text,
    keyFile: text,
    caFile: text,
    certData: text,
    keyData: text,
    caData: text,
  }),
  httpTimeout: text,
  nodeCacheCapable: bool,
  managedResources: listOf(struct('ExtenderManagedResource', { name: named, ignoredByScheduler: bool })),
  ignorable: bool,
})

export const configurationSchema: Schema = struct('KubeSchedulerConfiguration', {
  ...typeMeta,
  parallelism: int32,
  leaderElection: struct('LeaderElectionConfiguration', {
    leaderElect: bool,
    leaseDuration: text,
    renewDeadline: text,
    retryPeriod: text,
    resourceLock: text,
    resourceName: text,
    resourceNamespace: text,
  }),
  clientConnection: struct('ClientConnectionConfiguration', {
    kubeconfig: text,
    acceptContentTypes: text,
    contentType: text,
    qps: { type: 'number' },
    burst: int32,
  }),
  enableProfiling: bool,
  enableContentionProfiling: bool,
  percentageOfNodesToScore: int32,
  podInitialBackoffSeconds: int64,
  podMaxBackoffSeconds: int64,
  profiles: listOf(profile),
  extenders: listOf(extender),
  delayCacheUntilActive: bool,
})

const shape = listOf(struct('UtilizationShapePoint', { utilization: int32, score: int32 }))
const resources = listOf(struct('ResourceSpec', { name: named, weight: int64 }))

/** The schemas of the built-in plug-ins' `args`. */
export const argsSchemas: Readonly<Record<string, Schema>> = {
  DefaultPreemption: struct('DefaultPreemptionArgs', {
    ...typeMeta,
    minCandidateNodesPercentage: int32,
    minCandidateNodesAbsolute: int32,
  }),
  DynamicResources: struct('DynamicResourcesArgs', {
    ...typeMeta,
    filterTimeout: text,
    bindingTimeout: text,
  }),
  InterPodAffinity: struct('InterPodAffinityArgs', {
    ...typeMeta,
    hardPodAffinityWeight: int32,
    ignorePreferredTermsOfExistingPods: bool,
  }),
  NodeAffinity: struct('NodeAffinityArgs', { ...typeMeta, addedAffinity: coreType('NodeAffinity') }),
  NodeResourcesBalancedAllocation: struct('NodeResourcesBalancedAllocationArgs', { ...typeMeta, resources }),
  NodeResourcesFit: struct('NodeResourcesFitArgs', {
    ...typeMeta,
    ignoredResources: listOf(text),
    ignoredResourceGroups: listOf(text),
    scoringStrategy: struct('ScoringStrategy', {
      type: text,
      resources,
      requestedToCapacityRatio: struct('RequestedToCapacityRatioParam', { shape }),
    }),
  }),
  PodTopologySpread: struct('PodTopologySpreadArgs', {
    ...typeMeta,
    defaultConstraints: listOf(coreType('TopologySpreadConstraint')),
    defaultingType: text,
  }),
  VolumeBinding: struct('VolumeBindingArgs', { ...typeMeta, bindTimeoutSeconds: int64, shape }),
}
