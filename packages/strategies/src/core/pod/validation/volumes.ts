import type {
  EmptyDirVolumeSource,
  EphemeralVolumeSource,
  HostPathVolumeSource,
  Volume,
} from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { nameIsDNSSubdomain } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import {
  type Findings,
  invalidBecause,
  type PodRules,
  requireMembers,
  validateChoice,
  validateDNSLabel,
} from '../../../shared/reading.ts'
import { validateClaimTemplate } from './claim-template.ts'
import { validateDownwardFile, validateKeyedFiles } from './files.ts'
import { validateFileMode, validateNoBacksteps } from './paths.ts'
import { validateProjected } from './projected.ts'
import { remoteVolumeRules, sourcePath, type VolumeSources } from './remote-volumes.ts'

/** The volumes that containers may mount: those without errors, by name. */
export type KnownVolumes = ReadonlyMap<string, Decoded<Volume>>

/** What volumes need to know of their Pod. */
export interface VolumeContext extends PodRules {
  /** Empty for the template of a Pod. */
  readonly podName: string
}

/** The sources in the order in which they are validated; every one after the first is an error. */
const sourceTypes = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const

type SourceType = (typeof sourceTypes)[number]

/** Names that errors about a second source have instead of the field's. */
const misnamed: { readonly [K in SourceType]?: string } = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

export function* validateVolumes(
  volumes: readonly Decoded<Volume>[],
  path: field.Path,
  context: VolumeContext,
): Generator<FieldError, KnownVolumes, undefined> {
  const { podName } = context
  const known = new Map<string, Decoded<Volume>>()
  const generated = new Set<string>()
  if (podName !== '') {
    for (const { name = '', ephemeral } of volumes) if (ephemeral) generated.add(`${podName}-${name}`)
  }
  for (const [index, volume] of volumes.entries()) {
    const at = path.index(index)
    const name = volume.name ?? ''
    const errors = [...validateSource(volume, at, context)]
    if (name === '') errors.push(field.required(at.child('name')))
    else for (const error of validateDNSLabel(name, at.child('name'))) errors.push(error)
    if (known.has(name)) errors.push(field.duplicate(at.child('name'), name))
    if (errors.length === 0) known.set(name, volume)
    yield* errors
    const claim = volume.persistentVolumeClaim?.claimName ?? ''
    if (claim !== '' && generated.has(claim)) {
      yield field.invalid(
        at.child('persistentVolumeClaim', 'claimName'),
        claim,
        'must not reference a PVC that gets created for an ephemeral volume',
      )
    }
  }
  return known
}

function* validateSource(volume: Decoded<Volume>, path: field.Path, context: VolumeContext): Findings {
  let count = 0
  for (const type of sourceTypes) {
    const source = volume[type]
    if (!source) continue
    if (count++ === 0) yield* validateSourceOf(type, source, { ...context, volume, volumePath: path })
    else yield field.forbidden(path.child(misnamed[type] ?? type), 'may not specify more than 1 volume type')
  }
  const { name = '', iscsi } = volume
  if (iscsi?.initiatorName !== undefined && `${name}:${iscsi.targetPortal ?? ''}`.length > 64) {
    const message =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
    yield field.invalid(path.child('name'), name, message)
  }
  if (count === 0) yield field.required(path, 'must specify a volume type')
}

/** What a source needs to know of its volume. */
interface SourceContext extends VolumeContext {
  readonly volume: Decoded<Volume>
  readonly volumePath: field.Path
}

function validateSourceOf<K extends SourceType>(
  type: K,
  source: VolumeSources[K],
  context: SourceContext,
): Findings {
  return sourceRules[type](source, sourcePath(type, context.volumePath), context)
}

type SourceRules = {
  readonly [K in SourceType]: (source: VolumeSources[K], path: field.Path, context: SourceContext) => Findings
}

const sourceRules: SourceRules = {
  ...remoteVolumeRules,
  emptyDir: validateEmptyDir,
  hostPath: validateHostPath,
  secret: function* (source, path) {
    yield* requireMembers(source, ['secretName'], path)
    yield* validateKeyedFiles(source, path)
  },
  configMap: function* (source, path) {
    yield* requireMembers(source, ['name'], path)
    yield* validateKeyedFiles(source, path)
  },
  persistentVolumeClaim: (source, path) => requireMembers(source, ['claimName'], path),
  downwardAPI: function* (source, path) {
    yield* validateFileMode(source.defaultMode, path.child('defaultMode'))
    for (const file of source.items ?? []) yield* validateDownwardFile(file, path)
  },
  projected: validateProjected,
  ephemeral: validateEphemeral,
  image: function* (source, path, { isPod }) {
    if (isPod) yield* requireMembers(source, ['reference'], path)
    yield* validatePullPolicy(source.pullPolicy, path.child('pullPolicy'))
  },
}

function* validateEmptyDir(source: Decoded<EmptyDirVolumeSource>, path: field.Path): Findings {
  const limit = source.sizeLimit ?? ''
  if (limit !== '' && parseQuantity(limit).sign < 0)
    yield field.forbidden(path.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity')
}

const hostPathTypes = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
]

function* validateHostPath(source: Decoded<HostPathVolumeSource>, path: field.Path): Findings {
  const target = source.path ?? ''
  if (target === '') {
    yield field.required(path.child('path'))
    return
  }
  yield* validateNoBacksteps(target, path.child('path'))
  if (source.type !== undefined && !hostPathTypes.includes(source.type))
    yield field.notSupported(path.child('type'), source.type, hostPathTypes)
}

function* validateEphemeral(
  source: Decoded<EphemeralVolumeSource>,
  path: field.Path,
  { volume: { name = '' }, volumePath, podName }: SourceContext,
): Findings {
  const templatePath = path.child('volumeClaimTemplate')
  if (!source.volumeClaimTemplate) yield field.required(templatePath)
  else yield* validateClaimTemplate(source.volumeClaimTemplate, templatePath)
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
