import type {
  AzureDiskVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  ISCSIVolumeSource,
  QuobyteVolumeSource,
  VolumeSource,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { isDNS1123Subdomain, nameIsDNSSubdomain } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import {
  type Findings,
  invalidBecause,
  numberOf,
  printed,
  requireMembers,
  validateDNSLabel,
} from '../../../shared/reading.ts'
import { validateDescendingPath } from './paths.ts'

/** The sources of a Pod's volumes, by the names of their fields. */
export type VolumeSources = { readonly [K in keyof VolumeSource]-?: Decoded<NonNullable<VolumeSource[K]>> }

type LocalType =
  | 'emptyDir'
  | 'hostPath'
  | 'secret'
  | 'configMap'
  | 'persistentVolumeClaim'
  | 'downwardAPI'
  | 'projected'
  | 'ephemeral'
  | 'image'

type RemoteVolumeRules = {
  readonly [K in Exclude<keyof VolumeSource, LocalType>]: (
    source: VolumeSources[K],
    path: field.Path,
  ) => Findings
}

/** A source that only requires some of its fields. */
const needs =
  <T extends object>(...members: (keyof T & string)[]) =>
  (source: T, path: field.Path): Findings =>
    requireMembers(source, members, path)

/** The path of a volume's source; `path` is the volume's. */
export const sourcePath = (type: string, path: field.Path): field.Path =>
  path.child(type === 'gcePersistentDisk' ? 'persistentDisk' : type)

/** The rules of volumes of storage systems. */
export const remoteVolumeRules: RemoteVolumeRules = {
  gitRepo: function* (source, path) {
    yield* requireMembers(source, ['repository'], path)
    yield* validateDescendingPath(source.directory ?? '', path.child('directory'))
  },
  gcePersistentDisk: function* (source, path) {
    yield* requireMembers(source, ['pdName'], path)
    yield* validatePartition(source, path)
  },
  awsElasticBlockStore: function* (source, path) {
    yield* requireMembers(source, ['volumeID'], path)
    yield* validatePartition(source, path)
  },
  nfs: function* (source, path) {
    yield* requireMembers(source, ['server', 'path'], path)
    const target = source.path ?? ''
    if (!target.startsWith('/')) yield field.invalid(path.child('path'), target, 'must be an absolute path')
  },
  iscsi: validateIscsi,
  glusterfs: needs('endpoints', 'path'),
  flocker: validateFlocker,
  rbd: function* (source, path) {
    if ((source.monitors ?? []).length === 0) yield field.required(path.child('monitors'))
    yield* requireMembers(source, ['image'], path)
  },
  cinder: function* (source, path) {
    yield* requireMembers(source, ['volumeID'], path)
    if (source.secretRef) yield* requireMembers(source.secretRef, ['name'], path.child('secretRef'))
  },
  cephfs: function* (source, path) {
    if ((source.monitors ?? []).length === 0) yield field.required(path.child('monitors'))
  },
  quobyte: validateQuobyte,
  fc: validateFibreChannel,
  flexVolume: validateFlexVolume,
  azureFile: needs('secretName', 'shareName'),
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: validateAzureDisk,
  storageos: function* (source, path) {
    const { volumeName = '', volumeNamespace = '' } = source
    if (volumeName === '') yield field.required(path.child('volumeName'))
    else yield* validateDNSLabel(volumeName, path.child('volumeName'))
    if (volumeNamespace !== '') yield* validateDNSLabel(volumeNamespace, path.child('volumeNamespace'))
    if (source.secretRef) yield* requireMembers(source.secretRef, ['name'], path.child('secretRef'))
  },
  scaleIO: needs('gateway', 'system', 'volumeName'),
  csi: function* (source, path) {
    yield* validateDriverName(source.driver ?? '', path.child('driver'))
    const secret = source.nodePublishSecretRef
    if (!secret) return
    const name = secret.name ?? ''
    if (name === '') yield field.required(path.child('nodePublishSecretRef', 'name'))
    else yield* invalidBecause(path.child('name'), name, nameIsDNSSubdomain(name, false))
  },
}

function* validatePartition(source: { partition?: number }, path: field.Path): Findings {
  const partition = numberOf(source.partition)
  if (partition < 0 || partition > 255)
    yield field.invalid(path.child('partition'), partition, 'must be between 1 and 255, inclusive')
}

const iscsiNames: readonly [string, RegExp][] = [
  ['iqn', /^iqn\.\d{4}-\d{2}\.([A-Za-z0-9-.]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Fa-f0-9]{16}$/],
  ['naa', /^naa.[A-Fa-f0-9]{32}$/],
]

function* validateIscsiName(name: string, path: field.Path): Findings {
  const kind = iscsiNames.find(([prefix]) => name.startsWith(prefix))
  if (!kind) yield field.invalid(path, name, 'must be valid format starting with iqn, eui, or naa')
  else if (!kind[1].test(name)) yield field.invalid(path, name, 'must be valid format')
}

function* validateIscsi(source: Decoded<ISCSIVolumeSource>, path: field.Path): Findings {
  yield* requireMembers(source, ['targetPortal', 'iqn'], path)
  if (source.iqn) yield* validateIscsiName(source.iqn, path.child('iqn'))
  const lun = numberOf(source.lun)
  if (lun < 0 || lun > 255)
    yield field.invalid(path.child('lun'), lun, 'must be between 0 and 255, inclusive')
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && !source.secretRef)
    yield field.required(path.child('secretRef'))
  if (source.initiatorName !== undefined)
    yield* validateIscsiName(source.initiatorName, path.child('initiatorname'))
}

function* validateFlocker(source: Decoded<FlockerVolumeSource>, path: field.Path): Findings {
  const name = source.datasetName ?? ''
  const uuid = source.datasetUUID ?? ''
  if (name === '' && uuid === '') yield field.required(path, 'one of datasetName and datasetUUID is required')
  if (name !== '' && uuid !== '') {
    const message = 'datasetName and datasetUUID can not be specified simultaneously'
    yield field.invalid(path, 'resource', message)
  }
  if (name.includes('/')) yield field.invalid(path.child('datasetName'), name, "must not contain '/'")
}

function* validateQuobyte(source: Decoded<QuobyteVolumeSource>, path: field.Path): Findings {
  const registry = source.registry ?? ''
  const pairs = 'must be a host:port pair or multiple pairs separated by commas'
  if (registry === '') yield field.required(path.child('registry'), pairs)
  else if ((source.tenant ?? '').length >= 65)
    yield field.required(path.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters')
  else {
    for (const pair of registry.split(',')) {
      if (!/^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair))
        yield field.invalid(path.child('registry'), registry, pairs)
    }
  }
  yield* requireMembers(source, ['volume'], path)
}

function* validateFibreChannel(source: Decoded<FCVolumeSource>, path: field.Path): Findings {
  const targets = source.targetWWNs ?? []
  const ids = source.wwids ?? []
  const at = path.child('targetWWNs')
  if (targets.length === 0 && ids.length === 0)
    yield field.required(at, 'must specify either targetWWNs or wwids, but not both')
  if (targets.length > 0 && ids.length > 0)
    yield field.invalid(at, printed(targets), 'targetWWNs and wwids can not be specified simultaneously')
  if (targets.length === 0) return
  if (source.lun === undefined)
    yield field.required(path.child('lun'), 'lun is required if targetWWNs is specified')
  else if (numberOf(source.lun) < 0 || numberOf(source.lun) > 255)
    yield field.invalid(path.child('lun'), source.lun, 'must be between 0 and 255, inclusive')
}

function* validateFlexVolume(source: Decoded<FlexVolumeSource>, path: field.Path): Findings {
  yield* requireMembers(source, ['driver'], path)
  for (const key of Object.keys(source.options ?? {})) {
    const namespace = `.${(key.split('/')[0] ?? '').toLowerCase()}`
    if (namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io')) {
      const message = 'kubernetes.io and k8s.io namespaces are reserved'
      yield field.invalid(path.child('options').key(key), key, message)
    }
  }
}

const managedUri =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const blobUri = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

const diskChoices: readonly ['cachingMode' | 'kind', readonly string[]][] = [
  ['cachingMode', ['None', 'ReadOnly', 'ReadWrite']],
  ['kind', ['Dedicated', 'Managed', 'Shared']],
]

function* validateAzureDisk(source: Decoded<AzureDiskVolumeSource>, path: field.Path): Findings {
  yield* requireMembers(source, ['diskName', 'diskURI'], path)
  for (const [member, supported] of diskChoices) {
    const value = source[member]
    if (value !== undefined && !supported.includes(value))
      yield field.notSupported(path.child(member), value, supported)
  }
  if (source.kind === undefined) return
  const uri = source.diskURI ?? ''
  if (source.kind === 'Managed') {
    if (!uri.startsWith('/subscriptions/')) yield field.notSupported(path.child('diskURI'), uri, [managedUri])
  } else if (!uri.startsWith('https://')) {
    yield field.notSupported(path.child('diskURI'), uri, [blobUri])
  }
}

/** The name of a CSI driver. */
export function* validateDriverName(name: string, path: field.Path): Findings {
  if (name === '') {
    yield field.required(path)
    return
  }
  if (name.length > 63) yield field.tooLong(path, 63)
  yield* invalidBecause(path, name, isDNS1123Subdomain(name.toLowerCase()))
}

/** Whether a volume is a claim, so that it can be a block device. */
export const isClaimVolume = (volume: Decoded<VolumeSource>): boolean =>
  volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined
