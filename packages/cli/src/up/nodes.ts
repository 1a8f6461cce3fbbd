import { join } from 'node:path'
import type { NodeConnection } from '@coxswain/apiserver'
import type { Operator } from '@coxswain/runtime'

export interface NodesOptions {
  readonly count: number
  readonly runtime: 'simulated' | 'process'
  /** For simulated nodes. */
  readonly missingImages?: readonly string[]
  readonly dataDir: string
  /** This machine's address for others. */
  readonly address: string
  /** Where processes find the API server. */
  readonly apiServer: () => Promise<{ readonly host: string; readonly port: number }>
}

export interface Nodes {
  readonly operator: Operator
  readonly connection: NodeConnection
}

/** The nodes of this control plane; starts nothing. Their code is loaded only where there are any. */
export async function createNodes(options: NodesOptions): Promise<Nodes | undefined> {
  const { count, runtime, dataDir, address, apiServer, missingImages = [] } = options
  if (count === 0) return undefined
  const { createNodeAgent, createSimulatedRuntime, loopbackAddressOf } = await import('@coxswain/node')
  if (runtime === 'simulated')
    return createNodeAgent({ runtime: createSimulatedRuntime({ missingImages }), count })
  const { createProcessRuntime } = await import('@coxswain/node/process')
  return createNodeAgent({
    runtime: createProcessRuntime({ directory: join(dataDir, 'node') }),
    count,
    address,
    apiServer,
    serviceAddress: clusterIP => loopbackAddressOf(clusterIP) ?? clusterIP,
  })
}
