export { VirtualWorld } from '@coxswain/kit'
export { type Cluster, type ClusterOptions, startCluster } from '@coxswain/testing'
