import type { Operator } from '@coxswain/runtime'
import { createKubelet } from './kubelet/kubelet.ts'
import { createSimulatedRuntime, type SimulatedRuntimeOptions } from './simulated/simulated-runtime.ts'

/** Options of {@link createSimulatedNodes}. */
export interface SimulatedNodesOptions extends SimulatedRuntimeOptions {
  /** @default 1 */
  readonly count?: number
}

/** Nodes on which nothing really runs: a shortcut for a kubelet on the simulated runtime. */
export function createSimulatedNodes({ count = 1, ...options }: SimulatedNodesOptions = {}): Operator {
  return createKubelet({ runtime: createSimulatedRuntime(options), count }).operator
}
