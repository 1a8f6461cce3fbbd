/**
 * A cluster in the process of the test: the API server with a few controllers or the whole control plane, no binaries, no
 * sockets, on the real clock or on a virtual one; assertions about its objects; and what it takes to make things go wrong.
 * @module
 */
export type { ControllerSelector } from '@coxswain/controllers'
export type { FunctionContext, ImageFunction } from '@coxswain/kubelet'
export type { SchedulerOptions } from '@coxswain/scheduler'
export {
  type Cluster,
  type ClusterOptions,
  type ClusterSnapshot,
  type Interceptor,
  type StartOptions,
  startCluster,
} from './cluster.ts'
export type {
  AnyObject,
  ClusterExpectations,
  ConsistentlyOptions,
  EventuallyOptions,
  Expectation,
  ImmediateExpectation,
} from './expect/expectations.ts'
export type { Expected } from './expect/match-partial.ts'
export type { RecordedReconcile } from './expect/reconcile-log.ts'
export {
  createFaultyTransport,
  noTransportFaults,
  type TransportFaults,
} from './faults/faulty-transport.ts'
export { PausableProcess } from './faults/pausable-process.ts'
export type { ClusterUser } from './internal/users.ts'
export type { Applied, ApplyManifestsOptions } from './manifests/apply-manifests.ts'
export type { Manifests } from './manifests/manifest.ts'
