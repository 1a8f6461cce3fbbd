import { deepEqual, type FieldError, field, nameIsDNSSubdomain, parseQuantity } from '@coxswain/apimachinery'
import { formatTime } from '../../handlers/lifecycle.ts'
import { childObject, isObject, type JsonObject } from '../../json.ts'
import type { Strategy } from '../../registry/strategy.ts'
import { roundAmounts } from '../amounts.ts'
import { ageCell, nameCell } from '../cells.ts'
import { list, plain, pointer, struct, text } from '../go-form.ts'
import {
  type Findings,
  invalidBecause,
  objectOf,
  printed,
  recordOf,
  textOf,
} from '../pod/validation/reading.ts'
import { diffValues } from '../unified-diff.ts'
import {
  betaStorageClassAnnotation,
  printAccessModes,
  validateAccessModes,
  volumeModes,
} from './access-modes.ts'
import { validateNodeSelector, warnAboutNodeSelector } from './node-selector.ts'
import { persistentVolumeSourceForm } from './volume-source-form.ts'
import { validateSource } from './volume-sources.ts'

const mountOptionsAnnotation = 'volume.beta.kubernetes.io/mount-options'
const reclaimPolicies = ['Delete', 'Recycle', 'Retain']
const mountable = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
]

export const persistentVolumeStrategy: Strategy = {
  returnsDeleted: true,
  default: setDefaults,
  prepareForCreate(object, { clock }) {
    object.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(clock.now()) }
  },
  validate: object => validateVolume(object),
  validateUpdate,
  prepareForStatusUpdate(object, old, { clock }) {
    const status = childObject(object, 'status')
    const before = objectOf(old.status)
    const time = status.lastPhaseTransitionTime
    if (status.phase === before.phase) {
      if (time === undefined && before.lastPhaseTransitionTime !== undefined)
        status.lastPhaseTransitionTime = before.lastPhaseTransitionTime
    } else if (time === undefined || time === before.lastPhaseTransitionTime) {
      status.lastPhaseTransitionTime = formatTime(clock.now())
    }
  },
  warnings: warnAboutVolume,
  statusWarnings: () => [],
  fields: object => ({ name: nameCell(object) }),
  cells: printVolume,
}

const sourceDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  hostPath: { type: '' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  iscsi: { iscsiInterface: 'default' },
  azureDisk: { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
}

function setDefaults(object: JsonObject): void {
  const status = childObject(object, 'status')
  if (!status.phase) status.phase = 'Pending'
  const spec = childObject(object, 'spec')
  if (!spec.persistentVolumeReclaimPolicy) spec.persistentVolumeReclaimPolicy = 'Retain'
  spec.volumeMode ??= 'Filesystem'
  roundAmounts(spec, 'capacity')
  for (const [type, defaults] of Object.entries(sourceDefaults)) {
    const source = spec[type]
    if (!isObject(source)) continue
    for (const [member, value] of Object.entries(defaults)) {
      if (source[member] === undefined || (source[member] === '' && type !== 'azureDisk'))
        source[member] = value
    }
  }
}

function* validateVolume(object: JsonObject): Findings {
  const spec = objectOf(object.spec)
  const path = field.Path.of('spec')
  if (!Array.isArray(spec.accessModes) || spec.accessModes.length === 0)
    yield field.required(path.child('accessModes'))
  yield* validateAccessModes(spec.accessModes, path.child('accessModes'))
  yield* validateCapacity(recordOf(spec.capacity), path.child('capacity'))
  const policy = textOf(spec.persistentVolumeReclaimPolicy)
  const policyPath = path.child('persistentVolumeReclaimPolicy')
  if (policy !== '' && !reclaimPolicies.includes(policy))
    yield field.notSupported(policyPath, policy, reclaimPolicies)
  if (isObject(spec.nodeAffinity)) {
    const at = path.child('nodeAffinity', 'required')
    const { required } = spec.nodeAffinity
    if (isObject(required)) yield* validateNodeSelector(required, at)
    else yield field.required(at, 'must specify required node constraints')
  }
  yield* validateSource(spec, nameCell(object), path)
  if (isObject(spec.hostPath) && isRoot(textOf(spec.hostPath.path)) && policy === 'Recycle')
    yield field.forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'")
  yield* validateClassName(spec.storageClassName, path.child('storageClassName'))
  if (spec.volumeMode !== undefined && !volumeModes.includes(textOf(spec.volumeMode)))
    yield field.notSupported(path.child('volumeMode'), spec.volumeMode, volumeModes)
  yield* validateAttributesClass(spec, path)
  yield* validateMountOptions(object, spec)
}

const isRoot = (path: string): boolean =>
  path.startsWith('/') && path.split('/').every(part => part === '' || part === '.' || part === '..')

function* validateCapacity(capacity: Record<string, string>, path: field.Path): Findings {
  const names = Object.keys(capacity)
  if (names.length === 0) yield field.required(path)
  if (capacity.storage === undefined || names.length > 1)
    yield field.notSupported(path, names.length === 0 ? null : printed(capacity), ['storage'])
  for (const [name, amount] of Object.entries(capacity)) {
    const quantity = parseQuantity(amount)
    if (quantity.value < 0n)
      yield field.invalid(path.key(name), quantity.value, 'must be a valid resource quantity')
    if (quantity.sign <= 0) yield field.invalid(path.key(name), amount, 'must be greater than zero')
  }
}

function* validateClassName(name: unknown, path: field.Path): Findings {
  const value = textOf(name)
  if (value !== '') yield* invalidBecause(path, value, nameIsDNSSubdomain(value, false))
}

function* validateAttributesClass(spec: JsonObject, path: field.Path): Findings {
  if (spec.volumeAttributesClassName === undefined) return
  const at = path.child('volumeAttributesClassName')
  if (spec.volumeAttributesClassName === '') yield field.required(at, 'an empty string is disallowed')
  yield* validateClassName(spec.volumeAttributesClassName, at)
  if (!isObject(spec.csi))
    yield field.required(path.child('csi'), 'has to be specified when using volumeAttributesClassName')
}

function* validateMountOptions(object: JsonObject, spec: JsonObject): Findings {
  if (mountable.some(type => isObject(spec[type]))) return
  const annotations = recordOf((object.metadata as JsonObject).annotations)
  if (!Object.hasOwn(annotations, mountOptionsAnnotation)) return
  const path = field.Path.of('metadata', 'annotations', mountOptionsAnnotation)
  yield field.forbidden(path, 'may not specify mount options for this volume type')
}

const affinityForm = struct({
  Required: pointer(
    'required',
    struct({
      NodeSelectorTerms: list(
        'nodeSelectorTerms',
        struct({
          MatchExpressions: list('matchExpressions', requirementForm()),
          MatchFields: list('matchFields', requirementForm()),
        }),
      ),
    }),
  ),
})

function requirementForm() {
  return struct({ Key: text('key'), Operator: text('operator'), Values: plain('values') })
}

function validateUpdate(object: JsonObject, old: JsonObject): FieldError[] {
  const spec = objectOf(object.spec)
  const before = objectOf(old.spec)
  const errors: FieldError[] = []
  const sourceBefore = persistentVolumeSourceForm(before)
  const source = persistentVolumeSourceForm(withoutNewExpandSecret(spec, before))
  if (!deepEqual(source, sourceBefore)) {
    const message = `spec.persistentvolumesource is immutable after creation\n${diffValues(sourceBefore, source)}`
    errors.push(field.forbidden(field.Path.of('spec', 'persistentvolumesource'), message))
  }
  if (spec.volumeMode !== before.volumeMode)
    errors.push(field.invalid(field.Path.of('volumeMode'), spec.volumeMode ?? null, 'field is immutable'))
  if (isObject(before.nodeAffinity) && !isSameAffinity(spec.nodeAffinity, before.nodeAffinity)) {
    const shown = isObject(spec.nodeAffinity) ? printed(affinityForm(spec.nodeAffinity)) : null
    const message = 'field is immutable, except for updating from beta label to GA'
    errors.push(field.invalid(field.Path.of('nodeAffinity'), shown, message))
  }
  if (before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
    const path = field.Path.of('spec', 'volumeAttributesClassName')
    errors.push(field.forbidden(path, 'update from non-nil value to nil is forbidden'))
  }
  return errors
}

/** The secret for expansion may be added later. */
function withoutNewExpandSecret(spec: JsonObject, before: JsonObject): JsonObject {
  if (!isObject(spec.csi) || !isObject(before.csi) || before.csi.controllerExpandSecretRef !== undefined)
    return spec
  const { controllerExpandSecretRef: _, ...csi } = spec.csi
  return { ...spec, csi }
}

const stableLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

/** Labels may be replaced by those that took their place. */
function isSameAffinity(value: unknown, old: unknown): boolean {
  if (Array.isArray(value) && Array.isArray(old))
    return value.length === old.length && value.every((item, i) => isSameAffinity(item, old[i]))
  if (!isObject(value) || !isObject(old)) return value === old
  const names = new Set([...Object.keys(value), ...Object.keys(old)])
  return [...names].every(name => {
    if (name === 'key' && stableLabels[textOf(old.key)] === value.key) return true
    return isSameAffinity(value[name], old[name])
  })
}

const deprecatedAnnotations = [
  [betaStorageClassAnnotation, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [mountOptionsAnnotation, 'deprecated since v1.31; use "mountOptions" attribute instead'],
] as const

const deprecatedSources = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const

function warnAboutVolume(object: JsonObject): string[] {
  const annotations = recordOf((object.metadata as JsonObject).annotations)
  const spec = objectOf(object.spec)
  const warnings = deprecatedAnnotations
    .filter(([name]) => Object.hasOwn(annotations, name))
    .map(([name, message]) => `metadata.annotations[${name}]: ${message}`)
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    )
  }
  const selector = objectOf(objectOf(spec.nodeAffinity).required)
  for (const warning of warnAboutNodeSelector(selector, field.Path.of('spec', 'nodeAffinity', 'required')))
    warnings.push(warning)
  for (const [type, name, message] of deprecatedSources)
    if (isObject(spec[type])) warnings.push(`spec.${name}: ${message}`)
  return warnings
}

function printVolume(object: JsonObject, now: number): readonly unknown[] {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  const metadata = object.metadata as JsonObject
  const claim = isObject(spec.claimRef)
    ? `${textOf(spec.claimRef.namespace)}/${textOf(spec.claimRef.name)}`
    : ''
  return [
    nameCell(object),
    recordOf(spec.capacity).storage ?? '0',
    printAccessModes(spec.accessModes),
    textOf(spec.persistentVolumeReclaimPolicy),
    metadata.deletionTimestamp === undefined ? textOf(status.phase) : 'Terminating',
    claim,
    recordOf(metadata.annotations)[betaStorageClassAnnotation] ?? textOf(spec.storageClassName),
    spec.volumeAttributesClassName ?? '<unset>',
    textOf(status.reason),
    ageCell(object, now),
    spec.volumeMode ?? '<unset>',
  ]
}
