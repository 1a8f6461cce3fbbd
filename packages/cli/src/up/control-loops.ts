import { createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { type Client, createClient } from '@coxswain/client'
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
import type { Env, TaskGroup } from '@coxswain/kit'
import {
  defineOperator,
  installKinds,
  type LeaderElectionOptions,
  type Operator,
  runOperator,
} from '@coxswain/runtime'
import { createScheduler, type SchedulerOptions } from '@coxswain/scheduler'
import type { Transport } from '@coxswain/wire'
import { type KeyPair, readCertificate } from '@coxswain/wire/node'
import { webhookOptionsFor } from '../webhooks.ts'
import { createCertificateIssuer } from './certificate-issuer.ts'
import type { ControllerName } from './controller-names.ts'
import { ensureDefaultStorageClass } from './default-storage-class.ts'
import { runInTurns } from './run-in-turns.ts'

export interface ControlLoopOptions extends ManagerOptions {
  /** A connection to the server, as somebody who may do everything. */
  readonly connect: () => Transport
  readonly group: TaskGroup
  readonly operators: readonly Operator[]
  /** Controllers and scheduler run while they hold their leases. @default they always run */
  readonly leaderElection?: LeaderElectionOptions
  readonly scheduler?: SchedulerOptions
  /** Runs Pods. */
  readonly nodes?: Operator
}

/** What the controllers need. */
export interface ManagerOptions {
  readonly env: Env
  readonly controllers: readonly ControllerName[]
  /** Whose machines, routes and load balancers these are. @default nobody's */
  readonly cloudProvider?: 'local' | 'none'
  /** How nodes get their ranges of pod addresses. @default they get none */
  readonly nodeRanges?: NodeIpamOptions
  /** PEM of the CA that signed the server's certificate. */
  readonly rootCa: string
  /** The folder for what the local-path provisioner makes. */
  readonly volumes: string
  /** Signs client certificates. */
  readonly ca: KeyPair
  /** Signs the claims of a service account's token. */
  readonly signToken: (claims: Readonly<Record<string, string>>) => string
}

const hmac = (key: string, text: string): Uint8Array => createHmac('sha256', key).update(text).digest()

const withCloud =
  (create: (cloud: CloudProvider, options: ManagerOptions) => Operator | undefined) =>
  (options: ManagerOptions): Operator | undefined =>
    options.cloudProvider === 'local' ? create(createLocalCloud(), options) : undefined

/** Those that have nothing to do with these options are undefined. */
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

/** Starts controllers, nodes and operators beside the server. Resolves when all of them have been started. */
export async function startControlLoops(options: ControlLoopOptions): Promise<void> {
  const { connect, env, group } = options
  const clientOf = (userAgent: string): Client => createClient({ env, userAgent, transport: connect() })
  // The garbage collector watches deprecated kinds too: nobody can do anything about what it is told of them.
  const ownClientOf = (userAgent: string): Client =>
    createClient({
      env,
      userAgent,
      transport: connect(),
      onWarning: ({ text }, { path }) => env.log.debug('server warning', { text, path }),
    })
  const start = (operator: Operator, client: Client) => {
    const webhooks = webhookOptionsFor(operator, env)
    group.spawn(signal => runOperator(operator, { client, env, signal, webhooks }))
  }
  const lead = (operator: Operator, client: Client) => {
    const { leaderElection } = options
    group.spawn(signal =>
      runInTurns(operator, { client, env, signal, ...(leaderElection && { leaderElection }) }),
    )
  }
  if (options.controllers.length > 0) {
    const client = ownClientOf('kube-controller-manager/0.1')
    lead(createControllerManager(options), client)
    lead(createScheduler(options.scheduler), ownClientOf('kube-scheduler/0.1'))
    if (options.controllers.includes('local-path-provisioner'))
      group.spawn(async signal => {
        try {
          await ensureDefaultStorageClass(client)
        } catch (error) {
          // Claims can name a class; a server that stopped for the lack of a default would help nobody.
          if (!signal.aborted) env.log.error('the default storage class could not be made', { error })
        }
      })
    if (options.nodes) start(options.nodes, ownClientOf('kubelet/0.1'))
  }
  if (options.operators.length === 0) return
  await installKinds(clientOf('coxswain-install/0.1'), options.operators)
  for (const operator of options.operators) start(operator, clientOf(`${operator.name}/0.1`))
}
