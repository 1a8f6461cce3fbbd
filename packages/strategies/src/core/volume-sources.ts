import type {
  CSIPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { nameIsDNSLabel } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import {
  type Findings,
  invalidBecause,
  numberOf,
  requireMembers,
  validateDNSLabel,
  validateDNSSubdomain,
} from '../shared/reading.ts'
import { validateNoBacksteps } from './pod/validation/paths.ts'
import { remoteVolumeRules, sourcePath, validateDriverName } from './pod/validation/remote-volumes.ts'

/** The sources in the order in which they are validated; every one after the first is an error. */
const sourceTypes = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

type SourceType = (typeof sourceTypes)[number]
type Sources = { readonly [K in SourceType]: Decoded<NonNullable<PersistentVolumeSource[K]>> }

/** A persistent volume has one source. */
export function* validateSource(
  spec: Decoded<PersistentVolumeSpec>,
  volumeName: string,
  path: field.Path,
): Findings {
  let count = 0
  for (const type of sourceTypes) {
    const source = spec[type]
    if (!source) continue
    if (count > 0 && type !== 'flexVolume') {
      const at = path.child(type === 'cephfs' ? 'cephFS' : type)
      yield field.forbidden(at, 'may not specify more than 1 volume type')
      continue
    }
    count++
    yield* validateSourceOf(type, source, { path: sourcePath(type, path), volumeName })
    if (type === 'local' && spec.nodeAffinity === undefined)
      yield field.required(path.child('nodeAffinity'), 'Local volume requires node affinity')
  }
  if (count === 0) yield field.required(path, 'must specify a volume type')
}

function validateSourceOf<K extends SourceType>(
  type: K,
  source: Sources[K],
  { path, volumeName }: { readonly path: field.Path; readonly volumeName: string },
): Findings {
  return sourceRules[type](source, path, volumeName)
}

type SourceRule<K extends SourceType> = (source: Sources[K], path: field.Path, volumeName: string) => Findings

const sourceRules: { readonly [K in SourceType]: SourceRule<K> } = {
  ...remoteVolumeRules,
  hostPath: function* (source, path) {
    yield* validatePath(source, path)
    if (source.path && source.type !== undefined && !hostPathTypes.includes(source.type))
      yield field.notSupported(path.child('type'), source.type, hostPathTypes)
  },
  local: validatePath,
  glusterfs: function* (source, path) {
    yield* requireMembers(source, ['endpoints', 'path'], path)
    const namespace = source.endpointsNamespace
    if (namespace === undefined) return
    const at = path.child('endpointsNamespace')
    if (namespace === '') {
      const message = 'if the endpointnamespace is set, it must be a valid namespace name'
      yield field.invalid(at, namespace, message)
    } else yield* invalidBecause(at, namespace, nameIsDNSLabel(namespace, false))
  },
  iscsi: validateIscsi,
  cinder: function* (source, path) {
    yield* requireMembers(source, ['volumeID'], path)
    yield* requireSecret(source.secretRef, path)
  },
  azureFile: function* (source, path) {
    yield* requireMembers(source, ['secretName', 'shareName'], path)
    if (source.secretNamespace === '') yield field.required(path.child('secretNamespace'))
  },
  storageos: function* (source, path) {
    const { volumeName = '', volumeNamespace = '' } = source
    if (volumeName === '') yield field.required(path.child('volumeName'))
    else yield* validateDNSLabel(volumeName, path.child('volumeName'))
    if (volumeNamespace !== '') yield* validateDNSLabel(volumeNamespace, path.child('volumeNamespace'))
    yield* requireSecret(source.secretRef, path)
  },
  csi: validateCsi,
}

function* validatePath(source: { path?: string }, path: field.Path): Findings {
  yield* requireMembers(source, ['path'], path)
  yield* validateNoBacksteps(source.path ?? '', path.child('path'))
}

function* requireSecret(secret: Decoded<SecretReference> | undefined, path: field.Path): Findings {
  if (secret) yield* requireMembers(secret, ['name', 'namespace'], path.child('secretRef'))
}

const initiatorNames: readonly [string, RegExp][] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
]

function* validateIscsiName(name: string, path: field.Path): Findings {
  const pattern = initiatorNames.find(([prefix]) => name.startsWith(prefix))?.[1]
  if (!pattern?.test(name)) yield field.invalid(path, name, 'must be valid format')
}

function* validateIscsi(
  source: Decoded<ISCSIPersistentVolumeSource>,
  path: field.Path,
  volumeName: string,
): Findings {
  const portal = source.targetPortal ?? ''
  yield* requireMembers(source, ['targetPortal'], path)
  if (source.initiatorName !== undefined && `${volumeName}:${portal}`.length > 64) {
    const message =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
    yield field.invalid(path.child('targetportal'), portal, message)
  }
  if (!source.iqn) yield field.required(path.child('iqn'))
  else yield* validateIscsiName(source.iqn, path.child('iqn'))
  const lun = numberOf(source.lun)
  if (lun < 0 || lun > 255)
    yield field.invalid(path.child('lun'), lun, 'must be between 0 and 255, inclusive')
  const { secretRef } = source
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && !secretRef)
    yield field.required(path.child('secretRef'))
  if (secretRef) yield* requireMembers(secretRef, ['name'], path.child('secretRef'))
  if (source.initiatorName !== undefined)
    yield* validateIscsiName(source.initiatorName, path.child('initiatorname'))
}

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const

function* validateCsi(source: Decoded<CSIPersistentVolumeSource>, path: field.Path): Findings {
  yield* validateDriverName(source.driver ?? '', path.child('driver'))
  yield* requireMembers(source, ['volumeHandle'], path)
  for (const member of csiSecrets) {
    const secret = source[member]
    if (!secret) continue
    const at = path.child(member)
    yield* requireMembers(secret, ['name', 'namespace'], at)
    if (secret.name) yield* validateDNSSubdomain(secret.name, at.child('name'))
    if (secret.namespace) yield* validateDNSLabel(secret.namespace, at.child('namespace'))
  }
}
