/**
 * The back end for several servers: an etcd v3 cluster over gRPC.
 * @module
 */
export type { EtcdTls } from './cluster.ts'
export { createEtcdStore, type EtcdStoreOptions } from './store.ts'
