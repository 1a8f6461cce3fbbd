import type { JsonObject } from '@coxswain/apimachinery/json'
import { recordOf } from '../../shared/reading.ts'

export interface ServicePort extends JsonObject {
  name?: string
  protocol?: string
  port: number
  targetPort: number | string
  nodePort?: number
  appProtocol?: string
}

/** What the rules of services look at. */
export interface ServiceSpec extends JsonObject {
  type?: string
  ports?: ServicePort[]
  clusterIP?: string
  clusterIPs?: string[]
  ipFamilies?: string[]
  ipFamilyPolicy?: string
  externalIPs?: string[]
  externalName?: string
  externalTrafficPolicy?: string
  internalTrafficPolicy?: string
  healthCheckNodePort?: number
  allocateLoadBalancerNodePorts?: boolean
  loadBalancerClass?: string
  loadBalancerIP?: string
  loadBalancerSourceRanges?: string[]
  sessionAffinity?: string
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } }
  trafficDistribution?: string
}

export const specOf = (service: JsonObject): ServiceSpec => service.spec as ServiceSpec
export const portsOf = (spec: ServiceSpec): ServicePort[] => spec.ports ?? []
export const clusterIPsOf = (spec: ServiceSpec): string[] => spec.clusterIPs ?? []
export const familiesOf = (spec: ServiceSpec): string[] => spec.ipFamilies ?? []

/** The address of a service that has none on purpose. */
export const noAddress = 'None'

export const isExternalName = (spec: ServiceSpec): boolean => spec.type === 'ExternalName'
export const isLoadBalancer = (spec: ServiceSpec): boolean => spec.type === 'LoadBalancer'
/** Whether nodes listen for the service. */
export const isOnNodes = (spec: ServiceSpec): boolean => spec.type === 'NodePort' || isLoadBalancer(spec)
export const isHeadless = (spec: ServiceSpec): boolean =>
  clusterIPsOf(spec).length === 1 && spec.clusterIPs?.[0] === noAddress
export const hasSelector = (spec: ServiceSpec): boolean => Object.keys(recordOf(spec.selector)).length > 0
export const isExternallyAccessible = (spec: ServiceSpec): boolean =>
  isOnNodes(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0)
/** Whether a load balancer has to ask nodes if they have endpoints of their own. */
export const needsHealthCheck = (spec: ServiceSpec): boolean =>
  isLoadBalancer(spec) && spec.externalTrafficPolicy === 'Local'

/** The node ports of a service's ports, without the one for health checks. */
export const nodePortsOf = (spec: ServiceSpec): number[] =>
  portsOf(spec).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []))

export const isSameList = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index])
