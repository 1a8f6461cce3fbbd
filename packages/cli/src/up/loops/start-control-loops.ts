import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { NodeConnection } from '@coxswain/apiserver'
import { type ControlPlanePlaces, describeParts, tellStart } from '../nodes/control-plane-pods.ts'
import { createSimulatedConnection } from '../nodes/simulated-connection.ts'
import { hasServiceProxy } from '../options/service-proxy-options.ts'
import type { OperatorSurroundings } from '../start-operators.ts'
import type { LoopsOptions } from './loops-messages.ts'
import { startLoopsThread } from './loops-thread.ts'

export interface ControlLoopsOptions extends ControlPlanePlaces {
  /** The worker from `prepareLoopsThread`. */
  readonly worker: Worker
  readonly nodeNames: ReadonlySet<string>
  /** Where Pods of this machine reach the server. */
  readonly apiServerHost: string
  readonly loops: Pick<
    LoopsOptions,
    'controllers' | 'resources' | 'nodeRanges' | 'leaderElection' | 'rootCa' | 'ca' | 'signingKeyFile'
  >
}

/**
 * Starts controllers, scheduler and nodes with the server: on a thread of their own, except nodes whose containers are
 * processes, which pass on streams. Resolves with the connection to the nodes, if there are any, when all of them run.
 */
export async function startControlLoops(
  surroundings: OperatorSurroundings,
  { nodeNames, loops, worker, apiServerHost, ...places }: ControlLoopsOptions,
): Promise<NodeConnection | undefined> {
  const { options, dataDir, port } = places
  const { connect, env, group } = surroundings
  const hasNodes = nodeNames.size > 0
  const isSimulated = options.runtime === 'simulated'
  const nodes = { count: options.nodes, parts: describeParts(places) }
  tellStart(env.log, loops.controllers, places)
  const { schedulerConfig, schedulerPlugin } = options
  const thread = startLoopsThread({
    ...loops,
    worker,
    isShared: options.storage === 'etcd',
    connect,
    log: env.log,
    signal: group.signal,
    logLevel: options.logLevel,
    cloudProvider: options.cloudProvider,
    scheduler: {
      ...(schedulerConfig !== undefined && { schedulerConfig }),
      ...(schedulerPlugin !== undefined && { schedulerPlugin }),
    },
    volumes: join(dataDir, 'volumes'),
    ...(hasNodes &&
      isSimulated && { simulatedNodes: { ...nodes, missingImages: options.missingImages ?? [] } }),
  })
  group.spawn(() => thread.ended)
  if (!hasNodes || isSimulated) {
    const transport = await thread.started
    return transport && createSimulatedConnection(nodeNames, transport)
  }
  const { startProcessNodes } = await import('../nodes/nodes.ts')
  const apiServer = { host: apiServerHost, port }
  const own = {
    ...nodes,
    ...places,
    apiServer,
    hasServiceProxy: hasServiceProxy(options),
    isolation: options.isolation,
    images: options.image ?? new Map(),
    serviceClusterIpRange: options.serviceClusterIpRange,
  }
  const connection = await startProcessNodes(own, surroundings)
  await thread.started
  return connection
}
