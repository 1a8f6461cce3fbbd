import { Pod, Service, type ServicePort } from '@coxswain/api/core/v1'
import type { DeepReadonly, ObjectKey } from '@coxswain/apimachinery/meta'
import { selectorFromLabels } from '@coxswain/apimachinery/selectors'
import {
  isPodReady,
  isPodTerminal,
  longRunningContainers,
  type PodView,
  podIPsOf,
  type ServiceView,
} from '@coxswain/kinds'
import type { MapFunction, OperatorClient, Predicate } from '@coxswain/runtime'

/** The label of objects that are created for a headless service. */
export const headlessLabel = 'service.kubernetes.io/headless'

/** Whether a service has endpoints that this package manages. */
export function selectsPods({ spec }: ServiceView): boolean {
  return (
    spec?.type !== 'ExternalName' && spec?.selector !== undefined && Object.keys(spec.selector).length > 0
  )
}

/** The pods that a service selects, in any state. */
export async function listPodsOfService(
  client: OperatorClient,
  { metadata, spec }: ServiceView,
): Promise<PodView[]> {
  const selector = selectorFromLabels(spec?.selector ?? {})
  const { items } = await client.list(Pod, { namespace: metadata.namespace ?? '' })
  return items.filter(pod => selector.matches(pod.metadata.labels))
}

/** The services that select a pod. */
export const servicesOfPod: MapFunction<Pod> = ({ metadata }, lookup) => {
  const { namespace = '', labels } = metadata
  if (!labels) return []
  const keys: ObjectKey[] = []
  for (const service of lookup.list(Service, { namespace })) {
    if (!selectsPods(service) || !selectorFromLabels(service.spec!.selector!).matches(labels)) continue
    keys.push({ namespace, name: service.metadata.name })
  }
  return keys
}

/** Updates of pods that can change their endpoints. */
export const endpointChanged: Predicate<Pod> = event => {
  if (event.type !== 'update' || event.isResync) return true
  const [old, pod] = [event.old as PodView, event.object as PodView]
  return membershipOf(old) !== membershipOf(pod)
}

function membershipOf(pod: PodView): string {
  const { metadata, spec, status } = pod
  return JSON.stringify([
    metadata.labels,
    metadata.deletionTimestamp,
    spec.hostname,
    spec.subdomain,
    spec.nodeName,
    isPodReady(pod),
    isPodTerminal(pod),
    status?.podIPs,
    status?.podIP,
  ])
}

/** Whether a pod can be an endpoint. */
export function hasEndpoint(pod: PodView): boolean {
  return !isPodTerminal(pod) && podIPsOf(pod).length > 0
}

/** A pod has a host name only in the service that it names as its subdomain. */
export function hostnameFor({ metadata }: ServiceView, { spec }: PodView): string | undefined {
  return spec.hostname && spec.subdomain === metadata.name ? spec.hostname : undefined
}

/** The target port of a service on a pod: named ports are looked up in its containers and sidecars. */
export function findPort(pod: PodView, port: DeepReadonly<ServicePort>): number | undefined {
  const target = port.targetPort ?? port.port
  if (typeof target === 'number') return target
  for (const { ports = [] } of longRunningContainers(pod)) {
    const found = ports.find(
      ({ name, protocol = 'TCP' }) => name === target && protocol === (port.protocol ?? 'TCP'),
    )
    if (found) return found.containerPort
  }
  return undefined
}
