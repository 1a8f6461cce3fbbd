/**
 * What the built-in kinds mean: the rules about Pods, Nodes, Services, quotas and conditions that the API server, the
 * controllers, the scheduler and the kubelet have to agree on. Pure functions over the types of `@coxswain/api`.
 *
 * @module
 */

export {
  type ConditionLike,
  isSameCondition,
  keepTransitionTime,
  setCondition,
} from '@coxswain/apimachinery/meta'
export { type Amounts, addAmounts, parseAmount, type ResourceList, readAmounts } from './amounts.ts'
export { controllerReference } from './controller-reference.ts'
export { scaleIntOrPercent } from './int-or-percent.ts'
export { isNodeReady, type NodeView, nodeReadyCondition } from './node.ts'
export {
  labelOf,
  matchesNodeSelector,
  matchesNodeSelectorTerm,
  matchesRequiredNodeAffinity,
} from './node-affinity.ts'
export {
  containerStatusesOf,
  findContainerStatus,
  isPodActive,
  isPodAvailable,
  isPodReady,
  isPodTerminal,
  isPodTerminating,
  isSidecar,
  isTerminalPhase,
  longRunningContainers,
  maxRestartCount,
  type PodView,
  podCondition,
  podIPsOf,
  podReadySince,
  setPodCondition,
  untilPodAvailable,
} from './pod.ts'
export {
  containerLimits,
  containerRequests,
  type PodResourcesOptions,
  podLimits,
  podRequests,
} from './pod-resources.ts'
export { computeQosClass, type QosClass, qosClassOf } from './qos.ts'
export {
  hasActiveDeadline,
  isClaimInQuotaScope,
  isPodInQuotaScope,
  type QuotaScope,
  quotaScopesOf,
  volumeAttributesClassesOf,
} from './quota-scopes.ts'
export {
  limitsClaims,
  limitsPods,
  limitsServices,
  plainCountedResources,
  quotaUsageOfClaim,
  quotaUsageOfContainer,
  quotaUsageOfPod,
  quotaUsageOfService,
} from './quota-usage.ts'
export { isExtendedResource, isHugePages, isNativeResource, isPodLevelResource } from './resource-names.ts'
export { hashControllerRevision, hashPodTemplate, sortKeys } from './revision-hash.ts'
export { type IPFamily, ipFamiliesOf, ipFamilyOf, isHeadless, type ServiceView } from './service.ts'
export {
  betaStorageClassAnnotation,
  defaultStorageClassAnnotation,
  findDefaultStorageClass,
  isDefaultStorageClass,
  storageClassNameOf,
} from './storage-class.ts'
export {
  findTaintAgainstScheduling,
  findUntoleratedTaint,
  type TaintLike,
  type TolerationLike,
  tolerates,
} from './tolerations.ts'
export { podSelectorOf } from './workload.ts'
