import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { isDNS1123Label, warningsForIP } from '@coxswain/apimachinery/validation'
import {
  containersWithPath,
  listOf,
  numberOf,
  objectOf,
  recordOf,
  stringsOf,
  textOf,
  type WarningTexts,
} from '../../shared/reading.ts'
import { portWarnings } from './port-warnings.ts'
import { overlapWarnings } from './volume-warnings.ts'

/** What is allowed in a new pod and still likely a mistake. */
export function* podWarnings(pod: JsonObject): WarningTexts {
  const metadata = objectOf(pod.metadata)
  const messages = isDNS1123Label(textOf(metadata.name))
  if (messages.length > 0)
    yield `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`
  yield* warningsFor(objectOf(pod.spec), metadata, field.Path.root)
}

/** The same for pods that a workload is to make; `path` is the template's. */
export function templateWarnings(template: JsonObject, path: field.Path): WarningTexts {
  return warningsFor(objectOf(template.spec), objectOf(template.metadata), path)
}

function* warningsFor(spec: JsonObject, metadata: JsonObject, path: field.Path): WarningTexts {
  const at = path.child('spec')
  yield* labelWarnings(spec, at)
  yield* annotationWarnings(metadata, path.child('metadata', 'annotations'))
  yield* volumeWarnings(spec, at.child('volumes'))
  yield* duplicateWarnings(listOf(spec.hostAliases), 'ip', at.child('hostAliases'))
  yield* duplicateWarnings(listOf(spec.imagePullSecrets), 'name', at.child('imagePullSecrets'))
  for (const [index, { name }] of listOf(spec.imagePullSecrets).entries()) {
    if (textOf(name) === '')
      yield `${at.child('imagePullSecrets').index(index).child('name')}: invalid empty name ""`
  }
  yield* fractionWarnings(recordOf(spec.overhead), at.child('overhead'))
  yield* containerWarnings(spec, metadata, path)
  yield* portWarnings(spec, at)
  if (numberOf(spec.terminationGracePeriodSeconds) < 0)
    yield `${at.child('terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`
  yield* affinityWarnings(spec, at.child('affinity'))
  for (const [index, address] of stringsOf(objectOf(spec.dnsConfig).nameservers).entries())
    yield* warningsForIP(at.child('dnsConfig', 'nameservers').index(index), address)
  for (const [index, { ip }] of listOf(spec.hostAliases).entries())
    yield* warningsForIP(at.child('hostAliases').index(index).child('ip'), textOf(ip))
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

function* labelWarnings(spec: JsonObject, path: field.Path): WarningTexts {
  for (const key of Object.keys(recordOf(spec.nodeSelector))) {
    const message = deprecatedLabels[key]
    if (message) yield `${path.child('nodeSelector').key(key)}: ${message}`
  }
  const affinity = objectOf(objectOf(spec.affinity).nodeAffinity)
  const affinityPath = path.child('affinity', 'nodeAffinity')
  const terms = [
    ...listOf(objectOf(affinity[required]).nodeSelectorTerms).map(
      (term, index) => [term, affinityPath.child(required, 'nodeSelectorTerms').index(index)] as const,
    ),
    ...listOf(affinity[preferred]).map(
      (term, index) =>
        [objectOf(term.preference), affinityPath.child(preferred).index(index).child('preference')] as const,
    ),
  ]
  for (const [term, at] of terms) {
    for (const [index, { key }] of listOf(term.matchExpressions).entries()) {
      const message = deprecatedLabels[textOf(key)]
      if (message)
        yield `${at.child('matchExpressions').index(index).child('key')}: ${textOf(key)} is ${message}`
    }
  }
  for (const [index, constraint] of listOf(spec.topologySpreadConstraints).entries()) {
    const at = path.child('topologySpreadConstraints').index(index)
    const key = textOf(constraint.topologyKey)
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

function* annotationWarnings(metadata: JsonObject, path: field.Path): WarningTexts {
  const annotations = recordOf(metadata.annotations)
  for (const [key, message] of Object.entries(deprecatedAnnotations))
    if (annotations[key] !== undefined) yield `${path.key(key)}: ${message}`
}

const deprecatedVolumes: Readonly<Record<string, string>> = {
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

function* volumeWarnings(spec: JsonObject, path: field.Path): WarningTexts {
  const volumes = listOf(spec.volumes)
  for (const [index, volume] of volumes.entries()) {
    for (const [source, message] of Object.entries(deprecatedVolumes)) {
      const name = source === 'storageos' ? 'storageOS' : source
      if (volume[source] !== undefined) yield `${path.index(index).child(name)}: ${message}`
    }
  }
  for (const [index, volume] of volumes.entries()) {
    const claim = objectOf(objectOf(objectOf(volume.ephemeral).volumeClaimTemplate).spec)
    yield* claimWarnings(claim, path.index(index).child('ephemeral', 'volumeClaimTemplate', 'spec'))
  }
  for (const volume of volumes) yield* overlapWarnings(volume)
}

/** What is odd about the specification of a claim. */
export function* claimWarnings(spec: JsonObject, path: field.Path): WarningTexts {
  const { requests, limits } = objectOf(spec.resources)
  yield* fractionWarnings({ storage: recordOf(requests).storage }, path.child('resources', 'requests'))
  yield* fractionWarnings({ storage: recordOf(limits).storage }, path.child('resources', 'limits'))
}

function* duplicateWarnings(items: readonly JsonObject[], member: string, path: field.Path): WarningTexts {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const value = textOf(item[member])
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

function* containerWarnings(spec: JsonObject, metadata: JsonObject, path: field.Path): WarningTexts {
  const annotations = recordOf(metadata.annotations)
  const annotationPath = path.child('metadata', 'annotations')
  function* useField(key: string, message: string): WarningTexts {
    if (annotations[key] !== undefined) yield `${annotationPath.key(key)}: ${message}`
  }
  const seccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead'
  const pod = objectOf(spec.securityContext)
  if (pod.seccompProfile === undefined) yield* useField(seccompPod, seccomp)
  for (const [container, at] of containersWithPath(spec, path.child('spec'))) {
    const { seccompProfile, appArmorProfile } = objectOf(container.securityContext)
    const name = textOf(container.name)
    if (seccompProfile === undefined) yield* useField(seccompContainer + name, seccomp)
    if (path !== field.Path.root && appArmorProfile === undefined && pod.appArmorProfile === undefined)
      yield* useField(appArmor + name, 'deprecated since v1.30; use the "appArmorProfile" field instead')
    const { limits, requests } = objectOf(container.resources)
    for (const resource of wholeResources) {
      for (const [kind, amounts] of Object.entries({
        limits: recordOf(limits),
        requests: recordOf(requests),
      })) {
        const amount = amounts[resource]
        if (amount !== undefined) yield* fractionWarnings({ [resource]: amount }, at.child('resources', kind))
      }
    }
    yield* hiddenVariables(listOf(container.env), at.child('env'))
  }
}

/** A variable that is given again, and not in terms of itself. */
function* hiddenVariables(variables: readonly JsonObject[], path: field.Path): WarningTexts {
  const seen = new Set<string>()
  for (const [index, variable] of variables.entries()) {
    const name = textOf(variable.name)
    if (!seen.has(name)) {
      seen.add(name)
      continue
    }
    const reference = `$(${name})`
    const value = textOf(variable.value)
    const builds = !isObject(variable.valueFrom) && value !== reference && value.includes(reference)
    if (!builds)
      yield `${path.index(index)}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`
  }
}

function* affinityWarnings(spec: JsonObject, path: field.Path): WarningTexts {
  const message = 'a null labelSelector results in matching no pod'
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const affinity = objectOf(objectOf(spec.affinity)[kind])
    for (const [index, term] of listOf(affinity[required]).entries()) {
      if (term.labelSelector === undefined)
        yield `${path.child(kind, required).index(index).child('labelSelector')}: ${message}`
    }
    for (const [index, weighted] of listOf(affinity[preferred]).entries()) {
      if (objectOf(weighted.podAffinityTerm).labelSelector === undefined)
        yield `${path.child(kind, preferred).index(index).child('podAffinityTerm', 'labelSelector')}: ${message}`
    }
  }
}
