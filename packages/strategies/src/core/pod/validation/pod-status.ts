import type {
  Container,
  LinuxContainerUser,
  Pod,
  PodSpec,
  PodStatus,
  ResourceClaim,
  ResourceRequirements,
  ResourceStatus,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import {
  isValidGroupID,
  isValidIPForLegacyField,
  isValidUserID,
  nameIsDNSSubdomain,
  parseIP,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import { goValue } from '../../../shared/go-value.ts'
import {
  byName,
  type Findings,
  invalidBecause,
  numberOf,
  printed,
  validateDNSLabel,
  validateQualifiedName,
} from '../../../shared/reading.ts'
import { annotationChanges } from './pod-update.ts'

const path = field.Path.of('status')
const systemConditions = new Set(['PodScheduled', 'Ready', 'Initialized'])
const statusKinds = [
  ['containerStatuses', 'containers'],
  ['initContainerStatuses', 'initContainers'],
  ['ephemeralContainerStatuses', 'ephemeralContainers'],
] as const

export function* validatePodStatusUpdate(pod: Decoded<Pod>, old: Decoded<Pod>): Findings {
  const status = pod.status ?? {}
  const before = old.status ?? {}
  const spec = pod.spec ?? {}
  yield* annotationChanges(pod, old)
  for (const [index, condition] of (status.conditions ?? []).entries()) {
    const at = path.child('conditions').index(index)
    if (numberOf(condition.observedGeneration) < 0) {
      const message = 'must be a non-negative integer'
      yield field.invalid(at.child('observedGeneration'), condition.observedGeneration, message)
    }
    const type = condition.type ?? ''
    if (!systemConditions.has(type)) yield* validateQualifiedName(type, at.child('Type'))
  }
  yield* validateNomination(status, before, spec)
  if (numberOf(status.observedGeneration) < 0) {
    const message = 'must be a non-negative integer'
    yield field.invalid(path.child('observedGeneration'), status.observedGeneration, message)
  }
  if ((status.qosClass ?? '') !== (before.qosClass ?? ''))
    yield field.invalid(path.child('qosClass'), status.qosClass ?? '', 'field is immutable')
  yield* validateTransitions(status, before, old.spec ?? {})
  yield* validateClaimStatuses(status, spec)
  yield* validateExtendedClaim(status, spec)
  yield* validateAddresses(status, before, 'podIPs')
  yield* validateAddresses(status, before, 'hostIPs')
  yield* validateContainerStatuses(status, spec)
}

function* validateNomination(
  status: Decoded<PodStatus>,
  before: Decoded<PodStatus>,
  spec: Decoded<PodSpec>,
): Findings {
  const name = status.nominatedNodeName ?? ''
  if (name === '' || name === (before.nominatedNodeName ?? '')) return
  const at = path.child('nominatedNodeName')
  yield* invalidBecause(at, name, nameIsDNSSubdomain(name, false))
  if ((spec.nodeName ?? '') !== '')
    yield field.forbidden(at, 'may not be set on pods that are already bound to a node')
}

/** A terminated container can only run again if its restart policy allows it. */
function* validateTransitions(
  status: Decoded<PodStatus>,
  before: Decoded<PodStatus>,
  spec: Decoded<PodSpec>,
): Findings {
  const all = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  const restartsAll = all.some(container =>
    (container.restartPolicyRules ?? []).some(({ action }) => action === 'RestartAllContainers'),
  )
  for (const [member, kind] of statusKinds) {
    const isEphemeral = kind === 'ephemeralContainers'
    if (restartsAll && !isEphemeral) continue
    const statuses = byName(status[member] ?? [])
    const containers = byName(spec[kind] ?? [])
    for (const [index, old] of (before[member] ?? []).entries()) {
      const { terminated } = old.state ?? {}
      if (!terminated) continue
      const now = statuses.get(old.name)
      if (!now || now.state?.terminated !== undefined) continue
      const container = containers.get(old.name)
      if (!isEphemeral && container && restarts(container, spec, numberOf(terminated.exitCode))) continue
      const at = path.child(member).index(index).child('state')
      yield field.forbidden(at, 'may not be transitioned to non-terminated state')
    }
  }
}

function restarts(container: Decoded<Container>, spec: Decoded<PodSpec>, exitCode: number): boolean {
  if (container.restartPolicy !== undefined) {
    for (const rule of container.restartPolicyRules ?? []) {
      const codes = rule.exitCodes ?? {}
      const listed = (Array.isArray(codes.values) ? (codes.values as number[]) : []).includes(exitCode)
      if (rule.action === 'Restart' && (codes.operator === 'In') === listed) return true
    }
    if (container.restartPolicy === 'Always') return true
    return container.restartPolicy === 'OnFailure' && exitCode !== 0
  }
  if (spec.restartPolicy === 'Always') return true
  return spec.restartPolicy === 'OnFailure' && exitCode !== 0
}

function* validateClaimStatuses(status: Decoded<PodStatus>, spec: Decoded<PodSpec>): Findings {
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name ?? ''))
  const seen = new Set<string>()
  for (const [index, claim] of (status.resourceClaimStatuses ?? []).entries()) {
    const at = path.child('resourceClaimStatuses').index(index)
    const name = claim.name ?? ''
    if (!claims.has(name)) {
      const message = 'must match the name of an entry in `spec.resourceClaims`'
      yield field.invalid(at.child('name'), name, message)
    }
    if (seen.has(name)) yield field.duplicate(at.child('name'), name)
    seen.add(name)
    if (claim.resourceClaimName !== undefined) {
      const text = claim.resourceClaimName ?? ''
      yield* invalidBecause(at.child('resourceClaimName'), text, nameIsDNSSubdomain(text, false))
    }
  }
}

function* validateExtendedClaim(status: Decoded<PodStatus>, spec: Decoded<PodSpec>): Findings {
  const claim = status.extendedResourceClaimStatus
  if (!claim) return
  const at = path.child('extendedResourceClaimStatus')
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(item => [item.name ?? '', item]),
  )
  const mappings = claim.requestMappings ?? []
  if (mappings.length === 0)
    yield field.required(at.child('requestMappings'), 'at least one request mapping is required')
  const seen = new Set<string>()
  for (const [index, mapping] of mappings.entries()) {
    const mappingPath = at.child('requestMappings').index(index)
    const { containerName: container = '', resourceName: resource = '', requestName: request = '' } = mapping
    const found = containers.get(container)
    if (!found) {
      const message = 'must match the name of an entry in spec.initContainers.name or spec.containers.name'
      yield field.invalid(mappingPath.child('containerName'), container, message)
    } else if (found.resources?.requests?.[resource] === undefined) {
      const message =
        'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests'
      yield field.invalid(mappingPath.child('resourceName'), resource, message)
    }
    yield* validateDNSLabel(request, at.child('requestName'))
    const key = `${container}\n${resource}\n${request}`
    if (seen.has(key)) {
      yield field.duplicate(mappingPath.child('containerName'), container)
      yield field.duplicate(mappingPath.child('resourceName'), resource)
      yield field.duplicate(mappingPath.child('requestName'), request)
    }
    seen.add(key)
  }
  const name = claim.resourceClaimName ?? ''
  if (name === '') yield field.required(at.child('resourceClaimName'))
  else yield* invalidBecause(at.child('resourceClaimName'), name, nameIsDNSSubdomain(name, false))
}

/** At most one address of each family; addresses of the stored object are not validated again. */
function* validateAddresses(
  status: Decoded<PodStatus>,
  before: Decoded<PodStatus>,
  member: 'podIPs' | 'hostIPs',
): Findings {
  const addresses = (status[member] ?? []).map(({ ip }) => ip ?? '')
  const validOld = new Set((before[member] ?? []).map(({ ip }) => ip ?? ''))
  const at = path.child(member)
  if (member === 'hostIPs' && addresses.length > 0 && (status.hostIP ?? '') !== addresses[0])
    yield field.invalid(at.index(0).child('ip'), addresses[0], 'must be equal to `hostIP`')
  for (const [index, address] of addresses.entries())
    if (!validOld.has(address)) yield* isValidIPForLegacyField(at.index(index), address, { strict: true })
  if (addresses.length < 2) return
  const parsed = addresses.map(address => parseIP(address))
  const bad = addresses[parsed.indexOf(undefined)]
  if (bad !== undefined)
    yield field.internalError(at, `failed to check for dual stack with error:invalid IP: ${bad}`)
  const families = new Set(parsed.map(ip => ip?.bytes.length))
  if (bad !== undefined || families.size < 2 || addresses.length > 2) {
    const shown = printed(addresses.map(ip => goValue('core.PodIP', { ip })))
    yield field.invalid(at, shown, 'may specify no more than one IP for each IP family')
  }
}

function* validateContainerStatuses(status: Decoded<PodStatus>, spec: Decoded<PodSpec>): Findings {
  const windows = spec.os?.name === 'windows'
  for (const [member, kind] of statusKinds) {
    const containers = byName(spec[kind] ?? [])
    for (const [index, container] of (status[member] ?? []).entries()) {
      const at = path.child(member).index(index)
      const linux = container.user?.linux
      if (linux) {
        const userPath = at.child('user', 'linux')
        if (windows) yield field.forbidden(userPath, 'cannot be set for a windows pod')
        else yield* validateUser(linux, userPath)
      }
      const allocated = container.allocatedResourcesStatus ?? []
      const allocatedPath = at.child('allocatedResourcesStatus')
      if (kind !== 'ephemeralContainers') {
        yield* validateAllocated(allocated, containers.get(container.name), allocatedPath)
      } else if (allocated.length > 0) {
        yield field.forbidden(allocatedPath, 'must not be specified in container status')
      }
    }
  }
}

const healths = ['Healthy', 'Unhealthy', 'Unknown']
const maxMessage = 1024

/** The health of devices: of those that the container asks for, each once. */
function* validateAllocated(
  allocated: readonly Decoded<ResourceStatus>[],
  container: Decoded<Container> | undefined,
  path: field.Path,
): Findings {
  const resources = container?.resources ?? {}
  const claims = new Set((resources.claims ?? []).map(claimText))
  for (const [index, resource] of allocated.entries()) {
    const at = path.index(index)
    const name = resource.name ?? ''
    if (container) yield* validateAllocatedName(name, { resources, claims }, at.child('name'))
    const seen = new Set<string>()
    for (const [position, health] of (resource.resources ?? []).entries()) {
      const healthPath = at.child('resources').index(position)
      if (!healths.includes(health.health ?? ''))
        yield field.notSupported(healthPath.child('health'), health.health ?? '', healths)
      if (health.message === '')
        yield field.required(healthPath.child('message'), 'must be non-empty if specified')
      else if ((health.message ?? '').length > maxMessage)
        yield field.tooLong(healthPath.child('message'), maxMessage)
      const id = health.resourceID ?? ''
      if (seen.has(id)) yield field.duplicate(healthPath.child('resourceID'), id)
      seen.add(id)
    }
  }
}

const claimText = ({ name, request }: Decoded<ResourceClaim>): string =>
  `claim:${name ?? ''}${(request ?? '') === '' ? '' : `/${request ?? ''}`}`

function* validateAllocatedName(
  name: string,
  {
    resources,
    claims,
  }: { readonly resources: Decoded<ResourceRequirements>; readonly claims: ReadonlySet<string> },
  path: field.Path,
): Findings {
  if (!name.startsWith('claim:')) {
    if (resources.requests?.[name] === undefined)
      yield field.invalid(path, name, "must match one of the container's resource requests")
    return
  }
  if (!claims.has(name)) {
    const message =
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
    yield field.invalid(path, name, message)
  }
}

function* validateUser(user: Decoded<LinuxContainerUser>, at: field.Path): Findings {
  yield* invalidBecause(at.child('uid'), user.uid ?? 0, isValidUserID(numberOf(user.uid)))
  yield* invalidBecause(at.child('gid'), user.gid ?? 0, isValidGroupID(numberOf(user.gid)))
  const groups = Array.isArray(user.supplementalGroups) ? (user.supplementalGroups as number[]) : []
  for (const [index, group] of groups.entries())
    yield* invalidBecause(at.child('supplementalGroups').index(index), group, isValidGroupID(Number(group)))
}
