import type {
  EnvVar,
  PersistentVolumeClaimSpec,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Volume,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { isDNS1123Label, warningsForIP } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../decoded.ts'
import { containersWithPath, numberOf, type WarningTexts } from '../../shared/reading.ts'
import { portWarnings } from './port-warnings.ts'
import { overlapWarnings } from './volume-warnings.ts'

/** Warnings about a new Pod: values that are valid but probably a mistake. */
export function* podWarnings(pod: Decoded<Pod>): WarningTexts {
  const metadata = pod.metadata
  const messages = isDNS1123Label(metadata.name ?? '')
  if (messages.length > 0)
    yield `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`
  yield* warningsFor(pod.spec ?? {}, metadata, field.Path.root)
}

/** The same for the template of a workload; `path` is the template's. */
export function templateWarnings(template: Decoded<PodTemplateSpec>, path: field.Path): WarningTexts {
  return warningsFor(template.spec ?? {}, template.metadata ?? {}, path)
}

function* warningsFor(spec: Decoded<PodSpec>, metadata: Decoded<ObjectMeta>, path: field.Path): WarningTexts {
  const at = path.child('spec')
  yield* labelWarnings(spec, at)
  yield* annotationWarnings(metadata, path.child('metadata', 'annotations'))
  yield* volumeWarnings(spec, at.child('volumes'))
  yield* duplicateWarnings(spec.hostAliases ?? [], 'ip', at.child('hostAliases'))
  yield* duplicateWarnings(spec.imagePullSecrets ?? [], 'name', at.child('imagePullSecrets'))
  for (const [index, { name }] of (spec.imagePullSecrets ?? []).entries()) {
    if ((name ?? '') === '')
      yield `${at.child('imagePullSecrets').index(index).child('name')}: invalid empty name ""`
  }
  yield* fractionWarnings(spec.overhead ?? {}, at.child('overhead'))
  yield* containerWarnings(spec, metadata, path)
  yield* portWarnings(spec, at)
  if (numberOf(spec.terminationGracePeriodSeconds) < 0)
    yield `${at.child('terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`
  yield* affinityWarnings(spec, at.child('affinity'))
  for (const [index, address] of (spec.dnsConfig?.nameservers ?? []).entries())
    yield* warningsForIP(at.child('dnsConfig', 'nameservers').index(index), address)
  for (const [index, { ip }] of (spec.hostAliases ?? []).entries())
    yield* warningsForIP(at.child('hostAliases').index(index).child('ip'), ip ?? '')
}

/** Labels of nodes that have newer names. */
const deprecatedLabels: Readonly<Record<string, string>> = {
  __proto__: null as never,
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

function* labelWarnings(spec: Decoded<PodSpec>, path: field.Path): WarningTexts {
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    const message = deprecatedLabels[key]
    if (message) yield `${path.child('nodeSelector').key(key)}: ${message}`
  }
  const affinity = spec.affinity?.nodeAffinity ?? {}
  const affinityPath = path.child('affinity', 'nodeAffinity')
  const terms = [
    ...(affinity[required]?.nodeSelectorTerms ?? []).map(
      (term, index) => [term, affinityPath.child(required, 'nodeSelectorTerms').index(index)] as const,
    ),
    ...(affinity[preferred] ?? []).map(
      (term, index) =>
        [term.preference ?? {}, affinityPath.child(preferred).index(index).child('preference')] as const,
    ),
  ]
  for (const [term, at] of terms) {
    for (const [index, { key }] of (term.matchExpressions ?? []).entries()) {
      const message = deprecatedLabels[key ?? '']
      if (message)
        yield `${at.child('matchExpressions').index(index).child('key')}: ${key ?? ''} is ${message}`
    }
  }
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = path.child('topologySpreadConstraints').index(index)
    const key = constraint.topologyKey ?? ''
    if (deprecatedLabels[key]) yield `${at.child('topologyKey')}: ${key} is ${deprecatedLabels[key]}`
    if (constraint.labelSelector === undefined)
      yield `${at.child('labelSelector')}: a null labelSelector results in matching no pod`
  }
}

const deprecatedAnnotations: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod':
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
}

function* annotationWarnings(metadata: Decoded<ObjectMeta>, path: field.Path): WarningTexts {
  const annotations = metadata.annotations ?? {}
  for (const [key, message] of Object.entries(deprecatedAnnotations))
    if (annotations[key] !== undefined) yield `${path.key(key)}: ${message}`
}

const deprecatedVolumes: { readonly [P in keyof Decoded<Volume>]?: string } = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
}

function* volumeWarnings(spec: Decoded<PodSpec>, path: field.Path): WarningTexts {
  const volumes = spec.volumes ?? []
  for (const [index, volume] of volumes.entries()) {
    for (const [source, message] of Object.entries(deprecatedVolumes) as [keyof Decoded<Volume>, string][]) {
      const name = source === 'storageos' ? 'storageOS' : source
      if (volume[source] !== undefined) yield `${path.index(index).child(name)}: ${message}`
    }
  }
  for (const [index, volume] of volumes.entries()) {
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec ?? {}
    yield* claimWarnings(claim, path.index(index).child('ephemeral', 'volumeClaimTemplate', 'spec'))
  }
  for (const volume of volumes) yield* overlapWarnings(volume)
}

/** Warnings about the spec of a claim. */
export function* claimWarnings(spec: Decoded<PersistentVolumeClaimSpec>, path: field.Path): WarningTexts {
  const { requests, limits } = spec.resources ?? {}
  yield* fractionWarnings({ storage: requests?.storage }, path.child('resources', 'requests'))
  yield* fractionWarnings({ storage: limits?.storage }, path.child('resources', 'limits'))
}

function* duplicateWarnings<M extends string>(
  items: readonly { readonly [P in M]?: string }[],
  member: M,
  path: field.Path,
): WarningTexts {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const value: string = item[member] ?? ''
    if (seen.has(value))
      yield `${path.index(index).child(member)}: duplicate ${member} ${JSON.stringify(value)}`
    seen.add(value)
  }
}

const wholeResources = ['memory', 'ephemeral-storage', 'storage']

function* fractionWarnings(
  amounts: Readonly<Record<string, string | undefined>>,
  path: field.Path,
): WarningTexts {
  for (const name of wholeResources) {
    const text = amounts[name]
    if (text === undefined || parseQuantity(text).milliValue % 1000n === 0n) continue
    yield `${path.key(name)}: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`
  }
}

const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'

function* containerWarnings(
  spec: Decoded<PodSpec>,
  metadata: Decoded<ObjectMeta>,
  path: field.Path,
): WarningTexts {
  const annotations = metadata.annotations ?? {}
  const annotationPath = path.child('metadata', 'annotations')
  function* useField(key: string, message: string): WarningTexts {
    if (annotations[key] !== undefined) yield `${annotationPath.key(key)}: ${message}`
  }
  const seccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead'
  const pod = spec.securityContext ?? {}
  if (pod.seccompProfile === undefined) yield* useField(seccompPod, seccomp)
  for (const [container, at] of containersWithPath(spec, path.child('spec'))) {
    const { seccompProfile, appArmorProfile } = container.securityContext ?? {}
    const name = container.name ?? ''
    if (seccompProfile === undefined) yield* useField(seccompContainer + name, seccomp)
    if (path !== field.Path.root && appArmorProfile === undefined && pod.appArmorProfile === undefined)
      yield* useField(appArmor + name, 'deprecated since v1.30; use the "appArmorProfile" field instead')
    const { limits, requests } = container.resources ?? {}
    for (const resource of wholeResources) {
      for (const [kind, amounts] of Object.entries({
        limits: limits ?? {},
        requests: requests ?? {},
      })) {
        const amount = amounts[resource]
        if (amount !== undefined) yield* fractionWarnings({ [resource]: amount }, at.child('resources', kind))
      }
    }
    yield* hiddenVariables(container.env ?? [], at.child('env'))
  }
}

/** A variable that is set twice, without a reference to itself. */
function* hiddenVariables(variables: readonly Decoded<EnvVar>[], path: field.Path): WarningTexts {
  const seen = new Set<string>()
  for (const [index, variable] of variables.entries()) {
    const name = variable.name ?? ''
    if (!seen.has(name)) {
      seen.add(name)
      continue
    }
    const reference = `$(${name})`
    const value = variable.value ?? ''
    const builds = !variable.valueFrom && value !== reference && value.includes(reference)
    if (!builds)
      yield `${path.index(index)}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`
  }
}

function* affinityWarnings(spec: Decoded<PodSpec>, path: field.Path): WarningTexts {
  const message = 'a null labelSelector results in matching no pod'
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const affinity = spec.affinity?.[kind] ?? {}
    for (const [index, term] of (affinity[required] ?? []).entries()) {
      if (term.labelSelector === undefined)
        yield `${path.child(kind, required).index(index).child('labelSelector')}: ${message}`
    }
    for (const [index, weighted] of (affinity[preferred] ?? []).entries()) {
      if (weighted.podAffinityTerm?.labelSelector === undefined)
        yield `${path.child(kind, preferred).index(index).child('podAffinityTerm', 'labelSelector')}: ${message}`
    }
  }
}
