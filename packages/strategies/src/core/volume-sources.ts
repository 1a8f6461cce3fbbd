import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { nameIsDNSLabel } from '@coxswain/apimachinery/validation'
import {
  type Findings,
  invalidBecause,
  numberOf,
  requireMembers,
  textOf,
  validateDNSLabel,
  validateDNSSubdomain,
} from '../shared/reading.ts'
import { validateNoBacksteps } from './pod/validation/paths.ts'
import { validateDriverName, validateRemoteVolume } from './pod/validation/remote-volumes.ts'

/** In the order in which they are looked at: of several the first one counts. */
const types = [
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

/** A persistent volume has one source. */
export function* validateSource(spec: JsonObject, volumeName: string, path: field.Path): Findings {
  let count = 0
  for (const type of types) {
    const source = spec[type]
    if (!isObject(source)) continue
    if (count > 0 && type !== 'flexVolume') {
      const at = path.child(type === 'cephfs' ? 'cephFS' : type)
      yield field.forbidden(at, 'may not specify more than 1 volume type')
      continue
    }
    count++
    const rule = rules[type]
    if (rule) yield* rule(source, path.child(type), volumeName)
    else yield* validateRemoteVolume(type, source, path)
    if (type === 'local' && spec.nodeAffinity === undefined)
      yield field.required(path.child('nodeAffinity'), 'Local volume requires node affinity')
  }
  if (count === 0) yield field.required(path, 'must specify a volume type')
}

type SourceRule = (source: JsonObject, path: field.Path, volumeName: string) => Findings

/** The sources whose rules are not those of a pod's volumes. */
const rules: Readonly<Record<string, SourceRule>> = {
  hostPath: function* (source, path) {
    yield* validatePath(source, path)
    if (
      textOf(source.path) !== '' &&
      source.type !== undefined &&
      !hostPathTypes.includes(textOf(source.type))
    )
      yield field.notSupported(path.child('type'), source.type, hostPathTypes)
  },
  local: validatePath,
  glusterfs: function* (source, path) {
    yield* requireMembers(source, ['endpoints', 'path'], path)
    if (source.endpointsNamespace === undefined) return
    const namespace = textOf(source.endpointsNamespace)
    const at = path.child('endpointsNamespace')
    if (namespace === '') {
      const message = 'if the endpointnamespace is set, it must be a valid namespace name'
      yield field.invalid(at, namespace, message)
    } else yield* invalidBecause(at, namespace, nameIsDNSLabel(namespace, false))
  },
  iscsi: validateIscsi,
  cinder: function* (source, path) {
    yield* requireMembers(source, ['volumeID'], path)
    yield* requireSecret(source, path)
  },
  azureFile: function* (source, path) {
    yield* requireMembers(source, ['secretName', 'shareName'], path)
    if (source.secretNamespace === '') yield field.required(path.child('secretNamespace'))
  },
  storageos: function* (source, path) {
    const { volumeName, volumeNamespace } = source
    if (textOf(volumeName) === '') yield field.required(path.child('volumeName'))
    else yield* validateDNSLabel(textOf(volumeName), path.child('volumeName'))
    if (textOf(volumeNamespace) !== '')
      yield* validateDNSLabel(textOf(volumeNamespace), path.child('volumeNamespace'))
    yield* requireSecret(source, path)
  },
  csi: validateCsi,
}

function* validatePath(source: JsonObject, path: field.Path): Findings {
  yield* requireMembers(source, ['path'], path)
  yield* validateNoBacksteps(textOf(source.path), path.child('path'))
}

function* requireSecret({ secretRef }: JsonObject, path: field.Path): Findings {
  if (isObject(secretRef)) yield* requireMembers(secretRef, ['name', 'namespace'], path.child('secretRef'))
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

function* validateIscsi(source: JsonObject, path: field.Path, volumeName: string): Findings {
  const portal = textOf(source.targetPortal)
  yield* requireMembers(source, ['targetPortal'], path)
  if (source.initiatorName !== undefined && `${volumeName}:${portal}`.length > 64) {
    const message =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
    yield field.invalid(path.child('targetportal'), portal, message)
  }
  if (textOf(source.iqn) === '') yield field.required(path.child('iqn'))
  else yield* validateIscsiName(textOf(source.iqn), path.child('iqn'))
  const lun = numberOf(source.lun)
  if (lun < 0 || lun > 255)
    yield field.invalid(path.child('lun'), lun, 'must be between 0 and 255, inclusive')
  const { secretRef } = source
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && !isObject(secretRef))
    yield field.required(path.child('secretRef'))
  if (isObject(secretRef)) yield* requireMembers(secretRef, ['name'], path.child('secretRef'))
  if (source.initiatorName !== undefined)
    yield* validateIscsiName(textOf(source.initiatorName), path.child('initiatorname'))
}

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
]

function* validateCsi(source: JsonObject, path: field.Path): Findings {
  yield* validateDriverName(textOf(source.driver), path.child('driver'))
  yield* requireMembers(source, ['volumeHandle'], path)
  for (const member of csiSecrets) {
    const secret = source[member]
    if (!isObject(secret)) continue
    const at = path.child(member)
    yield* requireMembers(secret, ['name', 'namespace'], at)
    if (textOf(secret.name) !== '') yield* validateDNSSubdomain(textOf(secret.name), at.child('name'))
    if (textOf(secret.namespace) !== '')
      yield* validateDNSLabel(textOf(secret.namespace), at.child('namespace'))
  }
}
