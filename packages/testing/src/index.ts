/**
 * A cluster in the process of the test: the API server with garbage collection and namespace deletion, no binaries, no
 * sockets, on the real clock or on a virtual one.
 * @module
 */
export { type Cluster, type ClusterOptions, startCluster } from './cluster.ts'
