import type { Pod, Service, ServicePort } from '@coxswain/api/core/v1'
import type { EndpointSlice } from '@coxswain/api/discovery/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isPodTerminal } from '@coxswain/kinds'
import { isMirrorPod } from '../mirror-pods/mirror-pod.ts'
import { loopbackAddressOf } from './loopback-address.ts'

export type ProxyProtocol = 'TCP' | 'UDP'

/** Where connections of a Service may go. */
export interface ProxyEndpoint {
  /** `address:port`, as the EndpointSlice has them. */
  readonly id: string
  /** Where somebody may listen, the likeliest first. */
  readonly hosts: readonly string[]
  readonly port: number
  /** Whether what listens there is of this machine. */
  readonly isLocal: boolean
  /** The Pod, by its uid. */
  readonly pod?: string
}

/** A port that has to be listened on, and where what comes there goes. */
export interface ProxyRule {
  /** Unique among the rules of a machine: `TCP 127.96.0.1:443`. */
  readonly id: string
  readonly protocol: ProxyProtocol
  readonly host: string
  readonly port: number
  readonly service: DeepReadonly<Service>
  /** The Service's port, whatever address it is reached at: these share what they remember of clients. */
  readonly servicePort: string
  /** Never empty: a Service without endpoints refuses connections, because nobody listens. */
  readonly endpoints: readonly ProxyEndpoint[]
  /** How long a client keeps its endpoint after its last connection, in milliseconds. @default not at all */
  readonly affinity?: number
}

/** What of the cluster is this machine. */
export interface Machine {
  /** The names of its nodes. */
  readonly nodes: ReadonlySet<string>
  /** The address of its Pods, which share its network. */
  readonly address: string
}

/** Where NodePorts answer. */
export const nodePortHost = '127.0.0.1'
/** Where processes of this machine listen that listen nowhere else. */
const loopbackHosts = ['127.0.0.1', '::1']
const defaultAffinity = 10_800

export const serviceNameLabel = 'kubernetes.io/service-name'
/** Somebody else's Services, and the slices of Services that have no address. */
const proxyNameLabel = 'service.kubernetes.io/service-proxy-name'
const headlessLabel = 'service.kubernetes.io/headless'

/** The ports that have to be listened on for a Service. */
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
    // What comes to a node port from the machine itself may go everywhere, whatever externalTrafficPolicy says.
    if (port.nodePort) add(nodePortHost, port.nodePort, usable(known, false))
  }
  return rules
}

interface KnownEndpoint extends ProxyEndpoint {
  readonly isReady: boolean
  readonly isServing: boolean
  readonly isTerminating: boolean
  /** Of a node of this machine, which is what traffic policies ask for. */
  readonly isOfNode: boolean
  /** Whether a node of this machine is among those it is meant for. @default nobody says whom it is meant for */
  readonly isHinted?: boolean
}

/** Those that are ready; when there is none, those that end but still serve. */
function usable(known: readonly KnownEndpoint[], ofNodesOnly: boolean): readonly ProxyEndpoint[] {
  const candidates = ofNodesOnly ? known.filter(({ isOfNode }) => isOfNode) : known
  const ready = candidates.filter(({ isReady }) => isReady)
  // Hints count when every endpoint has one, and one is meant for this machine (trafficDistribution: PreferSameNode).
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
      // One address may be in two slices for a moment: the better one counts.
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
 * The ports that Pods of this machine may listen on, and which Pods: a program that wants a port at all addresses gets
 * it only as long as nobody has it at one.
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
