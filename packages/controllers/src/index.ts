/**
 * The built-in controllers of kube-controller-manager and cloud-controller-manager, each an operator like any other.
 * @module
 */
export { createAttachDetachController } from './attach-detach/attach-detach-controller.ts'
export { createBootstrapSignerController, type Hmac } from './bootstrap-token/bootstrap-signer-controller.ts'
export { createTokenCleanerController } from './bootstrap-token/token-cleaner-controller.ts'
export { createCertificateApprovingController } from './certificates/approving-controller.ts'
export {
  type CertificateCleanerOptions,
  createCertificateCleanerController,
} from './certificates/cleaner-controller.ts'
export {
  type CertificateIssuer,
  createCertificateSigningController,
  type RequestedCertificate,
  type SigningOptions,
} from './certificates/signing-controller.ts'
export { createCloudNodeController } from './cloud/cloud-node-controller.ts'
export { createCloudNodeLifecycleController } from './cloud/cloud-node-lifecycle-controller.ts'
export { createLocalCloud, localCloudKey } from './cloud/local-cloud.ts'
export { createNodeRouteController, type NodeRouteOptions } from './cloud/node-route-controller.ts'
export {
  type CloudContext,
  type CloudProvider,
  defaultLoadBalancerName,
  type InstanceMetadata,
  type Instances,
  type LoadBalancers,
  type Route,
  type Routes,
  uninitializedTaint,
} from './cloud/provider.ts'
export { createServiceLbController } from './cloud/service-lb-controller.ts'
export { createClusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation-controller.ts'
export { type ControllerManagerOptions, createControllerManager } from './controller-manager.ts'
export {
  type ControllerName,
  type ControllerSelector,
  controllerNames,
  type GenericControllerName,
  isGenericController,
  type ServerControllerName,
  type ServesResource,
  selectControllers,
  selectServerControllers,
} from './controller-names.ts'
export { createCronJobController } from './cron-job/cron-job-controller.ts'
export { createDaemonSetController } from './daemon-set/daemon-set-controller.ts'
export { createDeploymentController } from './deployment/deployment-controller.ts'
export { createDeviceTaintEvictionController } from './device-taint-eviction/device-taint-eviction-controller.ts'
export { createDisruptionController } from './disruption/disruption-controller.ts'
export {
  createEndpointSliceController,
  type EndpointSliceOptions,
} from './endpoint-slice/endpoint-slice-controller.ts'
export { createEndpointSliceMirroringController } from './endpoint-slice-mirroring/endpoint-slice-mirroring-controller.ts'
export { createEndpointsController } from './endpoints/endpoints-controller.ts'
export {
  createGarbageCollector,
  type GarbageCollectorOptions,
} from './garbage-collector/garbage-collector.ts'
export {
  createHorizontalPodAutoscalerController,
  type HorizontalPodAutoscalerOptions,
} from './horizontal-pod-autoscaling/horizontal-pod-autoscaler-controller.ts'
export { createJobController } from './job/job-controller.ts'
export {
  createNamespaceController,
  type NamespaceControllerOptions,
} from './namespace/namespace-controller.ts'
export { createNodeIpamController, type NodeIpamOptions } from './node-ipam/node-ipam-controller.ts'
export {
  createNodeLifecycleController,
  type NodeLifecycleOptions,
} from './node-lifecycle/node-lifecycle-controller.ts'
export { createTtlController } from './node-ttl/ttl-controller.ts'
export { ensureDefaultStorageClass } from './persistent-volume/default-storage-class.ts'
export { createEphemeralVolumeController } from './persistent-volume/ephemeral-volume-controller.ts'
export {
  createLocalPathProvisioner,
  type LocalPathOptions,
  localPathProvisioner,
} from './persistent-volume/local-path-provisioner.ts'
export { createPersistentVolumeBinderController } from './persistent-volume/persistent-volume-binder-controller.ts'
export { createPersistentVolumeExpanderController } from './persistent-volume/persistent-volume-expander-controller.ts'
export {
  createPersistentVolumeClaimProtectionController,
  createPersistentVolumeProtectionController,
  createVolumeAttributesClassProtectionController,
} from './persistent-volume/protection-controllers.ts'
export { createPodGarbageCollector, type PodGarbageCollectorOptions } from './pod-gc/pod-garbage-collector.ts'
export {
  createReplicaSetController,
  createReplicationControllerController,
} from './replica-set/replica-set-controller.ts'
export { createResourceClaimController } from './resource-claim/resource-claim-controller.ts'
export { ResourceKinds, type ResourceSource, type Served, type ServedKind } from './resource-kinds.ts'
export { createResourceQuotaController } from './resource-quota/resource-quota-controller.ts'
export { createRootCaPublisher } from './root-ca/root-ca-publisher.ts'
export {
  createLegacyTokenCleaner,
  type LegacyTokenCleanerOptions,
} from './service-account/legacy-token-cleaner.ts'
export { createServiceAccountController } from './service-account/service-account-controller.ts'
export { createTokenController, type TokenControllerOptions } from './service-account/token-controller.ts'
export { createServiceCidrController } from './service-cidrs/service-cidr-controller.ts'
export { createStatefulSetController } from './stateful-set/stateful-set-controller.ts'
export { createTaintEvictionController } from './taint-eviction/taint-eviction-controller.ts'
export { createTtlAfterFinishedController } from './ttl-after-finished/ttl-after-finished-controller.ts'
