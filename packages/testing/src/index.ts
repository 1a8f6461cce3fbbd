/**
 * A cluster in the process of the test: the API server with garbage collection and namespace deletion, no binaries, no
 * sockets, on the real clock or on a virtual one; and what it takes to make things go wrong.
 * @module
 */
export {
  type Cluster,
  type ClusterOptions,
  type Interceptor,
  type StartOptions,
  startCluster,
} from './cluster.ts'
export {
  createFaultyTransport,
  noTransportFaults,
  type TransportFaults,
} from './faults/faulty-transport.ts'
export { PausableProcess } from './faults/pausable-process.ts'
