import { createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import {
  type CloudProvider,
  createAttachDetachController,
  createBootstrapSignerController,
  createCertificateApprovingController,
  createCertificateCleanerController,
  createCertificateSigningController,
  createCloudNodeController,
  createCloudNodeLifecycleController,
  createClusterRoleAggregationController,
  createCronJobController,
  createDaemonSetController,
  createDeploymentController,
  createDeviceTaintEvictionController,
  createDisruptionController,
  createEndpointSliceController,
  createEndpointSliceMirroringController,
  createEndpointsController,
  createEphemeralVolumeController,
  createGarbageCollector,
  createHorizontalPodAutoscalerController,
  createJobController,
  createLegacyTokenCleaner,
  createLocalCloud,
  createLocalPathProvisioner,
  createNamespaceController,
  createNodeIpamController,
  createNodeLifecycleController,
  createNodeRouteController,
  createPersistentVolumeBinderController,
  createPersistentVolumeClaimProtectionController,
  createPersistentVolumeExpanderController,
  createPersistentVolumeProtectionController,
  createPodGarbageCollector,
  createReplicaSetController,
  createReplicationControllerController,
  createResourceClaimController,
  createResourceQuotaController,
  createRootCaPublisher,
  createServiceAccountController,
  createServiceCidrController,
  createServiceLbController,
  createStatefulSetController,
  createTaintEvictionController,
  createTokenCleanerController,
  createTokenController,
  createTtlAfterFinishedController,
  createTtlController,
  createVolumeAttributesClassProtectionController,
  type NodeIpamOptions,
} from '@coxswain/controllers'
import type { Env } from '@coxswain/kit'
import { defineOperator, type Operator } from '@coxswain/runtime'
import { type KeyPair, readCertificate } from '@coxswain/wire/node'
import type { ControllerName } from '../options/controller-names.ts'
import { createCertificateIssuer } from './certificate-issuer.ts'

/** What the controllers need. */
export interface ManagerOptions {
  readonly env: Env
  readonly controllers: readonly ControllerName[]
  /** The provider of nodes, routes and load balancers. @default none */
  readonly cloudProvider?: 'local' | 'none'
  /** The pod CIDRs of nodes. @default none are allocated */
  readonly nodeRanges?: NodeIpamOptions
  /** PEM of the CA that signed the server's certificate. */
  readonly rootCa: string
  /** The directory for volumes of the local-path provisioner. */
  readonly volumes: string
  /** Signs client certificates. */
  readonly ca: KeyPair
  /** Signs the claims of a service account's token. */
  readonly signToken: (claims: Readonly<Record<string, string>>) => string | Promise<string>
}

const hmac = (key: string, text: string): Uint8Array => createHmac('sha256', key).update(text).digest()

const withCloud =
  (create: (cloud: CloudProvider, options: ManagerOptions) => Operator | undefined) =>
  (options: ManagerOptions): Operator | undefined =>
    options.cloudProvider === 'local' ? create(createLocalCloud(), options) : undefined

/** Controllers that these options disable are undefined. */
const controllers: Readonly<Record<ControllerName, (options: ManagerOptions) => Operator | undefined>> = {
  'bootstrap-signer-controller': () => createBootstrapSignerController(hmac),
  'certificatesigningrequest-approving-controller': ({ ca, env }) =>
    createCertificateApprovingController(createCertificateIssuer(ca, env)),
  'certificatesigningrequest-cleaner-controller': () =>
    createCertificateCleanerController({ expiresAt: pem => readCertificate(pem).notAfter }),
  'certificatesigningrequest-signing-controller': ({ ca, env }) =>
    createCertificateSigningController(createCertificateIssuer(ca, env)),
  'cloud-node-controller': withCloud(createCloudNodeController),
  'cloud-node-lifecycle-controller': withCloud(createCloudNodeLifecycleController),
  'clusterrole-aggregation-controller': createClusterRoleAggregationController,
  'cronjob-controller': createCronJobController,
  'daemonset-controller': createDaemonSetController,
  'deployment-controller': createDeploymentController,
  'device-taint-eviction-controller': createDeviceTaintEvictionController,
  'disruption-controller': createDisruptionController,
  'endpoints-controller': createEndpointsController,
  'endpointslice-controller': () => createEndpointSliceController(),
  'endpointslice-mirroring-controller': createEndpointSliceMirroringController,
  'ephemeral-volume-controller': createEphemeralVolumeController,
  'garbage-collector-controller': createGarbageCollector,
  'horizontal-pod-autoscaler-controller': () => createHorizontalPodAutoscalerController(),
  'job-controller': createJobController,
  'legacy-serviceaccount-token-cleaner-controller': () => createLegacyTokenCleaner(),
  'local-path-provisioner': ({ volumes }) =>
    createLocalPathProvisioner({
      root: volumes,
      remove: path => rm(path, { recursive: true, force: true }),
    }),
  'namespace-controller': () => createNamespaceController(),
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
  'resourcequota-controller': createResourceQuotaController,
  'root-ca-certificate-publisher-controller': ({ rootCa }) => createRootCaPublisher(rootCa),
  'service-cidr-controller': createServiceCidrController,
  'service-lb-controller': withCloud(createServiceLbController),
  'serviceaccount-controller': createServiceAccountController,
  'serviceaccount-token-controller': ({ rootCa, signToken }) =>
    createTokenController({ rootCa, sign: signToken }),
  'statefulset-controller': createStatefulSetController,
  'taint-eviction-controller': createTaintEvictionController,
  'token-cleaner-controller': createTokenCleanerController,
  'ttl-after-finished-controller': createTtlAfterFinishedController,
  'ttl-controller': createTtlController,
  'volumeattributesclass-protection-controller': createVolumeAttributesClassProtectionController,
}

/** All of the controllers as one operator, so that they share caches. */
export function createControllerManager(options: ManagerOptions): Operator {
  return defineOperator('kube-controller-manager', operator => {
    for (const name of options.controllers) controllers[name](options)?.setup(operator)
  })
}
