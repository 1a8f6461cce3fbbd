import type { AzureDiskVolumeSource, PersistentVolume, PersistentVolumeSpec } from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject } from '@coxswain/apimachinery/json'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { formatTime } from '@coxswain/apimachinery/time'
import { nameIsDNSSubdomain } from '@coxswain/apimachinery/validation'
import { betaStorageClassAnnotation } from '@coxswain/kinds'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { childOf, fill } from '../shared/members.ts'
import { type Findings, invalidBecause, printed } from '../shared/reading.ts'
import { diffValues } from '../shared/unified-diff.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { printAccessModes, validateAccessModes, volumeModes } from './access-modes.ts'
import { validateNodeSelector, warnAboutNodeSelector } from './node-selector.ts'
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
] as const

export const persistentVolumeStrategy: Strategy = defineStrategy<PersistentVolume>({
  returnsDeleted: true,
  default: setDefaults,
  prepareForCreate(object, { clock }) {
    object.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(clock.now()) }
  },
  validate: object => validateVolume(object),
  validateUpdate,
  prepareForStatusUpdate(object, old, { clock }) {
    const status = childOf(object, 'status')
    const before = old.status ?? {}
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
})

const azureDiskDefaults: Decoded<AzureDiskVolumeSource> = {
  cachingMode: 'ReadWrite',
  fsType: 'ext4',
  readOnly: false,
  kind: 'Shared',
}

function setDefaults(object: Decoded<PersistentVolume>): void {
  const status = childOf(object, 'status')
  if (!status.phase) status.phase = 'Pending'
  const spec = childOf(object, 'spec')
  if (!spec.persistentVolumeReclaimPolicy) spec.persistentVolumeReclaimPolicy = 'Retain'
  spec.volumeMode ??= 'Filesystem'
  const { hostPath, rbd, iscsi, azureDisk, scaleIO } = spec
  if (hostPath) hostPath.type ??= ''
  if (rbd) {
    rbd.pool ||= 'rbd'
    rbd.user ||= 'admin'
    rbd.keyring ||= '/etc/ceph/keyring'
  }
  if (iscsi) iscsi.iscsiInterface ||= 'default'
  if (azureDisk) fill(azureDisk, azureDiskDefaults)
  if (scaleIO) {
    scaleIO.storageMode ||= 'ThinProvisioned'
    scaleIO.fsType ||= 'xfs'
  }
}

function* validateVolume(object: Decoded<PersistentVolume>): Findings {
  const spec = object.spec ?? {}
  const path = field.Path.of('spec')
  if (!Array.isArray(spec.accessModes) || spec.accessModes.length === 0)
    yield field.required(path.child('accessModes'))
  yield* validateAccessModes(spec.accessModes, path.child('accessModes'))
  yield* validateCapacity(spec.capacity ?? {}, path.child('capacity'))
  const policy = spec.persistentVolumeReclaimPolicy ?? ''
  const policyPath = path.child('persistentVolumeReclaimPolicy')
  if (policy !== '' && !reclaimPolicies.includes(policy))
    yield field.notSupported(policyPath, policy, reclaimPolicies)
  if (spec.nodeAffinity) {
    const at = path.child('nodeAffinity', 'required')
    const { required } = spec.nodeAffinity
    if (required) yield* validateNodeSelector(required, at)
    else yield field.required(at, 'must specify required node constraints')
  }
  yield* validateSource(spec, nameCell(object), path)
  if (spec.hostPath && isRoot(spec.hostPath.path ?? '') && policy === 'Recycle')
    yield field.forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'")
  yield* validateClassName(spec.storageClassName, path.child('storageClassName'))
  if (spec.volumeMode !== undefined && !volumeModes.includes(spec.volumeMode ?? ''))
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

function* validateClassName(name: string | null | undefined, path: field.Path): Findings {
  const value = name ?? ''
  if (value !== '') yield* invalidBecause(path, value, nameIsDNSSubdomain(value, false))
}

function* validateAttributesClass(spec: Decoded<PersistentVolumeSpec>, path: field.Path): Findings {
  if (spec.volumeAttributesClassName === undefined) return
  const at = path.child('volumeAttributesClassName')
  if (spec.volumeAttributesClassName === '') yield field.required(at, 'an empty string is disallowed')
  yield* validateClassName(spec.volumeAttributesClassName, at)
  if (!spec.csi)
    yield field.required(path.child('csi'), 'has to be specified when using volumeAttributesClassName')
}

function* validateMountOptions(
  object: Decoded<PersistentVolume>,
  spec: Decoded<PersistentVolumeSpec>,
): Findings {
  if (mountable.some(type => spec[type])) return
  const annotations = object.metadata.annotations ?? {}
  if (!Object.hasOwn(annotations, mountOptionsAnnotation)) return
  const path = field.Path.of('metadata', 'annotations', mountOptionsAnnotation)
  yield field.forbidden(path, 'may not specify mount options for this volume type')
}

function validateUpdate(object: Decoded<PersistentVolume>, old: Decoded<PersistentVolume>): FieldError[] {
  const spec = object.spec ?? {}
  const before = old.spec ?? {}
  const errors: FieldError[] = []
  const sourceBefore = goValue('core.PersistentVolumeSource', before)
  const source = goValue('core.PersistentVolumeSource', withoutNewExpandSecret(spec, before))
  if (!deepEqual(source, sourceBefore)) {
    const message = `spec.persistentvolumesource is immutable after creation\n${diffValues(sourceBefore, source)}`
    errors.push(field.forbidden(field.Path.of('spec', 'persistentvolumesource'), message))
  }
  if (spec.volumeMode !== before.volumeMode)
    errors.push(field.invalid(field.Path.of('volumeMode'), spec.volumeMode ?? null, 'field is immutable'))
  if (before.nodeAffinity && !isSameAffinity(spec.nodeAffinity, before.nodeAffinity)) {
    const shown = spec.nodeAffinity ? printed(goValue('core.VolumeNodeAffinity', spec.nodeAffinity)) : null
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
function withoutNewExpandSecret(
  spec: Decoded<PersistentVolumeSpec>,
  before: Decoded<PersistentVolumeSpec>,
): Decoded<PersistentVolumeSpec> {
  if (!spec.csi || !before.csi || before.csi.controllerExpandSecretRef !== undefined) return spec
  const { controllerExpandSecretRef: _, ...csi } = spec.csi
  return { ...spec, csi }
}

const stableLabels: Readonly<Record<string, string>> = {
  __proto__: null as never,
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
    if (name === 'key' && stableLabels[String(old.key)] === value.key) return true
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

function warnAboutVolume(object: Decoded<PersistentVolume>): string[] {
  const annotations = object.metadata.annotations ?? {}
  const spec = object.spec ?? {}
  const warnings = deprecatedAnnotations
    .filter(([name]) => Object.hasOwn(annotations, name))
    .map(([name, message]) => `metadata.annotations[${name}]: ${message}`)
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    )
  }
  const selector = spec.nodeAffinity?.required ?? {}
  for (const warning of warnAboutNodeSelector(selector, field.Path.of('spec', 'nodeAffinity', 'required')))
    warnings.push(warning)
  for (const [type, name, message] of deprecatedSources)
    if (spec[type]) warnings.push(`spec.${name}: ${message}`)
  return warnings
}

function printVolume(object: Decoded<PersistentVolume>, now: number): TableCells {
  const spec = object.spec ?? {}
  const status = object.status ?? {}
  const metadata = object.metadata
  const claim = spec.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : ''
  return {
    Name: nameCell(object),
    Capacity: spec.capacity?.storage ?? '0',
    'Access Modes': printAccessModes(spec.accessModes),
    'Reclaim Policy': spec.persistentVolumeReclaimPolicy ?? '',
    Status: metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
    Claim: claim,
    StorageClass: metadata.annotations?.[betaStorageClassAnnotation] ?? spec.storageClassName ?? '',
    VolumeAttributesClass: spec.volumeAttributesClassName ?? '<unset>',
    Reason: status.reason ?? '',
    Age: ageCell(object, now),
    VolumeMode: spec.volumeMode ?? '<unset>',
  }
}
