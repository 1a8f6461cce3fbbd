import { defineOperator, type Operator } from '@coxswain/runtime'
import { createAttachDetachController } from './attach-detach/attach-detach-controller.ts'
import { createBootstrapSignerController, type Hmac } from './bootstrap-token/bootstrap-signer-controller.ts'
import { createTokenCleanerController } from './bootstrap-token/token-cleaner-controller.ts'
import { createCertificateApprovingController } from './certificates/approving-controller.ts'
import {
  type CertificateCleanerOptions,
  createCertificateCleanerController,
} from './certificates/cleaner-controller.ts'
import {
  type CertificateIssuer,
  createCertificateSigningController,
} from './certificates/signing-controller.ts'
import { createCloudNodeController } from './cloud/cloud-node-controller.ts'
import { createCloudNodeLifecycleController } from './cloud/cloud-node-lifecycle-controller.ts'
import { createNodeRouteController } from './cloud/node-route-controller.ts'
import type { CloudProvider } from './cloud/provider.ts'
import { createServiceLbController } from './cloud/service-lb-controller.ts'
import type { ControllerName } from './controller-names.ts'
import { createCronJobController } from './cron-job/cron-job-controller.ts'
import { createDaemonSetController } from './daemon-set/daemon-set-controller.ts'
import { createDeploymentController } from './deployment/deployment-controller.ts'
import { createDeviceTaintEvictionController } from './device-taint-eviction/device-taint-eviction-controller.ts'
import { createDisruptionController } from './disruption/disruption-controller.ts'
import { createEndpointSliceController } from './endpoint-slice/endpoint-slice-controller.ts'
import { createEndpointSliceMirroringController } from './endpoint-slice-mirroring/endpoint-slice-mirroring-controller.ts'
import { createEndpointsController } from './endpoints/endpoints-controller.ts'
import { genericControllers, type ManagerServices } from './generic-controller-manager.ts'
import { createHorizontalPodAutoscalerController } from './horizontal-pod-autoscaling/horizontal-pod-autoscaler-controller.ts'
import { createJobController } from './job/job-controller.ts'
import { createNodeIpamController, type NodeIpamOptions } from './node-ipam/node-ipam-controller.ts'
import { createNodeLifecycleController } from './node-lifecycle/node-lifecycle-controller.ts'
import { createTtlController } from './node-ttl/ttl-controller.ts'
import { createEphemeralVolumeController } from './persistent-volume/ephemeral-volume-controller.ts'
import {
  createLocalPathProvisioner,
  type LocalPathOptions,
} from './persistent-volume/local-path-provisioner.ts'
import { createPersistentVolumeBinderController } from './persistent-volume/persistent-volume-binder-controller.ts'
import { createPersistentVolumeExpanderController } from './persistent-volume/persistent-volume-expander-controller.ts'
import {
  createPersistentVolumeClaimProtectionController,
  createPersistentVolumeProtectionController,
  createVolumeAttributesClassProtectionController,
} from './persistent-volume/protection-controllers.ts'
import { createPodGarbageCollector } from './pod-gc/pod-garbage-collector.ts'
import {
  createReplicaSetController,
  createReplicationControllerController,
} from './replica-set/replica-set-controller.ts'
import { createResourceClaimController } from './resource-claim/resource-claim-controller.ts'
import { createLegacyTokenCleaner } from './service-account/legacy-token-cleaner.ts'
import { createServiceCidrController } from './service-cidrs/service-cidr-controller.ts'
import { createStatefulSetController } from './stateful-set/stateful-set-controller.ts'
import { createTaintEvictionController } from './taint-eviction/taint-eviction-controller.ts'
import { createTtlAfterFinishedController } from './ttl-after-finished/ttl-after-finished-controller.ts'

/** Which controllers to run, and what the host provides for them. A controller whose part is not provided does not run. */
export interface ControllerManagerOptions extends ManagerServices {
  readonly controllers: readonly ControllerName[]
  /** Makes the provider of machines, routes and load balancers. @default no cloud controllers */
  readonly cloud?: () => CloudProvider
  /** How nodes get their ranges of pod addresses. @default they get none */
  readonly nodeRanges?: NodeIpamOptions
  /** HMAC-SHA256, for the signatures of `cluster-info`. @default no bootstrap-signer-controller */
  readonly hmac?: Hmac
  /** Signs client certificates. @default no approving and signing controllers */
  readonly certificates?: CertificateIssuer
  readonly certificateCleaner?: CertificateCleanerOptions
  readonly localPath?: LocalPathOptions
}

const withCloud =
  (create: (cloud: CloudProvider, options: ControllerManagerOptions) => Operator | undefined) =>
  (options: ControllerManagerOptions): Operator | undefined =>
    options.cloud && create(options.cloud(), options)

/** By name; undefined where the options do not provide what it needs. */
const controllers: Readonly<
  Record<ControllerName, (options: ControllerManagerOptions) => Operator | undefined>
> = {
  ...genericControllers,
  'bootstrap-signer-controller': ({ hmac }) => hmac && createBootstrapSignerController(hmac),
  'certificatesigningrequest-approving-controller': ({ certificates }) =>
    certificates && createCertificateApprovingController(certificates),
  'certificatesigningrequest-cleaner-controller': ({ certificateCleaner }) =>
    createCertificateCleanerController(certificateCleaner),
  'certificatesigningrequest-signing-controller': ({ certificates }) =>
    certificates && createCertificateSigningController(certificates),
  'cloud-node-controller': withCloud(createCloudNodeController),
  'cloud-node-lifecycle-controller': withCloud(createCloudNodeLifecycleController),
  'cronjob-controller': createCronJobController,
  'daemonset-controller': createDaemonSetController,
  'deployment-controller': createDeploymentController,
  'device-taint-eviction-controller': createDeviceTaintEvictionController,
  'disruption-controller': createDisruptionController,
  'endpoints-controller': createEndpointsController,
  'endpointslice-controller': () => createEndpointSliceController(),
  'endpointslice-mirroring-controller': createEndpointSliceMirroringController,
  'ephemeral-volume-controller': createEphemeralVolumeController,
  'horizontal-pod-autoscaler-controller': () => createHorizontalPodAutoscalerController(),
  'job-controller': createJobController,
  'legacy-serviceaccount-token-cleaner-controller': () => createLegacyTokenCleaner(),
  'local-path-provisioner': ({ localPath }) => createLocalPathProvisioner(localPath),
  'node-ipam-controller': ({ nodeRanges }) => nodeRanges && createNodeIpamController(nodeRanges),
  'node-lifecycle-controller': () => createNodeLifecycleController(),
  'node-route-controller': withCloud(
    (cloud, { nodeRanges }) => nodeRanges && createNodeRouteController(cloud, nodeRanges),
  ),
  'persistentvolume-attach-detach-controller': createAttachDetachController,
  'persistentvolume-binder-controller': createPersistentVolumeBinderController,
  'persistentvolume-expander-controller': createPersistentVolumeExpanderController,
  'persistentvolume-protection-controller': createPersistentVolumeProtectionController,
  'persistentvolumeclaim-protection-controller': createPersistentVolumeClaimProtectionController,
  'pod-garbage-collector-controller': () => createPodGarbageCollector(),
  'replicaset-controller': createReplicaSetController,
  'replicationcontroller-controller': createReplicationControllerController,
  'resourceclaim-controller': createResourceClaimController,
  'service-cidr-controller': createServiceCidrController,
  'service-lb-controller': withCloud(createServiceLbController),
  'statefulset-controller': createStatefulSetController,
  'taint-eviction-controller': createTaintEvictionController,
  'token-cleaner-controller': createTokenCleanerController,
  'ttl-after-finished-controller': createTtlAfterFinishedController,
  'ttl-controller': createTtlController,
  'volumeattributesclass-protection-controller': createVolumeAttributesClassProtectionController,
}

/** The controllers as one operator, so that they share caches. */
export function createControllerManager(options: ControllerManagerOptions): Operator {
  return defineOperator('kube-controller-manager', operator => {
    for (const name of options.controllers) controllers[name](options)?.setup(operator)
  })
}
