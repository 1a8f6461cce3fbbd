import type { Pod, Service, ServicePort } from '@coxswain/api/core/v1'
import type { EndpointSlice } from '@coxswain/api/discovery/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isPodTerminal } from '@coxswain/kinds'
import { isMirrorPod } from '../mirror-pods/mirror-pod.ts'
import { loopbackAddressOf } from './loopback-address.ts'

/** The protocols that kube-proxy forwards. */
export type ProxyProtocol = 'TCP' | 'UDP'

/** An endpoint that connections to a Service may go to. */
export interface ProxyEndpoint {
  /** `address:port`, as the EndpointSlice has them. */
  readonly id: string
  /** The addresses to try, the likeliest first. */
  readonly hosts: readonly string[]
  readonly port: number
  /** Whether it is on this machine. */
  readonly isLocal: boolean
  /** The Pod, by its uid. */
  readonly pod?: string
}

/** A port to listen on, and where its connections go. */
export interface ProxyRule {
  /** Unique among the rules of a machine: `TCP 127.96.0.1:443`. */
  readonly id: string
  readonly protocol: ProxyProtocol
  readonly host: string
  readonly port: number
  readonly service: DeepReadonly<Service>
  /** The Service's port, whatever address it is reached at: its addresses share session affinity. */
  readonly servicePort: string
  /** Never empty: the port of a Service without endpoints is closed. */
  readonly endpoints: readonly ProxyEndpoint[]
  /** How long a client keeps its endpoint after its last connection, in milliseconds. @default no affinity */
  readonly affinity?: number
}

/** The part of the cluster that is this machine. */
export interface Machine {
  /** The names of its nodes. */
  readonly nodes: ReadonlySet<string>
  /** The address of its Pods, which share its network. */
  readonly address: string
}

/** Where NodePorts listen. */
export const nodePortHost = '127.0.0.1'
/** The loopback addresses that processes listen on. */
const loopbackHosts = ['127.0.0.1', '::1']
const defaultAffinity = 10_800

export const serviceNameLabel = 'kubernetes.io/service-name'
/** The labels of Services that another proxy handles, and of the slices of headless Services. */
const proxyNameLabel = 'service.kubernetes.io/service-proxy-name'
const headlessLabel = 'service.kubernetes.io/headless'

/** The ports to listen on for a Service. */
export function makeRules(
  service: DeepReadonly<Service>,
  slices: readonly DeepReadonly<EndpointSlice>[],
  machine: Machine,
): ProxyRule[] {
  const { metadata, spec = {} } = service
  if (metadata.labels?.[proxyNameLabel] !== undefined) return []
  if (spec.type === 'ExternalName' || !spec.clusterIP || spec.clusterIP === 'None') return []
  const clusterHosts = (spec.clusterIPs ?? [spec.clusterIP])
    .map(loopbackAddressOf)
    .filter(host => host !== undefined)
  const rules: ProxyRule[] = []
  for (const port of spec.ports ?? []) {
    const protocol = port.protocol ?? 'TCP'
    if (protocol !== 'TCP' && protocol !== 'UDP') continue
    const known = endpointsOf(port, protocol, slices, machine)
    const add = (host: string, number: number, endpoints: readonly ProxyEndpoint[]) => {
      if (endpoints.length === 0) return
      const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinity
      rules.push({
        id: `${protocol} ${host}:${number}`,
        protocol,
        host,
        port: number,
        service,
        servicePort: `${metadata.namespace}/${metadata.name}:${port.name ?? ''}:${protocol}`,
        endpoints,
        ...(spec.sessionAffinity === 'ClientIP' && { affinity: seconds * 1000 }),
      })
    }
    const isInternalLocal = spec.internalTrafficPolicy === 'Local'
    for (const host of clusterHosts) add(host, port.port, usable(known, isInternalLocal))
    // Connections to a node port from the machine itself may go anywhere, whatever externalTrafficPolicy says.
    if (port.nodePort) add(nodePortHost, port.nodePort, usable(known, false))
  }
  return rules
}

interface KnownEndpoint extends ProxyEndpoint {
  readonly isReady: boolean
  readonly isServing: boolean
  readonly isTerminating: boolean
  /** Whether it is on a node of this machine, for traffic policies. */
  readonly isOfNode: boolean
  /** Whether its hints name a node of this machine. @default it has no hints */
  readonly isHinted?: boolean
}

/** Those that are ready; when none is, those that are terminating but still serving. */
function usable(known: readonly KnownEndpoint[], ofNodesOnly: boolean): readonly ProxyEndpoint[] {
  const candidates = ofNodesOnly ? known.filter(({ isOfNode }) => isOfNode) : known
  const ready = candidates.filter(({ isReady }) => isReady)
  // Hints apply when every endpoint has them, and one names this machine (trafficDistribution: PreferSameNode).
  const near = ready.filter(({ isHinted }) => isHinted)
  const counts = !ofNodesOnly && near.length > 0 && ready.every(({ isHinted }) => isHinted !== undefined)
  if (ready.length > 0) return counts ? near : ready
  return candidates.filter(({ isServing, isTerminating }) => isServing && isTerminating)
}

function endpointsOf(
  { name = '' }: DeepReadonly<ServicePort>,
  protocol: ProxyProtocol,
  slices: readonly DeepReadonly<EndpointSlice>[],
  machine: Machine,
): KnownEndpoint[] {
  const known = new Map<string, KnownEndpoint>()
  for (const { metadata, addressType, endpoints, ports } of slices) {
    if (addressType !== 'IPv4' || metadata.labels?.[headlessLabel] !== undefined) continue
    const port = ports?.find(of => (of.name ?? '') === name && (of.protocol ?? 'TCP') === protocol)?.port
    if (port === undefined) continue
    for (const { addresses, conditions = {}, nodeName, targetRef, hints } of endpoints ?? []) {
      const [address] = addresses
      if (address === undefined) continue
      const id = `${address}:${port}`
      const isReady = conditions.ready ?? true
      // One address may briefly be in two slices: the better entry counts.
      if (known.get(id)?.isReady) continue
      const isLocal = address === machine.address
      known.set(id, {
        id,
        hosts: isLocal ? [...loopbackHosts, address] : [address],
        port,
        isLocal,
        isReady,
        isServing: conditions.serving ?? true,
        isTerminating: conditions.terminating ?? false,
        isOfNode: nodeName !== undefined && machine.nodes.has(nodeName),
        ...(hints?.forNodes?.length && {
          isHinted: hints.forNodes.some(node => machine.nodes.has(node.name)),
        }),
        ...(targetRef?.kind === 'Pod' && targetRef.uid !== undefined && { pod: targetRef.uid }),
      })
    }
  }
  return [...known.values()]
}

/**
 * The ports that Pods of this machine may listen on, and which Pods: a program can listen on a port on all addresses
 * only while no other process has it on one of them.
 */
export function findRivals(
  pods: Iterable<DeepReadonly<Pod>>,
  rules: Iterable<ProxyRule>,
  machine: Machine,
): Map<string, Set<string>> {
  const rivals = new Map<string, Set<string>>()
  const add = (protocol: string, port: number, pod: string) => {
    const id = `${protocol} ${port}`
    rivals.set(id, (rivals.get(id) ?? new Set()).add(pod))
  }
  for (const pod of pods) {
    const { metadata, spec } = pod
    if (!machine.nodes.has(spec.nodeName ?? '') || isMirrorPod(pod)) continue
    if (isPodTerminal(pod)) continue
    for (const { ports } of [...(spec.initContainers ?? []), ...spec.containers])
      for (const { protocol = 'TCP', containerPort } of ports ?? [])
        add(protocol, containerPort, metadata.uid)
  }
  for (const { protocol, endpoints } of rules)
    for (const { isLocal, port, pod } of endpoints) if (isLocal && pod !== undefined) add(protocol, port, pod)
  return rivals
}
