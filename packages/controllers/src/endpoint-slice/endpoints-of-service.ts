import type { Node } from '@coxswain/api/core/v1'
import type { Endpoint, EndpointPort } from '@coxswain/api/discovery/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import {
  type IPFamily,
  ipFamilyOf,
  isPodReady,
  type PodView,
  podIPsOf,
  type ServiceView,
} from '@coxswain/kinds'
import { findPort, hostnameFor } from './service-pods.ts'
import { wantsTopologyHints } from './topology-hints.ts'

const zoneLabel = 'topology.kubernetes.io/zone'

/** The ports of a service as resolved on a pod; unresolved ones are omitted. */
export function portsOn({ spec }: ServiceView, pod: PodView): EndpointPort[] {
  return (spec?.ports ?? []).flatMap(servicePort => {
    const port = findPort(pod, servicePort)
    if (port === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return [{ name, port, protocol, ...(appProtocol && { appProtocol }) } as EndpointPort]
  })
}

/** A pod as an endpoint; undefined if it has no address of that type. */
export function endpointOf(
  service: ServiceView,
  pod: PodView,
  node: DeepReadonly<Node> | undefined,
  type: IPFamily,
): Endpoint | undefined {
  const addresses = podIPsOf(pod).filter(address => ipFamilyOf(address) === type)
  if (addresses.length === 0) return undefined
  const { namespace, name, uid, deletionTimestamp } = pod.metadata
  const serving = isPodReady(pod)
  const terminating = deletionTimestamp !== undefined
  const ready = Boolean(service.spec?.publishNotReadyAddresses) || (serving && !terminating)
  const zone = node?.metadata.labels?.[zoneLabel]
  const hostname = hostnameFor(service, pod)
  const { nodeName } = pod.spec
  const hints = ready ? hintsFor(service, zone, nodeName) : undefined
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && { hostname }),
    targetRef: { kind: 'Pod', ...(namespace !== undefined && { namespace }), name, uid },
    ...(nodeName && { nodeName }),
    ...(zone && { zone }),
    ...(hints && { hints }),
  }
}

/** The hints for the traffic distribution of a service. */
function hintsFor(service: ServiceView, zone?: string, node?: string): Endpoint['hints'] {
  const preference = service.spec?.trafficDistribution
  const isClose = ['PreferClose', 'PreferSameZone', 'PreferSameNode'].includes(preference ?? '')
  if (!isClose || wantsTopologyHints(service)) return
  const forNodes = preference === 'PreferSameNode' && node ? [{ name: node }] : undefined
  if (!zone && !forNodes) return
  return { ...(zone && { forZones: [{ name: zone }] }), ...(forNodes && { forNodes }) }
}
