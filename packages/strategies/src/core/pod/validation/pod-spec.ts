import type { Pod, PodResourceClaim, PodSpec, PodTemplateSpec } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { nameIsDNSSubdomain, validateAnnotations, validateLabels } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import { goValue } from '../../../shared/go-value.ts'
import {
  containersWithPath,
  type Findings,
  invalidBecause,
  numberOf,
  type PodRules,
  printed,
  validateChoice,
  validateDNSLabel,
  validateQualifiedName,
} from '../../../shared/reading.ts'
import { validateAffinity } from './affinity.ts'
import { mirrorAnnotation, validatePodAnnotations, validateProfilesMatch } from './annotations.ts'
import {
  containerContextOf,
  validateContainers,
  validateEphemeralContainers,
  validateImageText,
  validateInitContainers,
} from './containers.ts'
import { validateDnsConfig, validateHostAliases, validateHostnameOverride } from './dns.ts'
import { validateContainerResources, validatePodResources } from './resources.ts'
import { validatePodSecurity } from './security.ts'
import { validateTolerations } from './tolerations.ts'
import { validateTopologySpread } from './topology.ts'
import { validateVolumes } from './volumes.ts'
import { validateHostProcess, validateOperatingSystem } from './windows.ts'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const maxInt32 = 2 ** 31 - 1

/** `metadata` is that of the Pod; undefined for a template. */
export function* validatePodSpec(
  spec: Decoded<PodSpec>,
  metadata: Decoded<ObjectMeta> | undefined,
  path: field.Path,
  rules: PodRules,
): Findings {
  if (spec.terminationGracePeriodSeconds === undefined)
    yield field.required(path.child('terminationGracePeriodSeconds'))
  const podName = metadata?.name ?? ''
  const volumes = yield* validateVolumes(spec.volumes ?? [], path.child('volumes'), { ...rules, podName })
  const claimList = spec.resourceClaims ?? []
  const claims = new Set(claimList.map(({ name }) => name ?? '').filter(Boolean))
  yield* validateResourceClaims(claimList, metadata, path.child('resourceClaims'))
  const context = containerContextOf(spec, volumes, claims)
  yield* validateContainers(spec.containers ?? [], path.child('containers'), context)
  yield* validateInitContainers(spec, path.child('initContainers'), context)
  yield* validateEphemeralContainers(spec, path.child('ephemeralContainers'), context)
  yield* validatePodResources(spec, claims, path)
  yield* validateHostNetworkPorts(spec, path, rules)
  yield* validateChoice(spec.restartPolicy, restartPolicies, path.child('restartPolicy'))
  yield* validateChoice(spec.dnsPolicy, dnsPolicies, path.child('dnsPolicy'))
  yield* validateLabels(spec.nodeSelector ?? {}, path.child('nodeSelector'))
  yield* validatePodSecurity(spec, path.child('securityContext'))
  yield* validateAffinity(spec.affinity, path.child('affinity'))
  yield* validateDnsConfig(spec, path.child('dnsConfig'))
  yield* validateGates(spec, path)
  yield* validateTopologySpread(spec.topologySpreadConstraints ?? [], path.child('topologySpreadConstraints'))
  yield* validateHostProcess(spec, path)
  yield* validateHostUsers(spec, path)
  yield* validateHostnameOverride(spec, path)
  yield* validateNames(spec, path)
  yield* validateTolerations(spec.tolerations ?? [], path.child('tolerations'))
  yield* validateHostAliases(spec.hostAliases ?? [], path.child('hostAliases'))
  yield* validateScheduling(spec, path)
  yield* validateOperatingSystem(spec, path)
  yield* validateEnvFiles(spec, path)
}

function* validateResourceClaims(
  claims: readonly Decoded<PodResourceClaim>[],
  metadata: Decoded<ObjectMeta> | undefined,
  path: field.Path,
): Findings {
  const names = new Set<string>()
  for (const [index, claim] of claims.entries()) {
    if (metadata?.annotations?.[mirrorAnnotation] !== undefined) {
      yield field.forbidden(field.Path.of(''), 'static pods do not support resource claims')
      continue
    }
    const at = path.index(index)
    const name = claim.name ?? ''
    if (name === '') yield field.required(at.child('name'))
    else if (names.has(name)) yield field.duplicate(at.child('name'), name)
    else yield* validateDNSLabel(name, at.child('name'))
    names.add(name)
    const members = ['resourceClaimName', 'resourceClaimTemplateName'] as const
    const given = members.filter(member => claim[member] !== undefined)
    const shown = printed(goValue('core.PodResourceClaim', claim))
    if (given.length > 1) {
      const message = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
      yield field.invalid(at, shown, message)
    }
    if (given.length === 0) {
      const message = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
      yield field.invalid(at, shown, message)
    }
    for (const member of given) {
      const text = claim[member] ?? ''
      yield* invalidBecause(at.child(member), text, nameIsDNSSubdomain(text, false))
    }
  }
}

function* validateHostNetworkPorts(spec: Decoded<PodSpec>, path: field.Path, { isPod }: PodRules): Findings {
  if (spec.hostNetwork !== true) return
  for (const [index, container] of (spec.containers ?? []).entries()) {
    for (const [position, port] of (container.ports ?? []).entries()) {
      const host = numberOf(port.hostPort)
      if ((!isPod && host === 0) || host === numberOf(port.containerPort)) continue
      const at = path.child('containers').index(index).child('ports').index(position).child('hostPort')
      yield field.invalid(at, host, 'must match `containerPort` when `hostNetwork` is true')
    }
  }
}

/** Conditions a pod waits for before it is ready, and what keeps it from being scheduled. */
function* validateGates(spec: Decoded<PodSpec>, path: field.Path): Findings {
  for (const [index, gate] of (spec.readinessGates ?? []).entries()) {
    const at = path.child('readinessGates').index(index).child('conditionType')
    yield* validateQualifiedName(gate.conditionType ?? '', at)
  }
  const seen = new Set<string>()
  for (const [index, gate] of (spec.schedulingGates ?? []).entries()) {
    const at = path.child('schedulingGates').index(index)
    const name = gate.name ?? ''
    yield* validateQualifiedName(name, at)
    if (seen.has(name)) yield field.duplicate(at, name)
    seen.add(name)
  }
}

/** A Pod with its own user namespace cannot use other namespaces of the host. */
function* validateHostUsers(spec: Decoded<PodSpec>, path: field.Path): Findings {
  if (spec.hostUsers !== false) return
  const message = 'when `hostUsers` is false'
  if (spec.hostNetwork === true) yield field.forbidden(path.child('hostNetwork'), message)
  if (spec.hostPID === true) yield field.forbidden(path.child('HostPID'), message)
  if (spec.hostIPC === true) yield field.forbidden(path.child('HostIPC'), message)
  for (const [container, at] of containersWithPath(spec, path))
    if ((container.volumeDevices ?? []).length > 0) yield field.forbidden(at.child('volumeDevices'), message)
}

function* validateNames(spec: Decoded<PodSpec>, path: field.Path): Findings {
  for (const member of ['serviceAccountName', 'nodeName'] as const) {
    const name = spec[member] ?? ''
    if (name !== '') yield* invalidBecause(path.child(member), name, nameIsDNSSubdomain(name, false))
  }
  const deadline = spec.activeDeadlineSeconds
  if (deadline !== undefined && (Number(deadline) < 1 || Number(deadline) > maxInt32)) {
    const message = `must be between 1 and ${maxInt32}, inclusive`
    yield field.invalid(path.child('activeDeadlineSeconds'), deadline, message)
  }
  for (const member of ['hostname', 'subdomain'] as const) {
    const name = spec[member] ?? ''
    if (name !== '') yield* validateDNSLabel(name, path.child(member))
  }
}

function* validateScheduling(spec: Decoded<PodSpec>, path: field.Path): Findings {
  for (const member of ['priorityClassName', 'runtimeClassName'] as const) {
    const name = spec[member]
    if (name === undefined || (name === '' && member === 'priorityClassName')) continue
    yield* invalidBecause(path.child(member), name, nameIsDNSSubdomain(name ?? '', false))
  }
  if (spec.preemptionPolicy !== undefined) {
    const policies = ['PreemptLowerPriority', 'Never']
    yield* validateChoice(spec.preemptionPolicy, policies, path.child('preemptionPolicy'))
  }
  if (spec.overhead)
    yield* validateContainerResources({ limits: spec.overhead }, new Set(), path.child('overhead'))
}

/** Variables that come from files: the files are in an empty directory of the pod. */
function* validateEnvFiles(spec: Decoded<PodSpec>, path: field.Path): Findings {
  const volumes = new Map((spec.volumes ?? []).map(volume => [volume.name ?? '', volume]))
  for (const [container, at] of containersWithPath(spec, path)) {
    for (const [index, variable] of (container.env ?? []).entries()) {
      const reference = variable.valueFrom?.fileKeyRef
      if (!reference) continue
      const name = reference.volumeName ?? ''
      const volume = volumes.get(name)
      const namePath = at.child('env').index(index).child('valueFrom', 'fileKeyRef', 'volumeName')
      if (!volume) yield field.notFound(namePath, name)
      else if (!volume.emptyDir)
        yield field.invalid(namePath, name, 'referenced volume must be of type emptyDir')
    }
  }
}

/** The rules that hold for creates and updates of a Pod. */
export function* validatePod(pod: Decoded<Pod>): Findings {
  const metadata = pod.metadata
  const spec = pod.spec ?? {}
  const path = field.Path.of('spec')
  const annotations = metadata.annotations ?? {}
  yield* validatePodAnnotations(annotations, spec, field.Path.of('metadata', 'annotations'))
  yield* validatePodSpec(spec, metadata, path, { isPod: true })
  if ((spec.serviceAccountName ?? '') === '') {
    for (const [index, volume] of (spec.volumes ?? []).entries()) {
      const at = path.child('volumes').index(index).child('projected', 'sources')
      for (const [position, source] of (volume.projected?.sources ?? []).entries()) {
        if (!source.serviceAccountToken) continue
        const message = 'must not be specified when serviceAccountName is not set'
        yield field.forbidden(at.index(position).child('serviceAccountToken'), message)
      }
    }
  }
  for (const kind of ['containers', 'initContainers'] as const)
    for (const [index, container] of (spec[kind] ?? []).entries())
      yield* validateImageText(container, path.child(kind).index(index))
}

export function* validateNewPod(pod: Decoded<Pod>): Findings {
  yield* validatePod(pod)
  const spec = pod.spec ?? {}
  const path = field.Path.of('spec')
  if ((spec.ephemeralContainers ?? []).length > 0)
    yield field.forbidden(path.child('ephemeralContainers'), 'cannot be set on create')
  if ((spec.nodeName ?? '') !== '' && (spec.schedulingGates ?? []).length > 0)
    yield field.forbidden(path.child('nodeName'), 'cannot be set until all schedulingGates have been cleared')
  yield* validateProfilesMatch(pod.metadata, spec, path)
}

/** The Pod template of a workload. */
export function* validatePodTemplate(template: Decoded<PodTemplateSpec>, path: field.Path): Findings {
  const metadata = template.metadata ?? {}
  const spec = template.spec ?? {}
  const annotations = metadata.annotations ?? {}
  yield* validateLabels(metadata.labels ?? {}, path.child('labels'))
  yield* validateAnnotations(annotations, path.child('annotations'))
  yield* validatePodAnnotations(annotations, spec, path.child('annotations'))
  yield* validatePodSpec(spec, undefined, path.child('spec'), { isPod: false })
  yield* validateProfilesMatch(metadata, spec, path.child('spec'))
  if ((spec.ephemeralContainers ?? []).length > 0) {
    const message = 'ephemeral containers not allowed in pod template'
    yield field.forbidden(path.child('spec', 'ephemeralContainers'), message)
  }
}
