import { type FieldError, field, nameIsDNSSubdomain, parseQuantity } from '@coxswain/apimachinery'
import { isObject, type JsonObject } from '../../../json.ts'
import { validateClaimTemplate } from './claim-template.ts'
import { validateDownwardFile, validateKeyedFiles } from './files.ts'
import { validateFileMode, validateNoBacksteps } from './paths.ts'
import { validateProjected } from './projected.ts'
import {
  type Findings,
  invalidBecause,
  listOf,
  objectOf,
  type PodRules,
  requireMembers,
  textOf,
  validateChoice,
  validateDNSLabel,
} from './reading.ts'
import { validateRemoteVolume } from './remote-volumes.ts'

/** The volumes that containers may mount: those without errors, by name. */
export type KnownVolumes = ReadonlyMap<string, JsonObject>

/** The sources in the order in which they are judged; of two, the second is the one too many. */
const sources = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs'],
  ...['iscsi', 'glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'quobyte'],
  ...['downwardAPI', 'fc', 'flexVolume', 'configMap', 'azureFile', 'vsphereVolume', 'photonPersistentDisk'],
  ...['portworxVolume', 'azureDisk', 'storageos', 'projected', 'scaleIO', 'csi', 'ephemeral', 'image'],
]
/** Names that errors about a source too many have instead of the member's. */
const misnamed: Readonly<Record<string, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

export function* validateVolumes(
  volumes: readonly JsonObject[],
  podName: string,
  path: field.Path,
  rules: PodRules,
): Generator<FieldError, KnownVolumes, undefined> {
  const known = new Map<string, JsonObject>()
  const made = new Set<string>()
  if (podName !== '') {
    for (const volume of volumes) {
      if (isObject(volume.ephemeral)) made.add(`${podName}-${textOf(volume.name)}`)
    }
  }
  for (const [index, volume] of volumes.entries()) {
    const at = path.index(index)
    const name = textOf(volume.name)
    const errors = [...validateSource(volume, podName, at, rules)]
    if (name === '') errors.push(field.required(at.child('name')))
    else for (const error of validateDNSLabel(name, at.child('name'))) errors.push(error)
    if (known.has(name)) errors.push(field.duplicate(at.child('name'), name))
    if (errors.length === 0) known.set(name, volume)
    yield* errors
    const claim = textOf(objectOf(volume.persistentVolumeClaim).claimName)
    if (claim !== '' && made.has(claim)) {
      yield field.invalid(
        at.child('persistentVolumeClaim', 'claimName'),
        claim,
        'must not reference a PVC that gets created for an ephemeral volume',
      )
    }
  }
  return known
}

function* validateSource(volume: JsonObject, podName: string, path: field.Path, rules: PodRules): Findings {
  const given = sources.filter(source => isObject(volume[source]))
  for (const [index, source] of given.entries()) {
    if (index > 0) {
      yield field.forbidden(path.child(misnamed[source] ?? source), 'may not specify more than 1 volume type')
    } else {
      yield* validateOneSource(source, volume, podName, path, rules)
    }
  }
  const iscsi = objectOf(volume.iscsi)
  if (
    iscsi.initiatorName !== undefined &&
    `${textOf(volume.name)}:${textOf(iscsi.targetPortal)}`.length > 64
  ) {
    const message =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
    yield field.invalid(path.child('name'), textOf(volume.name), message)
  }
  if (given.length === 0) yield field.required(path, 'must specify a volume type')
}

function* validateOneSource(
  type: string,
  volume: JsonObject,
  podName: string,
  path: field.Path,
  rules: PodRules,
): Findings {
  const source = volume[type] as JsonObject
  const at = path.child(type)
  switch (type) {
    case 'emptyDir':
      yield* validateEmptyDir(source, at)
      return
    case 'hostPath':
      yield* validateHostPath(source, at)
      return
    case 'secret':
      yield* requireMembers(source, ['secretName'], at)
      yield* validateKeyedFiles(source, at)
      return
    case 'configMap':
      yield* requireMembers(source, ['name'], at)
      yield* validateKeyedFiles(source, at)
      return
    case 'persistentVolumeClaim':
      yield* requireMembers(source, ['claimName'], at)
      return
    case 'downwardAPI':
      yield* validateFileMode(source.defaultMode, at.child('defaultMode'))
      for (const file of listOf(source.items)) yield* validateDownwardFile(file, at)
      return
    case 'projected':
      yield* validateProjected(source, at)
      return
    case 'ephemeral':
      yield* validateEphemeral(source, textOf(volume.name), podName, path)
      return
    case 'image':
      if (rules.isPod) yield* requireMembers(source, ['reference'], at)
      yield* validatePullPolicy(source.pullPolicy, at.child('pullPolicy'))
      return
    default:
      yield* validateRemoteVolume(type, source, path)
  }
}

function* validateEmptyDir(source: JsonObject, path: field.Path): Findings {
  const limit = textOf(source.sizeLimit)
  if (limit !== '' && parseQuantity(limit).sign < 0)
    yield field.forbidden(path.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity')
}

const hostPathTypes = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
]

function* validateHostPath(source: JsonObject, path: field.Path): Findings {
  const target = textOf(source.path)
  if (target === '') {
    yield field.required(path.child('path'))
    return
  }
  yield* validateNoBacksteps(target, path.child('path'))
  if (source.type !== undefined && !hostPathTypes.includes(textOf(source.type)))
    yield field.notSupported(path.child('type'), source.type, hostPathTypes)
}

function* validateEphemeral(
  source: JsonObject,
  name: string,
  podName: string,
  volumePath: field.Path,
): Findings {
  const path = volumePath.child('ephemeral', 'volumeClaimTemplate')
  if (!isObject(source.volumeClaimTemplate)) yield field.required(path)
  else yield* validateClaimTemplate(source.volumeClaimTemplate, path)
  if (podName === '' || name === '') return
  const claim = `${podName}-${name}`
  yield* invalidBecause(
    volumePath.child('name'),
    name,
    nameIsDNSSubdomain(claim, false).map(message => `PVC name ${JSON.stringify(claim)}: ${message}`),
  )
}

export function* validatePullPolicy(policy: unknown, path: field.Path): Findings {
  yield* validateChoice(policy, ['Always', 'IfNotPresent', 'Never'], path)
}
