import {
  deepEqual,
  field,
  formatLabelSelector,
  nameIsDNSLabel,
  warningsForCIDR,
  warningsForIP,
} from '@coxswain/apimachinery'
import { childObject, type JsonObject } from '../../json.ts'
import type { Strategy } from '../../registry/strategy.ts'
import { ageCell, nameCell } from '../cells.ts'
import { printLoadBalancer } from '../networking/addresses.ts'
import { loadBalancerWarnings } from '../networking/ingress.ts'
import { listOf, objectOf, recordOf } from '../pod/validation/reading.ts'
import { claimService, releaseService } from './allocation.ts'
import {
  clusterIPsOf,
  isExternallyAccessible,
  isExternalName,
  isHeadless,
  isLoadBalancer,
  isOnNodes,
  isSameList,
  needsHealthCheck,
  noAddress,
  nodePortsOf,
  portsOf,
  type ServiceSpec,
  specOf,
} from './spec.ts'
import { validateService, validateServiceChange, validateServiceStatus } from './validation.ts'

const defaultAffinitySeconds = 10_800
const hintsAnnotation = 'service.kubernetes.io/topology-aware-hints'
const modeAnnotation = 'service.kubernetes.io/topology-mode'
const specPath = field.Path.of('spec')

export const serviceStrategy: Strategy = {
  validateName: nameIsDNSLabel,
  createOnUpdate: true,
  returnsDeleted: true,
  default: defaultService,
  claim: claimService,
  release: (service, { state }) => releaseService(service, state),
  prepareForCreate: object => dropIgnoredPolicy(specOf(object)),
  prepareForUpdate(object, old) {
    dropTypeDependents(specOf(object), specOf(old))
    if (!isLoadBalancer(specOf(object))) childObject(object, 'status').loadBalancer = {}
    dropIgnoredPolicy(specOf(object))
  },
  validate: (object, _context, old) => [
    ...(old ? validateServiceChange(object, old) : []),
    ...validateService(object, old),
  ],
  validateStatusUpdate: (object, old) => validateServiceStatus(object, old),
  warnings: object => serviceWarnings(object),
  statusWarnings: object => loadBalancerWarnings(object.status),
  cells(object, now) {
    const spec = specOf(object)
    return [
      nameCell(object),
      spec.type ?? '',
      clusterIPsOf(spec)[0] ?? '<none>',
      printExternal(spec, object.status),
      printPorts(spec) || '<none>',
      ageCell(object, now),
      formatLabelSelector({ matchLabels: recordOf(spec.selector) }),
    ]
  },
}

function defaultService(object: JsonObject): void {
  const spec = childObject(object, 'spec') as ServiceSpec
  spec.sessionAffinity ||= 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (
    spec.sessionAffinity === 'ClientIP' &&
    spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined
  )
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: defaultAffinitySeconds } }
  spec.type ||= 'ClusterIP'
  for (const port of portsOf(spec)) {
    port.protocol ||= 'TCP'
    port.targetPort ||= port.port
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= 'Cluster'
  if (spec.type === 'ClusterIP' || isOnNodes(spec)) spec.internalTrafficPolicy ??= 'Cluster'
  if (!isLoadBalancer(spec)) return
  spec.allocateLoadBalancerNodePorts ??= true
  for (const ingress of listOf(objectOf(objectOf(object.status).loadBalancer).ingress))
    if (ingress.ip) ingress.ipMode ??= 'VIP'
}

/** An alias has no traffic of its own to steer: a policy that makes sense elsewhere is not kept. */
function dropIgnoredPolicy(spec: ServiceSpec): void {
  const policy = spec.internalTrafficPolicy
  if (isExternalName(spec) && (policy === 'Cluster' || policy === 'Local')) delete spec.internalTrafficPolicy
}

/** Clears what the new type has no use for, unless the author changed that too. */
function dropTypeDependents(spec: ServiceSpec, old: ServiceSpec): void {
  if (isExternalName(spec) && !isExternalName(old)) {
    const isSame = (spec.clusterIP ?? '') === (old.clusterIP ?? '')
    if (isSame && isSameList(spec.clusterIPs, old.clusterIPs)) {
      delete spec.clusterIP
      delete spec.clusterIPs
    }
    if (deepEqual(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies
    if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy
  }
  if (isOnNodes(old) && !isOnNodes(spec)) {
    if (new Set(nodePortsOf(spec)).isSubsetOf(new Set(nodePortsOf(old))))
      for (const port of portsOf(spec)) delete port.nodePort
  }
  const isSameCheck = (spec.healthCheckNodePort ?? 0) === (old.healthCheckNodePort ?? 0)
  if (needsHealthCheck(old) && !needsHealthCheck(spec) && isSameCheck) delete spec.healthCheckNodePort
  if (isLoadBalancer(old) && !isLoadBalancer(spec)) {
    for (const key of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const)
      if (spec[key] === old[key]) delete spec[key]
  }
  const isSamePolicy = spec.externalTrafficPolicy === old.externalTrafficPolicy
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec) && isSamePolicy)
    delete spec.externalTrafficPolicy
}

function serviceWarnings(object: JsonObject): string[] {
  const spec = specOf(object)
  const warnings: string[] = []
  const externalIPs = spec.externalIPs ?? []
  const headless = spec.type === 'ClusterIP' && spec.clusterIP === noAddress
  if (recordOf(objectOf(object.metadata).annotations)[hintsAnnotation] !== undefined)
    warnings.push(`annotation ${hintsAnnotation} is deprecated, please use ${modeAnnotation} instead`)
  if (spec.clusterIP && !isHeadless(spec)) {
    const path = specPath.child('clusterIPs')
    for (const warning of clusterIPsOf(spec).flatMap((ip, index) => warningsForIP(path.index(index), ip)))
      warnings.push(warning)
  }
  if (headless) {
    if (spec.loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services')
    if (externalIPs.length > 0) warnings.push('spec.externalIPs is ignored for headless services')
    if (spec.sessionAffinity !== 'None')
      warnings.push('spec.SessionAffinity is ignored for headless services')
  }
  const externalPath = specPath.child('externalIPs')
  for (const warning of externalIPs.flatMap((ip, index) => warningsForIP(externalPath.index(index), ip)))
    warnings.push(warning)
  if (externalIPs.length > 0 && !headless && !isExternalName(spec))
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  if (spec.loadBalancerIP)
    for (const warning of warningsForIP(specPath.child('loadBalancerIP'), spec.loadBalancerIP))
      warnings.push(warning)
  const rangesPath = specPath.child('loadBalancerSourceRanges')
  const ranges = spec.loadBalancerSourceRanges ?? []
  for (const warning of ranges.flatMap((range, index) => warningsForCIDR(rangesPath.index(index), range)))
    warnings.push(warning)
  if (isExternalName(spec) && externalIPs.length > 0)
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  if (!isExternalName(spec) && spec.externalName)
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  if (spec.trafficDistribution === 'PreferClose')
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  return warnings
}

function printExternal(spec: ServiceSpec, status: unknown): string {
  const externalIPs = (spec.externalIPs ?? []).join(',')
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs || '<none>'
    case 'LoadBalancer': {
      const balancers = printLoadBalancer(status)
      return [balancers, externalIPs].filter(text => text !== '').join(',') || '<pending>'
    }
    case 'ExternalName':
      return spec.externalName ?? ''
    default:
      return '<unknown>'
  }
}

function printPorts(spec: ServiceSpec): string {
  return portsOf(spec)
    .map(({ port, nodePort, protocol }) => `${nodePort ? `${port}:${nodePort}` : port}/${protocol}`)
    .join(',')
}
