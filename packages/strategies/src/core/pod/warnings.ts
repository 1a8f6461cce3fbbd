import {
  field,
  isDNS1123Label,
  isObject,
  type JsonObject,
  parseQuantity,
  warningsForIP,
} from '@coxswain/apimachinery'
import {
  containersWithPath,
  listOf,
  numberOf,
  objectOf,
  recordOf,
  stringsOf,
  textOf,
} from '../../shared/reading.ts'
import { overlapWarnings } from './volume-warnings.ts'

/** What is allowed in a new pod and still likely a mistake. */
export function podWarnings(pod: JsonObject): string[] {
  const metadata = objectOf(pod.metadata)
  const messages = isDNS1123Label(textOf(metadata.name))
  return [
    ...(messages.length > 0
      ? [
          `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
        ]
      : []),
    ...warningsFor(objectOf(pod.spec), metadata, field.Path.root),
  ]
}

/** The same for pods that a workload is to make; `path` is the template's. */
export function templateWarnings(template: JsonObject, path: field.Path): string[] {
  return warningsFor(objectOf(template.spec), objectOf(template.metadata), path)
}

function warningsFor(spec: JsonObject, metadata: JsonObject, path: field.Path): string[] {
  const specPath = path.child('spec')
  return [
    ...labelWarnings(spec, specPath),
    ...annotationWarnings(metadata, path.child('metadata', 'annotations')),
    ...volumeWarnings(spec, specPath.child('volumes')),
    ...duplicateWarnings(listOf(spec.hostAliases), 'ip', specPath.child('hostAliases')),
    ...duplicateWarnings(listOf(spec.imagePullSecrets), 'name', specPath.child('imagePullSecrets')),
    ...listOf(spec.imagePullSecrets).flatMap(({ name }, index) =>
      textOf(name) === ''
        ? [`${specPath.child('imagePullSecrets').index(index).child('name')}: invalid empty name ""`]
        : [],
    ),
    ...fractionWarnings(recordOf(spec.overhead), specPath.child('overhead')),
    ...containerWarnings(spec, metadata, path),
    ...portWarnings(spec, specPath),
    ...(numberOf(spec.terminationGracePeriodSeconds) < 0
      ? [
          `${specPath.child('terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...affinityWarnings(spec, specPath.child('affinity')),
    ...stringsOf(objectOf(spec.dnsConfig).nameservers).flatMap((address, index) =>
      warningsForIP(specPath.child('dnsConfig', 'nameservers').index(index), address),
    ),
    ...listOf(spec.hostAliases).flatMap(({ ip }, index) =>
      warningsForIP(specPath.child('hostAliases').index(index).child('ip'), textOf(ip)),
    ),
  ]
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

function labelWarnings(spec: JsonObject, path: field.Path): string[] {
  const warnings: string[] = []
  for (const key of Object.keys(recordOf(spec.nodeSelector))) {
    const message = deprecatedLabels[key]
    if (message) warnings.push(`${path.child('nodeSelector').key(key)}: ${message}`)
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
        warnings.push(
          `${at.child('matchExpressions').index(index).child('key')}: ${textOf(key)} is ${message}`,
        )
    }
  }
  for (const [index, constraint] of listOf(spec.topologySpreadConstraints).entries()) {
    const at = path.child('topologySpreadConstraints').index(index)
    const key = textOf(constraint.topologyKey)
    if (deprecatedLabels[key]) warnings.push(`${at.child('topologyKey')}: ${key} is ${deprecatedLabels[key]}`)
    if (constraint.labelSelector === undefined)
      warnings.push(`${at.child('labelSelector')}: a null labelSelector results in matching no pod`)
  }
  return warnings
}

const deprecatedAnnotations: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod':
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
}

function annotationWarnings(metadata: JsonObject, path: field.Path): string[] {
  const annotations = recordOf(metadata.annotations)
  return Object.entries(deprecatedAnnotations).flatMap(([key, message]) =>
    annotations[key] === undefined ? [] : [`${path.key(key)}: ${message}`],
  )
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

function volumeWarnings(spec: JsonObject, path: field.Path): string[] {
  const volumes = listOf(spec.volumes)
  const warnings: string[] = []
  for (const [index, volume] of volumes.entries()) {
    for (const [source, message] of Object.entries(deprecatedVolumes)) {
      const name = source === 'storageos' ? 'storageOS' : source
      if (volume[source] !== undefined) warnings.push(`${path.index(index).child(name)}: ${message}`)
    }
  }
  return [...warnings, ...volumes.flatMap(claimVolumeWarnings(path)), ...overlapWarnings(volumes)]
}

const claimVolumeWarnings =
  (path: field.Path) =>
  (volume: JsonObject, index: number): string[] => {
    const { spec } = objectOf(objectOf(volume.ephemeral).volumeClaimTemplate)
    return claimWarnings(objectOf(spec), path.index(index).child('ephemeral', 'volumeClaimTemplate', 'spec'))
  }

/** What is odd about the specification of a claim. */
export function claimWarnings(spec: JsonObject, path: field.Path): string[] {
  const { requests, limits } = objectOf(spec.resources)
  return [
    ...fractionWarnings({ storage: recordOf(requests).storage }, path.child('resources', 'requests')),
    ...fractionWarnings({ storage: recordOf(limits).storage }, path.child('resources', 'limits')),
  ]
}

function duplicateWarnings(items: readonly JsonObject[], member: string, path: field.Path): string[] {
  const seen = new Set<string>()
  return items.flatMap((item, index) => {
    const value = textOf(item[member])
    if (!seen.has(value)) {
      seen.add(value)
      return []
    }
    return [`${path.index(index).child(member)}: duplicate ${member} ${JSON.stringify(value)}`]
  })
}

const wholeResources = ['memory', 'ephemeral-storage', 'storage']

function fractionWarnings(amounts: Readonly<Record<string, string | undefined>>, path: field.Path): string[] {
  return wholeResources.flatMap(name => {
    const text = amounts[name]
    if (text === undefined || parseQuantity(text).milliValue % 1000n === 0n) return []
    return [`${path.key(name)}: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`]
  })
}

const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'

function containerWarnings(spec: JsonObject, metadata: JsonObject, path: field.Path): string[] {
  const annotations = recordOf(metadata.annotations)
  const annotationPath = path.child('metadata', 'annotations')
  const warnings: string[] = []
  const useField = (key: string, message: string) => {
    if (annotations[key] !== undefined) warnings.push(`${annotationPath.key(key)}: ${message}`)
  }
  const seccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead'
  const pod = objectOf(spec.securityContext)
  if (pod.seccompProfile === undefined) useField(seccompPod, seccomp)
  for (const [container, at] of containersWithPath(spec, path.child('spec'))) {
    const { seccompProfile, appArmorProfile } = objectOf(container.securityContext)
    const name = textOf(container.name)
    if (seccompProfile === undefined) useField(seccompContainer + name, seccomp)
    if (path !== field.Path.root && appArmorProfile === undefined && pod.appArmorProfile === undefined)
      useField(appArmor + name, 'deprecated since v1.30; use the "appArmorProfile" field instead')
    const { limits, requests } = objectOf(container.resources)
    for (const resource of wholeResources) {
      for (const [kind, amounts] of Object.entries({
        limits: recordOf(limits),
        requests: recordOf(requests),
      })) {
        const amount = amounts[resource]
        if (amount !== undefined)
          warnings.push(...fractionWarnings({ [resource]: amount }, at.child('resources', kind)))
      }
    }
    warnings.push(...hiddenVariables(listOf(container.env), at.child('env')))
  }
  return warnings
}

/** A variable that is given again, and not in terms of itself. */
function hiddenVariables(variables: readonly JsonObject[], path: field.Path): string[] {
  const seen = new Set<string>()
  return variables.flatMap((variable, index) => {
    const name = textOf(variable.name)
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    const reference = `$(${name})`
    const value = textOf(variable.value)
    const builds = !isObject(variable.valueFrom) && value !== reference && value.includes(reference)
    if (builds) return []
    return [
      `${path.index(index)}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
    ]
  })
}

function portWarnings(spec: JsonObject, path: field.Path): string[] {
  const warnings: string[] = []
  const known = new Map<string, { at: field.Path; ip: string; host: number }[]>()
  const names = new Map<string, field.Path>()
  const ports = [...containersWithPath(spec, path)].flatMap(([container, at]) =>
    listOf(container.ports).map((port, index) => [port, at.child('ports').index(index)] as const),
  )
  for (const [port, at] of ports) {
    const ip = textOf(port.hostIP)
    const host = numberOf(port.hostPort)
    if (ip !== '' && host === 0) {
      const shown = `{Name:${textOf(port.name)} HostPort:0 ContainerPort:${numberOf(port.containerPort)} Protocol:${textOf(port.protocol)} HostIP:${ip}}`
      warnings.push(`${at}: hostIP set without hostPort: ${shown}`)
    }
    const key = `${numberOf(port.containerPort)}/${textOf(port.protocol)}`
    const others = known.get(key) ?? []
    for (const other of others) {
      if (ip === other.ip && host === other.host)
        warnings.push(`${at}: duplicate port definition with ${other.at}`)
      else if (host === 0 || other.host === 0)
        warnings.push(`${at}: overlapping port definition with ${other.at}`)
      else if (host === other.host && (ip === '') !== (other.ip === ''))
        warnings.push(`${at}: dangerously ambiguous port definition with ${other.at}`)
    }
    known.set(key, [...others, { at, ip, host }])
  }
  for (const [port, at] of ports) {
    const name = textOf(port.name)
    if (name === '') continue
    const other = names.get(name)
    if (other) {
      warnings.push(
        `${at}: duplicate port name ${JSON.stringify(name)} with ${other}, services and probes that select ports by name will use ${other}`,
      )
    } else names.set(name, at)
  }
  return warnings
}

function affinityWarnings(spec: JsonObject, path: field.Path): string[] {
  const message = 'a null labelSelector results in matching no pod'
  return ['podAffinity', 'podAntiAffinity'].flatMap(kind => {
    const affinity = objectOf(objectOf(spec.affinity)[kind])
    const at = path.child(kind)
    return [
      ...listOf(affinity[required]).flatMap((term, index) =>
        term.labelSelector === undefined
          ? [`${at.child(required).index(index).child('labelSelector')}: ${message}`]
          : [],
      ),
      ...listOf(affinity[preferred]).flatMap((term, index) =>
        objectOf(term.podAffinityTerm).labelSelector === undefined
          ? [`${at.child(preferred).index(index).child('podAffinityTerm', 'labelSelector')}: ${message}`]
          : [],
      ),
    ]
  })
}
