/**
 * Nodes that run pods.
 *
 *   createSimulatedNodes()    pods start, get ready and finish; nothing runs on your machine
 *   createNodeAgent()         a kubelet on a ContainerRuntime: processes (`@coxswain/node/process`), or functions
 *
 * @module
 */
export { createNodeAgent, type NodeAgent, type NodeAgentOptions } from './agent/agent.ts'
export type { NodeConnection, PodAddress } from './agent/node-connection.ts'
export type {
  ContainerExit,
  ContainerIdentity,
  ContainerRuntime,
  ContainerSpec,
  FoundImage,
  LogOptions,
  NetworkProbe,
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
export { createSimulatedNodes, type SimulatedNodesOptions } from './simulated-node.ts'
