import type { Endpoints, Service } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { newInternalError, newInvalid, type StatusError } from '@coxswain/apimachinery/status'
import { isValidPathSegmentName } from '@coxswain/apimachinery/validation'
import { ipFamilyOf } from '@coxswain/kinds'
import type { Decoded } from '../../decoded.ts'
import type { Claim, ClaimOperation, ObjectReader, StrategyContext } from '../../strategy.ts'
import { initFamilies, isSettled } from './families.ts'
import { parseRange, portKey, releaseAddress, ServiceClaim } from './pools.ts'
import {
  clusterIPsOf,
  familiesOf,
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

const specPath = field.Path.of('spec')
const portsPath = specPath.child('ports')

/** The families in which services of this cluster have addresses, the default one first. */
const familiesOfCluster = ({ serviceRanges }: StrategyContext): string[] =>
  serviceRanges.flatMap(range => parseRange(range)?.family ?? [])

/** Takes addresses and node ports for a service and writes them into it. */
export function claimService(
  service: Decoded<Service>,
  old: Decoded<Service> | undefined,
  context: StrategyContext,
): Claim {
  const claim = new ServiceClaim(context, service)
  const spec = specOf(service)
  const before = old && specOf(old)
  if (before) patchAllocated(spec, before)
  normalizeClusterIPs(spec, before)
  initFamilies(service, old, familiesOfCluster(context))
  if (before) {
    updateClusterIPs(service, before, claim)
    updateNodePorts(service, before, claim)
  } else {
    takeClusterIPs(service, claim)
    if (isOnNodes(spec)) takeNodePorts(service, claim)
    if (needsHealthCheck(spec)) takeHealthCheckPort(service, claim)
  }
  return claim
}

/** What a deletion gives back: addresses, node ports, and the Endpoints of the same name. */
export function releaseService(service: Decoded<Service>, objects: ObjectReader): ClaimOperation[] {
  const spec = specOf(service)
  const { namespace, name } = service.metadata as { namespace: string; name: string }
  const hasAddress = !isExternalName(spec) && !isHeadless(spec)
  const addresses = hasAddress ? clusterIPsOf(spec) : []
  const ports = [...nodePortsOf(spec), ...(needsHealthCheck(spec) ? [spec.healthCheckNodePort ?? 0] : [])]
  const operations: ClaimOperation[] = addresses.flatMap(
    address => releaseAddress(objects, address, { namespace, name }) ?? [],
  )
  for (const port of new Set(ports)) if (port > 0) operations.push({ type: 'delete', key: portKey(port) })
  const endpointsKey = `/core/endpoints/${namespace}/${name}`
  const endpoints = objects.resource('/core/endpoints/').get(endpointsKey)
  if (endpoints && !hasFinalizers(endpoints.parse() as Decoded<Endpoints>))
    operations.push({ type: 'delete', key: endpointsKey })
  return operations
}

const hasFinalizers = ({ metadata }: Decoded<Endpoints>): boolean => (metadata.finalizers ?? []).length > 0

function refuse(service: Decoded<Service>, path: field.Path, value: unknown, reason: string): StatusError {
  const { name = '' } = service.metadata as { name?: string }
  return newInvalid({ group: '', kind: 'Service' }, name, [field.invalid(path, value, reason)])
}

const ownsNodePorts = (spec: ServiceSpec): boolean =>
  spec.type === 'NodePort' || (isLoadBalancer(spec) && spec.allocateLoadBalancerNodePorts !== false)

/** Keeps what was taken for a service when its author sends the manifest again that does not know of it. */
function patchAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (!isExternalName(spec) && !isExternalName(old)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP
    if (clusterIPsOf(spec).length === 0 && clusterIPsOf(old).length > 0)
      spec.clusterIPs = [...old.clusterIPs!]
  }
  if (ownsNodePorts(spec) && ownsNodePorts(old)) {
    const used = new Set(nodePortsOf(old)).intersection(new Set(nodePortsOf(spec)))
    const byName = new Map(portsOf(old).map(port => [port.name ?? '', port.nodePort ?? 0]))
    for (const port of portsOf(spec)) {
      const known = byName.get(port.name ?? '') ?? 0
      if (!port.nodePort && known !== 0 && !used.has(known)) port.nodePort = known
    }
  }
  if (needsHealthCheck(spec) && needsHealthCheck(old) && !spec.healthCheckNodePort)
    setOrDelete(spec, 'healthCheckNodePort', old.healthCheckNodePort)
}

function setOrDelete<K extends keyof ServiceSpec>(spec: ServiceSpec, key: K, value: ServiceSpec[K]): void {
  if (value === undefined) delete spec[key]
  else spec[key] = value
}

/** Brings `clusterIPs` in line with `clusterIP`, for clients that know only the latter. */
function normalizeClusterIPs(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  const clusterIP = spec.clusterIP ?? ''
  if (!old) {
    if (clusterIP !== '' && clusterIPsOf(spec).length === 0) spec.clusterIPs = [clusterIP]
    return
  }
  const before = old.clusterIP ?? ''
  if (clusterIPsOf(old).length > 0 && clusterIPsOf(spec).length === 0 && clusterIP === before)
    spec.clusterIPs = [...old.clusterIPs!]
  if (clusterIP === before || !isSameList(spec.clusterIPs, old.clusterIPs)) return
  if (clusterIP === '') delete spec.clusterIPs
  else spec.clusterIPs = [clusterIP]
}

/** One address for each family; those that the author gave are taken as given. */
function takeClusterIPs(service: Decoded<Service>, claim: ServiceClaim): void {
  const spec = specOf(service)
  if (isExternalName(spec) || clusterIPsOf(spec)[0] === noAddress) return
  const wanted = familiesOf(spec).map((family, index) => ({ family, ip: clusterIPsOf(spec)[index] ?? '' }))
  spec.clusterIPs = wanted.map(({ family, ip }) => takeAddress(service, family, ip, claim))
  spec.clusterIP = spec.clusterIPs[0] ?? ''
}

function takeAddress(service: Decoded<Service>, family: string, ip: string, claim: ServiceClaim): string {
  const { name = '' } = service.metadata as { name?: string }
  const refusal = ip === '' ? undefined : claim.takeAddress(ip)
  const taken = ip === '' ? claim.takeNextAddress(family) : ip
  if (taken === undefined)
    throw newInternalError(new Error(`failed to allocate a serviceIP for Service "${name}": range is full`))
  const reason = refusal ?? (claim.isDryRun ? undefined : ownerProblem(name, taken))
  if (reason === undefined) return taken
  const what = ip === '' ? 'IP' : `IP ${ip}`
  const value = ip === '' ? [''] : specOf(service).clusterIPs
  throw refuse(service, specPath.child('clusterIPs'), value, `failed to allocate ${what}: ${reason}`)
}

/** An address names its owner, and what cannot be a name is refused there first. */
function ownerProblem(name: string, ip: string): string | undefined {
  const [problem] = isValidPathSegmentName(name)
  if (problem === undefined) return undefined
  const detail = `spec.parentRef.name: Invalid value: ${JSON.stringify(name)}: ${problem}`
  return `IPAddress.networking.k8s.io "${ip}" is invalid: ${detail}`
}

function updateClusterIPs(service: Decoded<Service>, old: ServiceSpec, claim: ServiceClaim): void {
  const spec = specOf(service)
  if (isSettled(spec, old)) return
  if (isExternalName(old)) {
    takeClusterIPs(service, claim)
    return
  }
  if (clusterIPsOf(old)[0] === noAddress) return
  if (isExternalName(spec)) {
    for (const ip of clusterIPsOf(old)) claim.releaseAddress(ip)
    return
  }
  const [first, second] = familiesOf(spec)
  if (familiesOf(old).length === 1 && second !== undefined) {
    const [primary = ''] = clusterIPsOf(spec)
    const added = takeAddress(service, second, clusterIPsOf(spec)[1] ?? '', claim)
    spec.clusterIPs = [primary, added]
  } else if (familiesOf(old).length === 2 && first !== undefined && second === undefined) {
    const released = clusterIPsOf(old).find(ip => ipFamilyOf(ip) === familiesOf(old)[1])
    if (released !== undefined) claim.releaseAddress(released)
  }
}

/** Ports of one number and several protocols share a node port. */
function takeNodePorts(service: Decoded<Service>, claim: ServiceClaim): void {
  const spec = specOf(service)
  const byPort = new Map<number | undefined, number>()
  const requested = Map.groupBy(
    portsOf(spec).filter(({ nodePort }) => nodePort),
    ({ port }) => port,
  )
  for (const [index, port] of portsOf(spec).entries()) {
    if (!port.nodePort && !ownsNodePorts(spec)) continue
    const shared = byPort.get(port.port)
    if (shared === undefined) {
      const nodePort = requested.get(port.port)?.[0]?.nodePort
      port.nodePort = nodePort === undefined ? takeNextPort(claim) : takePort(service, index, nodePort, claim)
      byPort.set(port.port, port.nodePort)
    } else if (!port.nodePort) port.nodePort = shared
    else if (port.nodePort !== shared) takePort(service, index, port.nodePort, claim)
  }
}

function takePort(service: Decoded<Service>, index: number, port: number, claim: ServiceClaim): number {
  const refusal = claim.takePort(port)
  if (refusal !== undefined) throw refuse(service, portsPath.index(index).child('nodePort'), port, refusal)
  return port
}

function takeNextPort(claim: ServiceClaim): number {
  const port = claim.takeNextPort()
  if (port === undefined) throw newInternalError(new Error('failed to allocate a nodePort: range is full'))
  return port
}

function takeHealthCheckPort(service: Decoded<Service>, claim: ServiceClaim): void {
  const spec = specOf(service)
  if (!spec.healthCheckNodePort) {
    spec.healthCheckNodePort = takeNextPort(claim)
    return
  }
  const refusal = claim.takePort(spec.healthCheckNodePort)
  if (refusal !== undefined)
    throw refuse(service, specPath.child('healthCheckNodePort'), spec.healthCheckNodePort, refusal)
}

function updateNodePorts(service: Decoded<Service>, old: ServiceSpec, claim: ServiceClaim): void {
  const spec = specOf(service)
  const before = new Set(nodePortsOf(old))
  if (isOnNodes(spec)) {
    const taken = new Set<number>()
    for (const [index, port] of portsOf(spec).entries()) {
      if (!port.nodePort) {
        if (ownsNodePorts(spec)) port.nodePort = takeNextPort(claim)
      } else if (!before.has(port.nodePort) && !taken.has(port.nodePort)) {
        taken.add(takePort(service, index, port.nodePort, claim))
      }
    }
  }
  const kept = new Set(isOnNodes(spec) ? nodePortsOf(spec) : [])
  if (isOnNodes(old)) for (const port of before.difference(kept)) claim.releasePort(port)

  if (!needsHealthCheck(old) && needsHealthCheck(spec)) takeHealthCheckPort(service, claim)
  else if (needsHealthCheck(old) && !needsHealthCheck(spec) && old.healthCheckNodePort)
    claim.releasePort(old.healthCheckNodePort)
}
