import {
  field,
  isValidGroupID,
  isValidIPForLegacyField,
  isValidUserID,
  nameIsDNSSubdomain,
  parseIP,
} from '@coxswain/apimachinery'
import { isObject, type JsonObject } from '../../../json.ts'
import { annotationChanges } from './pod-update.ts'
import {
  byName,
  type Findings,
  invalidBecause,
  listOf,
  numberOf,
  objectOf,
  printed,
  textOf,
  validateDNSLabel,
  validateQualifiedName,
} from './reading.ts'

const path = field.Path.of('status')
const systemConditions = new Set(['PodScheduled', 'Ready', 'Initialized'])
const statusKinds = [
  ['containerStatuses', 'containers'],
  ['initContainerStatuses', 'initContainers'],
  ['ephemeralContainerStatuses', 'ephemeralContainers'],
] as const

export function* validatePodStatusUpdate(pod: JsonObject, old: JsonObject): Findings {
  const status = objectOf(pod.status)
  const before = objectOf(old.status)
  const spec = objectOf(pod.spec)
  yield* annotationChanges(pod, old)
  for (const [index, condition] of listOf(status.conditions).entries()) {
    const at = path.child('conditions').index(index)
    if (numberOf(condition.observedGeneration) < 0) {
      const message = 'must be a non-negative integer'
      yield field.invalid(at.child('observedGeneration'), condition.observedGeneration, message)
    }
    const type = textOf(condition.type)
    if (!systemConditions.has(type)) yield* validateQualifiedName(type, at.child('Type'))
  }
  yield* validateNomination(status, before, spec)
  if (numberOf(status.observedGeneration) < 0) {
    const message = 'must be a non-negative integer'
    yield field.invalid(path.child('observedGeneration'), status.observedGeneration, message)
  }
  if (textOf(status.qosClass) !== textOf(before.qosClass))
    yield field.invalid(path.child('qosClass'), textOf(status.qosClass), 'field is immutable')
  yield* validateTransitions(status, before, objectOf(old.spec))
  yield* validateClaimStatuses(status, spec)
  yield* validateExtendedClaim(status, spec)
  yield* validateAddresses(status, before, 'podIPs')
  yield* validateAddresses(status, before, 'hostIPs')
  yield* validateContainerStatuses(status, spec)
}

function* validateNomination(status: JsonObject, before: JsonObject, spec: JsonObject): Findings {
  const name = textOf(status.nominatedNodeName)
  if (name === '' || name === textOf(before.nominatedNodeName)) return
  const at = path.child('nominatedNodeName')
  yield* invalidBecause(at, name, nameIsDNSSubdomain(name, false))
  if (textOf(spec.nodeName) !== '')
    yield field.forbidden(at, 'may not be set on pods that are already bound to a node')
}

/** A container that has ended runs again only where its pod would restart it. */
function* validateTransitions(status: JsonObject, before: JsonObject, spec: JsonObject): Findings {
  const all = [...listOf(spec.initContainers), ...listOf(spec.containers)]
  const restartsAll = all.some(container =>
    listOf(container.restartPolicyRules).some(({ action }) => action === 'RestartAllContainers'),
  )
  for (const [member, kind] of statusKinds) {
    const isEphemeral = kind === 'ephemeralContainers'
    if (restartsAll && !isEphemeral) continue
    const statuses = byName(listOf(status[member]))
    const containers = byName(listOf(spec[kind]))
    for (const [index, old] of listOf(before[member]).entries()) {
      const { terminated } = objectOf(old.state)
      if (!isObject(terminated)) continue
      const now = statuses.get(old.name)
      if (!now || objectOf(now.state).terminated !== undefined) continue
      const container = containers.get(old.name)
      if (!isEphemeral && container && restarts(container, spec, numberOf(terminated.exitCode))) continue
      const at = path.child(member).index(index).child('state')
      yield field.forbidden(at, 'may not be transitioned to non-terminated state')
    }
  }
}

function restarts(container: JsonObject, spec: JsonObject, exitCode: number): boolean {
  if (container.restartPolicy !== undefined) {
    for (const rule of listOf(container.restartPolicyRules)) {
      const codes = objectOf(rule.exitCodes)
      const listed = (Array.isArray(codes.values) ? (codes.values as number[]) : []).includes(exitCode)
      if (rule.action === 'Restart' && (codes.operator === 'In') === listed) return true
    }
    if (container.restartPolicy === 'Always') return true
    return container.restartPolicy === 'OnFailure' && exitCode !== 0
  }
  if (spec.restartPolicy === 'Always') return true
  return spec.restartPolicy === 'OnFailure' && exitCode !== 0
}

function* validateClaimStatuses(status: JsonObject, spec: JsonObject): Findings {
  const claims = new Set(listOf(spec.resourceClaims).map(({ name }) => textOf(name)))
  const seen = new Set<string>()
  for (const [index, claim] of listOf(status.resourceClaimStatuses).entries()) {
    const at = path.child('resourceClaimStatuses').index(index)
    const name = textOf(claim.name)
    if (!claims.has(name)) {
      const message = 'must match the name of an entry in `spec.resourceClaims`'
      yield field.invalid(at.child('name'), name, message)
    }
    if (seen.has(name)) yield field.duplicate(at.child('name'), name)
    seen.add(name)
    if (claim.resourceClaimName !== undefined) {
      const text = textOf(claim.resourceClaimName)
      yield* invalidBecause(at.child('resourceClaimName'), text, nameIsDNSSubdomain(text, false))
    }
  }
}

function* validateExtendedClaim(status: JsonObject, spec: JsonObject): Findings {
  const claim = status.extendedResourceClaimStatus
  if (!isObject(claim)) return
  const at = path.child('extendedResourceClaimStatus')
  const containers = new Map(
    [...listOf(spec.initContainers), ...listOf(spec.containers)].map(item => [textOf(item.name), item]),
  )
  const mappings = listOf(claim.requestMappings)
  if (mappings.length === 0)
    yield field.required(at.child('requestMappings'), 'at least one request mapping is required')
  const seen = new Set<string>()
  for (const [index, mapping] of mappings.entries()) {
    const mappingPath = at.child('requestMappings').index(index)
    const [container, resource, request] = ['containerName', 'resourceName', 'requestName'].map(member =>
      textOf(mapping[member]),
    ) as [string, string, string]
    const found = containers.get(container)
    if (!found) {
      const message = 'must match the name of an entry in spec.initContainers.name or spec.containers.name'
      yield field.invalid(mappingPath.child('containerName'), container, message)
    } else if (objectOf(objectOf(found.resources).requests)[resource] === undefined) {
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
  const name = textOf(claim.resourceClaimName)
  if (name === '') yield field.required(at.child('resourceClaimName'))
  else yield* invalidBecause(at.child('resourceClaimName'), name, nameIsDNSSubdomain(name, false))
}

/** At most one address of each family; addresses that were there before are not judged again. */
function* validateAddresses(status: JsonObject, before: JsonObject, member: 'podIPs' | 'hostIPs'): Findings {
  const addresses = listOf(status[member]).map(({ ip }) => textOf(ip))
  const validOld = new Set(listOf(before[member]).map(({ ip }) => textOf(ip)))
  const at = path.child(member)
  if (member === 'hostIPs' && addresses.length > 0 && textOf(status.hostIP) !== addresses[0])
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
    const shown = printed(addresses.map(ip => ({ IP: ip })))
    yield field.invalid(at, shown, 'may specify no more than one IP for each IP family')
  }
}

function* validateContainerStatuses(status: JsonObject, spec: JsonObject): Findings {
  const windows = objectOf(spec.os).name === 'windows'
  for (const [member, kind] of statusKinds) {
    const containers = byName(listOf(spec[kind]))
    for (const [index, container] of listOf(status[member]).entries()) {
      const at = path.child(member).index(index)
      const linux = objectOf(container.user).linux
      if (isObject(linux)) {
        const userPath = at.child('user', 'linux')
        if (windows) yield field.forbidden(userPath, 'cannot be set for a windows pod')
        else yield* validateUser(linux, userPath)
      }
      const allocated = listOf(container.allocatedResourcesStatus)
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
  allocated: readonly JsonObject[],
  container: JsonObject | undefined,
  path: field.Path,
): Findings {
  const resources = objectOf(container?.resources)
  const claims = new Set(listOf(resources.claims).map(claimText))
  for (const [index, resource] of allocated.entries()) {
    const at = path.index(index)
    const name = textOf(resource.name)
    if (container) yield* validateAllocatedName(name, { resources, claims }, at.child('name'))
    const seen = new Set<string>()
    for (const [position, health] of listOf(resource.resources).entries()) {
      const healthPath = at.child('resources').index(position)
      if (!healths.includes(textOf(health.health)))
        yield field.notSupported(healthPath.child('health'), textOf(health.health), healths)
      if (health.message === '')
        yield field.required(healthPath.child('message'), 'must be non-empty if specified')
      else if (textOf(health.message).length > maxMessage)
        yield field.tooLong(healthPath.child('message'), maxMessage)
      const id = textOf(health.resourceID)
      if (seen.has(id)) yield field.duplicate(healthPath.child('resourceID'), id)
      seen.add(id)
    }
  }
}

const claimText = ({ name, request }: JsonObject): string =>
  `claim:${textOf(name)}${textOf(request) === '' ? '' : `/${textOf(request)}`}`

function* validateAllocatedName(
  name: string,
  { resources, claims }: { readonly resources: JsonObject; readonly claims: ReadonlySet<string> },
  path: field.Path,
): Findings {
  if (!name.startsWith('claim:')) {
    if (objectOf(resources.requests)[name] === undefined)
      yield field.invalid(path, name, "must match one of the container's resource requests")
    return
  }
  if (!claims.has(name)) {
    const message =
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
    yield field.invalid(path, name, message)
  }
}

function* validateUser(user: JsonObject, at: field.Path): Findings {
  yield* invalidBecause(at.child('uid'), user.uid ?? 0, isValidUserID(numberOf(user.uid)))
  yield* invalidBecause(at.child('gid'), user.gid ?? 0, isValidGroupID(numberOf(user.gid)))
  const groups = Array.isArray(user.supplementalGroups) ? (user.supplementalGroups as number[]) : []
  for (const [index, group] of groups.entries())
    yield* invalidBecause(at.child('supplementalGroups').index(index), group, isValidGroupID(Number(group)))
}
