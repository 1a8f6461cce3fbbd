/**
 * The built-in control loops, each an operator like any other.
 * @module
 */
export {
  type CertificateIssuer,
  createCertificateSigningController,
  type RequestedCertificate,
} from './certificates/signing-controller.ts'
export { createClusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation-controller.ts'
export { createDeploymentController } from './deployment/deployment-controller.ts'
export { createGarbageCollector } from './garbage-collector/garbage-collector.ts'
export { createJobController } from './job/job-controller.ts'
export {
  createNamespaceController,
  type NamespaceControllerOptions,
} from './namespace/namespace-controller.ts'
export {
  createNodeLifecycleController,
  type NodeLifecycleOptions,
} from './node-lifecycle/node-lifecycle-controller.ts'
export {
  createReplicaSetController,
  createReplicationControllerController,
} from './replica-set/replica-set-controller.ts'
export { createRootCaPublisher } from './root-ca/root-ca-publisher.ts'
export { createServiceAccountController } from './service-account/service-account-controller.ts'
export { createTokenController, type TokenControllerOptions } from './service-account/token-controller.ts'
