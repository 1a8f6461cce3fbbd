import type { Service } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import {
  isDNS1123Subdomain,
  isValidPortName,
  isValidPortNum,
  validateLabels,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../decoded.ts'
import { ingressIPs, legacyCIDR, legacyIP, validateEndpointIP } from '../../networking/addresses.ts'
import { validateStatusHostname } from '../../networking/ingress.ts'
import { goValue } from '../../shared/go-value.ts'
import {
  type Findings,
  invalidBecause,
  printed,
  validateChoice,
  validateDNSLabel,
  validateQualifiedName,
} from '../../shared/reading.ts'
import { portProtocols } from '../endpoints.ts'
import { validateClusterIPs, validateClusterIPsChange, validateFamiliesChange } from './families.ts'
import {
  clusterIPsOf,
  familiesOf,
  isExternallyAccessible,
  isExternalName,
  isHeadless,
  isLoadBalancer,
  needsHealthCheck,
  portsOf,
  type ServicePort,
  type ServiceSpec,
  specOf,
} from './spec.ts'

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const affinities = ['ClientIP', 'None']
const trafficPolicies = ['Cluster', 'Local']
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
const maxAffinitySeconds = 86_400
const hintsAnnotation = 'service.kubernetes.io/topology-aware-hints'
const modeAnnotation = 'service.kubernetes.io/topology-mode'
const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const specPath = field.Path.of('spec')
const portsPath = specPath.child('ports')
const annotationsPath = field.Path.of('metadata', 'annotations')
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'"

/** Everything that must hold for a service, new or changed. */
export function* validateService(service: Decoded<Service>, old: Decoded<Service> | undefined): Findings {
  const spec = specOf(service)
  const before = old && specOf(old)
  yield* validateTopologyAnnotations(annotationsOf(service))
  if (portsOf(spec).length === 0 && !isHeadless(spec) && !isExternalName(spec))
    yield field.required(portsPath)
  yield* validateType(spec)
  const names = new Set<string>()
  for (const [index, port] of portsOf(spec).entries())
    yield* validatePort(port, names, { required: portsOf(spec).length > 1, path: portsPath.index(index) })
  yield* validateLabels(spec.selector ?? {}, specPath.child('selector'))
  yield* validateAffinity(spec)
  yield* validateClusterIPs(spec, before)
  const validOld = new Set(before?.externalIPs)
  for (const [index, ip] of (spec.externalIPs ?? []).entries()) {
    const path = specPath.child('externalIPs').index(index)
    const errors = legacyIP(path, ip, validOld)
    yield* errors.length > 0 ? errors : validateEndpointIP(ip, path)
  }
  yield* validateChoice(spec.type, types, specPath.child('type'))
  yield* validatePortsTogether(spec)
  yield* validateSourceRanges(service, old)
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isLoadBalancer(spec))
    yield field.forbidden(specPath.child('allocateLoadBalancerNodePorts'), onlyLoadBalancer)
  if (isLoadBalancer(spec) && spec.allocateLoadBalancerNodePorts === undefined)
    yield field.required(field.Path.of('allocateLoadBalancerNodePorts'))
  yield* validateLoadBalancerClass(spec)
  yield* validateTraffic(spec)
}

/** What may not change. */
export function* validateServiceChange(service: Decoded<Service>, old: Decoded<Service>): Findings {
  const spec = specOf(service)
  const before = specOf(old)
  yield* validateClusterIPsChange(spec, before)
  yield* validateFamiliesChange(spec, before)
  if (isLoadBalancer(spec) && isLoadBalancer(before) && spec.loadBalancerClass !== before.loadBalancerClass) {
    const path = specPath.child('loadBalancerClass')
    yield field.invalid(path, spec.loadBalancerClass ?? null, 'may not change once set')
  }
  // Upstream asks this once for the change and once for the object.
  yield* validateLoadBalancerClass(spec)
  const isChanged = (spec.healthCheckNodePort ?? 0) !== (before.healthCheckNodePort ?? 0)
  if (needsHealthCheck(spec) && needsHealthCheck(before) && isChanged)
    yield field.forbidden(specPath.child('healthCheckNodePort'), 'field is immutable')
}

const annotationsOf = (object: Decoded<Service>): Record<string, string> => object.metadata.annotations ?? {}

function* validateTopologyAnnotations(annotations: Record<string, string>): Findings {
  const mode = annotations[modeAnnotation]
  const hints = annotations[hintsAnnotation]
  if (mode === undefined || hints === undefined || mode === hints) return
  const message = `must match annotations[${hintsAnnotation}] when both are specified`
  yield field.invalid(annotationsPath.key(modeAnnotation), mode, message)
}

function* validateType(spec: ServiceSpec): Findings {
  if ((spec.type === 'LoadBalancer' || spec.type === 'NodePort') && isHeadless(spec)) {
    const path = specPath.child('clusterIPs').index(0)
    yield field.invalid(path, 'None', `may not be set to 'None' for ${spec.type} services`)
  }
  if (!isExternalName(spec)) return
  const message = 'may not be set for ExternalName services'
  if (clusterIPsOf(spec).length > 0) yield field.forbidden(specPath.child('clusterIPs'), message)
  if (familiesOf(spec).length > 0) yield field.forbidden(specPath.child('ipFamilies'), message)
  if (spec.ipFamilyPolicy !== undefined) yield field.forbidden(specPath.child('ipFamilyPolicy'), message)
  const name = (spec.externalName ?? '').replace(/\.$/, '')
  const path = specPath.child('externalName')
  if (name === '') yield field.required(path)
  else yield* invalidBecause(path, name, isDNS1123Subdomain(name))
}

function* validatePort(
  port: ServicePort,
  names: Set<string>,
  { required, path }: { readonly required: boolean; readonly path: field.Path },
): Findings {
  const name = port.name ?? ''
  if (name !== '') {
    yield* validateDNSLabel(name, path.child('name'))
    if (names.has(name)) yield field.duplicate(path.child('name'), name)
    names.add(name)
  } else if (required) yield field.required(path.child('name'))
  yield* invalidBecause(path.child('port'), port.port, isValidPortNum(port.port ?? 0))
  yield* validateChoice(port.protocol, portProtocols, path.child('protocol'))
  const { targetPort = 0 } = port
  const problems = typeof targetPort === 'number' ? isValidPortNum(targetPort) : isValidPortName(targetPort)
  yield* invalidBecause(path.child('targetPort'), targetPort, problems)
  if (port.appProtocol !== undefined)
    yield* validateQualifiedName(port.appProtocol, path.child('appProtocol'))
}

function* validateAffinity(spec: ServiceSpec): Findings {
  yield* validateChoice(spec.sessionAffinity, affinities, specPath.child('sessionAffinity'))
  const path = specPath.child('sessionAffinityConfig')
  const config = spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'None' && config !== undefined)
    yield field.forbidden(path, 'must not be set when session affinity is None')
  if (spec.sessionAffinity !== 'ClientIP') return
  const seconds = config?.clientIP?.timeoutSeconds
  const message = 'when session affinity type is ClientIP'
  const secondsPath = path.child('clientIP').child('timeoutSeconds')
  if (config === undefined) yield field.required(path, message)
  else if (config.clientIP === undefined) yield field.required(path.child('clientIP'), message)
  else if (seconds === undefined) yield field.required(secondsPath, message)
  else if (seconds <= 0 || seconds > maxAffinitySeconds)
    yield field.invalid(secondsPath, seconds, `must be greater than 0 and less than ${maxAffinitySeconds}`)
}

function* validatePortsTogether(spec: ServiceSpec): Findings {
  const nodePorts = new Set<string>()
  const ports = new Set<string>()
  if (spec.type === 'ClusterIP') {
    const message = "may not be used when `type` is 'ClusterIP'"
    for (const [index, { nodePort }] of portsOf(spec).entries())
      if (nodePort) yield field.forbidden(portsPath.index(index).child('nodePort'), message)
  }
  for (const [index, { nodePort, protocol }] of portsOf(spec).entries()) {
    const key = `${protocol}/${nodePort}`
    if (nodePort && nodePorts.has(key))
      yield field.duplicate(portsPath.index(index).child('nodePort'), nodePort)
    nodePorts.add(key)
  }
  for (const [index, { port, protocol }] of portsOf(spec).entries()) {
    const key = `${protocol}/${port}`
    if (ports.has(key)) yield field.duplicate(portsPath.index(index), goPort(protocol, port))
    ports.add(key)
  }
}

/** Upstream prints its internal type with nothing but these two. */
function goPort(protocol: string | undefined, port: number | undefined): field.Printed {
  return printed(goValue('core.ServicePort', { protocol, port }))
}

function* validateSourceRanges(service: Decoded<Service>, old: Decoded<Service> | undefined): Findings {
  const spec = specOf(service)
  const ranges = spec.loadBalancerSourceRanges ?? []
  if (ranges.length > 0) {
    const path = specPath.child('LoadBalancerSourceRanges')
    if (!isLoadBalancer(spec)) yield field.forbidden(path, onlyLoadBalancer)
    const validOld = new Set(old && specOf(old).loadBalancerSourceRanges?.map(range => range.trim()))
    for (const [index, range] of ranges.entries())
      yield* legacyCIDR(path.index(index), range.trim(), validOld)
    return
  }
  const annotation = annotationsOf(service)[sourceRangesAnnotation]
  if (annotation === undefined) return
  const path = annotationsPath.key(sourceRangesAnnotation)
  if (!isLoadBalancer(spec)) yield field.forbidden(path, onlyLoadBalancer)
  if ((old && annotationsOf(old)[sourceRangesAnnotation] === annotation) || annotation.trim() === '') return
  for (const range of annotation.split(',')) yield* legacyCIDR(path, range.trim())
}

function* validateLoadBalancerClass(spec: ServiceSpec): Findings {
  const path = specPath.child('loadBalancerClass')
  if (spec.loadBalancerClass === undefined) return
  if (isLoadBalancer(spec)) yield* validateQualifiedName(spec.loadBalancerClass, path)
  else yield field.forbidden(path, onlyLoadBalancer)
}

function* validateTraffic(spec: ServiceSpec): Findings {
  const external = spec.externalTrafficPolicy ?? ''
  const externalPath = specPath.child('externalTrafficPolicy')
  if (isExternallyAccessible(spec)) yield* validateChoice(external, trafficPolicies, externalPath)
  else if (external !== '')
    yield field.invalid(externalPath, external, 'may only be set for externally-accessible services')

  const port = spec.healthCheckNodePort ?? 0
  const portPath = specPath.child('healthCheckNodePort')
  if (!needsHealthCheck(spec)) {
    if (port !== 0) {
      const message = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
      yield field.invalid(portPath, port, message)
    }
  } else if (port === 0) yield field.required(portPath)
  else yield* invalidBecause(portPath, port, isValidPortNum(port))

  const internalPath = specPath.child('internalTrafficPolicy')
  const internal = spec.internalTrafficPolicy
  if (internal !== undefined) {
    if (!trafficPolicies.includes(internal)) yield field.notSupported(internalPath, internal, trafficPolicies)
  } else if (types.includes(spec.type ?? '') && !isExternalName(spec)) yield field.required(internalPath)

  const distribution = spec.trafficDistribution
  if (distribution !== undefined && !distributions.includes(distribution))
    yield field.notSupported(specPath.child('trafficDistribution'), distribution, distributions)
}

/** The status says how a load balancer is reached. */
export function* validateServiceStatus(service: Decoded<Service>, old: Decoded<Service>): Findings {
  const path = field.Path.of('status', 'loadBalancer', 'ingress')
  const ingress = service.status?.loadBalancer?.ingress ?? []
  if (!isLoadBalancer(specOf(service))) {
    if (ingress.length > 0) yield field.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
    return
  }
  const validOld = ingressIPs(old.status)
  for (const [index, { ip, ipMode, hostname }] of ingress.entries()) {
    const at = path.index(index)
    const address = ip ?? ''
    if (address !== '') yield* legacyIP(at.child('ip'), address, validOld)
    if (ipMode === undefined) {
      if (address !== '') yield field.required(at.child('ipMode'), 'must be specified when `ip` is set')
    } else if (address === '')
      yield field.forbidden(at.child('ipMode'), 'may not be specified when `ip` is not set')
    else if (ipMode !== 'VIP' && ipMode !== 'Proxy')
      yield field.notSupported(at.child('ipMode'), ipMode, ['Proxy', 'VIP'])
    yield* validateStatusHostname(hostname ?? '', at.child('hostname'))
  }
}
