/**
 * Nodes that run pods.
 *
 *   createNodeAgent()         a kubelet for some nodes, on a ContainerRuntime:
 *     createSimulatedRuntime()  pods start, get ready and finish; nothing runs on your machine
 *     createProcessRuntime()    processes (`@coxswain/node/process`)
 *     createInProcessRuntime()  functions
 *
 * @module
 */
export { createNodeAgent, type NodeAgent, type NodeAgentOptions } from './agent/agent.ts'
export type { NodeAnswer, NodeRequest } from './agent/kubelet-api.ts'
export type { NodeConnection, PodAddress } from './agent/node-connection.ts'
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
  createInProcessRuntime,
  type FunctionContext,
  type ImageFunction,
  type InProcessRuntimeOptions,
} from './in-process/in-process-runtime.ts'
export { isMirrorPod } from './mirror-pods/mirror-pod.ts'
export {
  createMirrorPods,
  type MirrorPodsOptions,
  type StaticPod,
} from './mirror-pods/mirror-pods.ts'
export { loopbackAddressOf } from './service-proxy/loopback-address.ts'
export type { Machine, ProxyEndpoint, ProxyProtocol } from './service-proxy/proxy-rules.ts'
export { createServiceProxy, type ServiceProxyOptions } from './service-proxy/service-proxy.ts'
export type {
  EndpointPicker,
  OpenResult,
  OpenSocket,
  PortProblem,
  ServiceSockets,
  SocketPlace,
} from './service-proxy/service-sockets.ts'
export { createSimulatedRuntime, type SimulatedRuntimeOptions } from './simulated/simulated-runtime.ts'
export type { SimulatedStages } from './simulated/stages.ts'
export { createSimulatedNodes, type SimulatedNodesOptions } from './simulated-node.ts'
