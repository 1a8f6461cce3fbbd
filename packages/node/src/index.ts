/**
 * Nodes that run pods.
 *
 *   createSimulatedNodes()    pods start, get ready and finish; nothing runs on your machine
 *
 * @module
 */
export { createSimulatedNodes, type SimulatedNodesOptions } from './simulated-node.ts'
