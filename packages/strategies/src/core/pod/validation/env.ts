import type {
  ConfigMapKeySelector,
  Container,
  EnvFromSource,
  EnvVarSource,
  FileKeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { isConfigMapKey, isRelaxedEnvVarName, nameIsDNSSubdomain } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import {
  type Findings,
  invalidBecause,
  requireMembers,
  validateDNSLabel,
  validateQualifiedName,
} from '../../../shared/reading.ts'
import { validateNoBacksteps } from './paths.ts'

const envFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]

/** What a file of a downward volume may show. */
export const volumeFields: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

const knownFields = new Set([
  ...envFields,
  ...volumeFields,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
  'spec.host',
])

const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const hugePagesFields = ['limits.hugepages-', 'requests.hugepages-']

export function* validateEnv(container: Decoded<Container>, path: field.Path): Findings {
  for (const [index, variable] of (container.env ?? []).entries()) {
    const at = path.child('env').index(index)
    const name = variable.name ?? ''
    if (name === '') yield field.required(at.child('name'))
    else yield* invalidBecause(at.child('name'), name, isRelaxedEnvVarName(name))
    if (variable.valueFrom) {
      yield* validateValueFrom(variable.valueFrom, variable.value ?? '', at.child('valueFrom'))
    }
  }
  yield* validateEnvFrom(container.envFrom ?? [], path.child('envFrom'))
}

function* validateValueFrom(source: Decoded<EnvVarSource>, value: string, path: field.Path): Findings {
  let sources = 0
  if (source.fieldRef) {
    sources++
    yield* validateFieldRef(source.fieldRef, envFields, path.child('fieldRef'))
  }
  if (source.resourceFieldRef) {
    sources++
    yield* validateResourceFieldRef(source.resourceFieldRef, path.child('resourceFieldRef'), false)
  }
  for (const member of ['configMapKeyRef', 'secretKeyRef'] as const) {
    if (!source[member]) continue
    sources++
    yield* validateKeyRef(source[member], path.child(member))
  }
  if (source.fileKeyRef) {
    sources++
    yield* validateFileKeyRef(source.fileKeyRef, path.child('fileKeyRef'))
  }
  if (sources === 0) {
    const choice = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    yield field.invalid(path, '', `must specify one of: ${choice}`)
  } else if (value !== '') {
    yield field.invalid(path, '', 'may not be specified when `value` is not empty')
  } else if (sources > 1) {
    yield field.invalid(path, '', 'may not have more than one field specified at a time')
  }
}

/** A field of the pod, possibly one label or annotation of it: `metadata.labels['app']`. */
export function* validateFieldRef(
  reference: Decoded<ObjectFieldSelector>,
  supported: readonly string[],
  path: field.Path,
): Findings {
  const version = reference.apiVersion ?? ''
  const fieldPath = reference.fieldPath ?? ''
  if (version === '') {
    yield field.required(path.child('apiVersion'))
    return
  }
  if (fieldPath === '') {
    yield field.required(path.child('fieldPath'))
    return
  }
  const parts = /^(.+)\['(.+)'\]$/s.exec(fieldPath)
  const isMap = parts?.[1] === 'metadata.annotations' || parts?.[1] === 'metadata.labels'
  const problem =
    version !== 'v1'
      ? `unsupported pod version: ${version}`
      : parts
        ? isMap
          ? undefined
          : `field label does not support subscript: ${fieldPath}`
        : knownFields.has(fieldPath)
          ? undefined
          : `field label not supported: ${fieldPath}`
  if (problem) {
    yield field.invalid(path.child('fieldPath'), fieldPath, `error converting fieldPath: ${problem}`)
  } else if (parts) {
    const key = parts[2]!
    yield* validateQualifiedName(parts[1] === 'metadata.annotations' ? key.toLowerCase() : key, path)
  } else {
    const internal = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
    if (!supported.includes(internal)) yield field.notSupported(path.child('fieldPath'), internal, supported)
  }
}

const sizeDivisors = new Set(
  ['1', ...['k', 'M', 'G', 'T', 'P', 'E'].map(unit => `1${unit}`)].concat(
    ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map(unit => `1${unit}`),
  ),
)
const sizeDivisorsText = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei'

export function* validateResourceFieldRef(
  reference: Decoded<ResourceFieldSelector>,
  path: field.Path,
  isVolume: boolean,
): Findings {
  const resource = reference.resource ?? ''
  if (isVolume && (reference.containerName ?? '') === '') yield field.required(path.child('containerName'))
  else if (resource === '') yield field.required(path.child('resource'))
  else if (!resourceFields.includes(resource) && !isHugePagesField(resource))
    yield field.notSupported(path.child('resource'), resource, resourceFields)
  yield* validateDivisor(resource, reference.divisor ?? '', path.child('divisor'))
}

const isHugePagesField = (resource: string): boolean =>
  hugePagesFields.some(prefix => resource.startsWith(prefix))

function* validateDivisor(resource: string, divisor: string, path: field.Path): Findings {
  if (divisor === '' || parseQuantity(divisor).isZero) return
  if (resource.endsWith('.cpu')) {
    if (divisor !== '1' && divisor !== '1m')
      yield field.invalid(
        path,
        resource,
        "only divisor's values 1m and 1 are supported with the cpu resource",
      )
    return
  }
  const kinds: readonly [boolean, string][] = [
    [resource.endsWith('.memory'), 'memory'],
    [resource.endsWith('.ephemeral-storage'), 'local ephemeral storage'],
    [isHugePagesField(resource), 'hugepages'],
  ]
  const kind = kinds.find(([matches]) => matches)?.[1]
  if (kind && !sizeDivisors.has(divisor)) {
    const message = `only divisor's values ${sizeDivisorsText} are supported with the ${kind} resource`
    yield field.invalid(path, resource, message)
  }
}

function* validateKeyRef(reference: Decoded<ConfigMapKeySelector>, path: field.Path): Findings {
  const name = reference.name ?? ''
  const key = reference.key ?? ''
  yield* invalidBecause(path.child('name'), name, nameIsDNSSubdomain(name, false))
  if (key === '') yield field.required(path.child('key'))
  else yield* invalidBecause(path.child('key'), key, isConfigMapKey(key))
}

function* validateFileKeyRef(reference: Decoded<FileKeySelector>, path: field.Path): Findings {
  yield* requireMembers(reference, ['key'], path)
  const key = reference.key ?? ''
  if (key !== '') yield* invalidBecause(path.child('key'), key, isRelaxedEnvVarName(key))
  yield* requireMembers(reference, ['volumeName'], path)
  const volume = reference.volumeName ?? ''
  if (volume !== '') yield* validateDNSLabel(volume, path.child('volumeName'))
  yield* requireMembers(reference, ['path'], path)
  yield* validateNoBacksteps(reference.path ?? '', path.child('path'))
}

function* validateEnvFrom(sources: readonly Decoded<EnvFromSource>[], path: field.Path): Findings {
  for (const [index, source] of sources.entries()) {
    const at = path.index(index)
    const prefix = source.prefix ?? ''
    if (prefix !== '') yield* invalidBecause(at.child('prefix'), prefix, isRelaxedEnvVarName(prefix))
    let count = 0
    for (const member of ['configMapRef', 'secretRef'] as const) {
      if (!source[member]) continue
      count++
      const name = source[member]?.name ?? ''
      const namePath = at.child(member, 'name')
      if (name === '') yield field.required(namePath)
      else yield* invalidBecause(namePath, name, nameIsDNSSubdomain(name, true))
    }
    if (count === 0) yield field.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')
    else if (count > 1) yield field.invalid(path, '', 'may not have more than one field specified at a time')
  }
}
