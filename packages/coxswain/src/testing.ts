/**
 * What the tests of an operator import: a cluster in the process of the test, its clock, and faults.
 * @module
 */
export { createRealEnv, type Env, silentLogger, VirtualWorld } from '@coxswain/kit'
export {
  type Applied,
  type ApplyManifestsOptions,
  type Cluster,
  type ClusterOptions,
  type ClusterUser,
  type ConsistentlyOptions,
  createFaultyTransport,
  type EventuallyOptions,
  type Expectation,
  type Expected,
  type FunctionContext,
  type ImageFunction,
  type ImmediateExpectation,
  type Interceptor,
  type Manifests,
  noTransportFaults,
  PausableProcess,
  type RecordedReconcile,
  type StartOptions,
  startCluster,
  type TransportFaults,
} from '@coxswain/testing'
