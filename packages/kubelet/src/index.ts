/**
 * Nodes that run pods.
 *
 *   createKubelet()         a kubelet for one or more nodes, on a ContainerRuntime:
 *     createSimulatedRuntime()  pods start, become ready and finish; nothing runs on your machine
 *     createProcessRuntime()    processes (`@coxswain/kubelet/process`)
 *     createInProcessRuntime()  functions
 *
 * @module
 */

export type {
  ContainerExit,
  ContainerIdentity,
  ContainerRole,
  ContainerRuntime,
  ContainerSpec,
  ContainerUsage,
  FoundImage,
  LogOptions,
  NetworkProbe,
  NodeFacts,
  PodIdentity,
  PodVolume,
  PortStream,
  ProbeOutcome,
  ProcessIo,
  RunningContainer,
  TerminalSize,
  VolumeFile,
  VolumeMountSpec,
} from './container-runtime.ts'
export {
  type AnswerQuery,
  type ClusterDnsOptions,
  type ClusterDnsServer,
  createClusterDns,
  type DnsSockets,
} from './dns/cluster-dns.ts'
export {
  createInProcessRuntime,
  type FunctionContext,
  type ImageFunction,
  type InProcessRuntimeOptions,
} from './in-process/in-process-runtime.ts'
export { createKubeProxy, type KubeProxyOptions } from './kube-proxy/kube-proxy.ts'
export { loopbackAddressOf } from './kube-proxy/loopback-address.ts'
export type { Machine, ProxyEndpoint, ProxyProtocol } from './kube-proxy/proxy-rules.ts'
export type {
  EndpointPicker,
  OpenResult,
  OpenSocket,
  PortProblem,
  ServiceSockets,
  SocketPlace,
} from './kube-proxy/service-sockets.ts'
export { createKubelet, type Kubelet, type KubeletOptions } from './kubelet/kubelet.ts'
export type { NodeAnswer, NodeRequest } from './kubelet/kubelet-api.ts'
export type { NodeConnection, PodAddress } from './kubelet/node-connection.ts'
export type { ClusterDns } from './kubelet/pod-files.ts'
export { isMirrorPod } from './mirror-pods/mirror-pod.ts'
export {
  createMirrorPods,
  type MirrorPodsOptions,
  type StaticPod,
} from './mirror-pods/mirror-pods.ts'
export { createSimulatedRuntime, type SimulatedRuntimeOptions } from './simulated/simulated-runtime.ts'
export type { SimulatedStages } from './simulated/stages.ts'
export { createSimulatedNodes, type SimulatedNodesOptions } from './simulated-node.ts'
