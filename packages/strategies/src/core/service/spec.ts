import type {
  ServicePort as ApiServicePort,
  ServiceSpec as ApiServiceSpec,
  Service,
} from '@coxswain/api/core/v1'
import type { Decoded } from '../../decoded.ts'

export type ServicePort = Decoded<ApiServicePort>
export type ServiceSpec = Decoded<ApiServiceSpec>

/** The spec of a Service. */
export const specOf = (service: Decoded<Service>): ServiceSpec => service.spec ?? {}
export const portsOf = (spec: ServiceSpec): ServicePort[] => spec.ports ?? []
/** The cluster IPs of a Service. */
export const clusterIPsOf = (spec: ServiceSpec): string[] => spec.clusterIPs ?? []
export const familiesOf = (spec: ServiceSpec): string[] => spec.ipFamilies ?? []

/** The address of a service that has none on purpose. */
export const noAddress = 'None'

/** Whether a Service is of type ExternalName. */
export const isExternalName = (spec: ServiceSpec): boolean => spec.type === 'ExternalName'
export const isLoadBalancer = (spec: ServiceSpec): boolean => spec.type === 'LoadBalancer'
/** Whether nodes listen for the service. */
export const isOnNodes = (spec: ServiceSpec): boolean => spec.type === 'NodePort' || isLoadBalancer(spec)
/** Whether a Service is headless. */
export const isHeadless = (spec: ServiceSpec): boolean =>
  clusterIPsOf(spec).length === 1 && spec.clusterIPs?.[0] === noAddress
export const hasSelector = (spec: ServiceSpec): boolean => Object.keys(spec.selector ?? {}).length > 0
export const isExternallyAccessible = (spec: ServiceSpec): boolean =>
  isOnNodes(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0)
/** Whether a load balancer has to ask nodes if they have endpoints of their own. */
export const needsHealthCheck = (spec: ServiceSpec): boolean =>
  isLoadBalancer(spec) && spec.externalTrafficPolicy === 'Local'

/** The node ports of a service's ports, without the one for health checks. */
export const nodePortsOf = (spec: ServiceSpec): number[] =>
  portsOf(spec).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []))

type Texts = readonly string[] | null | undefined

export function isSameList(one: Texts, other: Texts): boolean {
  const [a, b] = [one ?? [], other ?? []]
  return a.length === b.length && a.every((value, index) => value === b[index])
}
