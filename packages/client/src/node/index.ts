/**
 * Clients from kubeconfig files and service accounts.
 * @module
 */
export {
  type ConnectedClient,
  createClientFromKubeconfig,
  type KubeconfigClientOptions,
} from './client-from-kubeconfig.ts'
export { type AccessOptions, accessFromKubeconfig, type ClusterAccess } from './cluster-access.ts'
export { type Credentials, withCredentials } from './credentials.ts'
export { accessFromPod, type InClusterOptions, isInCluster } from './in-cluster.ts'
export {
  type ContextEntries,
  type ExecConfig,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigContext,
  type KubeconfigUser,
  mergeKubeconfigs,
  selectContext,
} from './kubeconfig.ts'
export {
  createKubeconfig,
  type KubeconfigEntry,
  type LoadedKubeconfig,
  type LoadKubeconfigOptions,
  loadKubeconfig,
  parseKubeconfig,
  writeKubeconfig,
} from './kubeconfig-files.ts'
export {
  type ForwardedPort,
  type ListenForwardedOptions,
  listenForwarded,
} from './port-listener.ts'
export { type UpgradeOptions, withUpgrade } from './websocket/upgrade.ts'
