import { join } from 'node:path'
import { formatIP, maskIP, parseCIDR } from '@coxswain/apimachinery/validation'
import type { NodeConnection } from '@coxswain/apiserver'
import { createClient } from '@coxswain/client'
import {
  createClusterDns,
  createKubelet,
  createKubeProxy,
  createMirrorPods,
  createSimulatedRuntime,
  type Kubelet,
  loopbackAddressOf,
  type StaticPod,
} from '@coxswain/kubelet'
import type { ImageCatalogue } from '@coxswain/kubelet/process'
import { defineOperator, type Operator, runOperator } from '@coxswain/runtime'
import { CommandError } from '../../exit.ts'
import { ownCommand } from '../../parent.ts'
import type { OperatorSurroundings } from '../start-operators.ts'
import { nodeNamesOf } from './node-names.ts'

export interface NodesOptions {
  readonly count: number
  /** The control plane components that are mirror Pods of the first node. */
  readonly parts: readonly StaticPod[]
}

export interface SimulatedNodesOptions extends NodesOptions {
  readonly missingImages?: readonly string[]
}

/** Starts simulated nodes. */
export function startSimulatedNodes(
  { count, parts, missingImages = [] }: SimulatedNodesOptions,
  surroundings: OperatorSurroundings,
): NodeConnection {
  const runtime = createSimulatedRuntime({ missingImages })
  return start(createKubelet({ runtime, count }), [showParts(parts)], surroundings)
}

export interface ProcessNodesOptions extends NodesOptions {
  readonly dataDir: string
  /** This machine's address as others reach it. */
  readonly address: string
  /** Where processes reach the API server. */
  readonly apiServer: { readonly host: string; readonly port: number }
  /** Whether Services are reachable on this machine. */
  readonly hasServiceProxy: boolean
  readonly isolation: 'auto' | 'namespaces' | 'none'
  /** Folders that are images, by name. */
  readonly images: ReadonlyMap<string, string>
  readonly serviceClusterIpRange: string
}

/** Starts nodes whose containers are processes of this machine, with kube-proxy and DNS. */
export async function startProcessNodes(
  options: ProcessNodesOptions,
  surroundings: OperatorSurroundings,
): Promise<NodeConnection> {
  const { count, parts, dataDir, address, apiServer, hasServiceProxy } = options
  const { chooseIsolation, createDnsSockets, createProcessRuntime, createServiceSockets } = await import(
    '@coxswain/kubelet/process'
  )
  const { isolation, obstacle } = await chooseIsolation(options.isolation).catch((error: Error) => {
    throw new CommandError(`--isolation namespaces: ${error.message}`, { cause: error })
  })
  const why = obstacle === undefined ? '' : `; namespaces are not available: ${obstacle}`
  const extent =
    isolation === 'namespaces' ? 'in mount, PID and UTS namespaces' : 'without namespaces of their own'
  process.stderr.write(`coxswain: containers run as processes of this machine, ${extent}${why}\n`)
  const addressOf = (clusterIP: string) => loopbackAddressOf(clusterIP) ?? clusterIP
  const clusterIP = hasServiceProxy ? dnsAddressIn(options.serviceClusterIpRange) : undefined
  const dns =
    clusterIP === undefined
      ? undefined
      : createClusterDns({ sockets: createDnsSockets(), clusterIP, addressOf })
  const agent = createKubelet({
    runtime: createProcessRuntime({
      directory: join(dataDir, 'node'),
      isolation,
      images: catalogueOf(options.images),
    }),
    count,
    address,
    apiServer: async () => apiServer,
    serviceAddress: addressOf,
    ...(dns && { dns: () => dns.resolver() }),
  })
  const companions = [showParts(parts)]
  if (hasServiceProxy) {
    const nodes = new Set(nodeNamesOf(count))
    companions.push(createKubeProxy({ sockets: createServiceSockets(), nodes, address }))
  }
  if (dns) companions.push(dns.operator)
  return start(agent, companions, surroundings)
}

/** What `WORKDIR` and `ENTRYPOINT ["npx", "coxswain"]` are in a container file: the folder, and this coxswain. */
function catalogueOf(folders: ReadonlyMap<string, string>): ImageCatalogue {
  const command = ownCommand()
  return Object.fromEntries([...folders].map(([name, root]) => [name, { root, command }]))
}

/** The tenth address of the range of Services, as kubeadm has it; undefined in a range without one, and for IPv6. */
export function dnsAddressIn(range: string): string | undefined {
  const cidr = parseCIDR(range.split(',')[0] ?? '')
  if (cidr?.address.bytes.length !== 4 || cidr.prefix > 28) return undefined
  const bytes = maskIP(cidr.address.bytes, cidr.prefix)
  bytes[3]! += 10
  return formatIP(bytes)
}

function showParts(pods: readonly StaticPod[]): Operator {
  return createMirrorPods({
    node: nodeNamesOf(1)[0] ?? '',
    pods,
    // Without kubeadm's taint: with a single node, no Pod could run.
    nodeLabels: { 'node-role.kubernetes.io/control-plane': '' },
  })
}

/** One operator, so that nodes and kube-proxy share caches. */
function start(
  agent: Kubelet,
  companions: readonly Operator[],
  { connect, env, group }: OperatorSurroundings,
): NodeConnection {
  const operator = defineOperator(agent.operator.name, builder => {
    for (const part of [agent.operator, ...companions]) part.setup(builder)
  })
  const client = createClient({ env, userAgent: 'kubelet/0.1', transport: connect() })
  group.spawn(signal => runOperator(operator, { client, env, signal, errorEvents: false }))
  return agent.connection
}
