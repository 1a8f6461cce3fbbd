import type { PersistentVolumeSpec } from '@coxswain/api/core/v1'
import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentStatus,
} from '@coxswain/api/storage/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { nameIsDNSSubdomain } from '@coxswain/apimachinery/validation'
import { validateAccessModes } from '../core/access-modes.ts'
import { validateDriverName } from '../core/pod/validation/remote-volumes.ts'
import { validateSource } from '../core/volume-sources.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, invalidBecause, numberOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { mapSize } from './parameters.ts'

const maxMetadata = 256 * 1024
const maxMessage = 1024
const onlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

export const volumeAttachmentStrategy: Strategy = defineStrategy<VolumeAttachment>({
  returnsDeleted: true,
  unconditionalUpdate: false,
  prepareForStatusUpdate(object, old) {
    const { managedFields } = object.metadata
    const metadata: Decoded<ObjectMeta> = { ...old.metadata }
    if (managedFields === undefined) delete metadata.managedFields
    else metadata.managedFields = managedFields
    object.metadata = metadata
  },
  validate: object => validateAttachment(object),
  validateUpdate: validateSpecKept,
  validateStatusUpdate: (object, old) => [...validateAttachment(object), ...validateSpecKept(object, old)],
  cells: (object, now) => {
    const spec = object.spec ?? {}
    return {
      Name: nameCell(object),
      Attacher: spec.attacher ?? '',
      PV: spec.source?.persistentVolumeName ?? '',
      Node: spec.nodeName ?? '',
      Attached: object.status?.attached ?? false,
      Age: ageCell(object, now),
    }
  },
})

function* validateAttachment(object: Decoded<VolumeAttachment>): Findings {
  const spec = object.spec ?? {}
  const path = field.Path.of('spec')
  yield* validateDriverName(spec.attacher ?? '', path.child('attacher'))
  const source = spec.source ?? {}
  yield* validateAttachmentSource(source, path.child('source'))
  const node = spec.nodeName ?? ''
  yield* invalidBecause(path.child('nodeName'), node, nameIsDNSSubdomain(node, false))
  yield* validateStatus(object.status ?? {}, field.Path.of('status'))
  if (source.persistentVolumeName !== undefined) {
    const volume = source.persistentVolumeName ?? ''
    const at = field.Path.of('spec.source.persistentVolumeName')
    yield* invalidBecause(at, volume, nameIsDNSSubdomain(volume, false))
  }
}

function* validateAttachmentSource(source: Decoded<VolumeAttachmentSource>, path: field.Path): Findings {
  const { inlineVolumeSpec, persistentVolumeName } = source
  if (inlineVolumeSpec === undefined && persistentVolumeName === undefined)
    yield field.required(path, onlyOne)
  else if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined)
    yield field.forbidden(path, onlyOne)
  else if (persistentVolumeName === '')
    yield field.required(path.child('persistentVolumeName'), 'must specify non empty persistentVolumeName')
  else if (inlineVolumeSpec) yield* validateInline(inlineVolumeSpec, path.child('inlineVolumeSpec'))
}

/** A volume that is specified inline has a CSI source and no claim. */
function* validateInline(spec: Decoded<PersistentVolumeSpec>, path: field.Path): Findings {
  const forbid = (member: string) =>
    field.forbidden(path.child(member), 'may not be specified in the context of inline volumes')
  if (spec.claimRef !== undefined) yield forbid('claimRef')
  if (Object.keys(spec.capacity ?? {}).length > 0) yield forbid('capacity')
  if (!spec.csi)
    yield field.required(path.child('csi'), 'has to be specified in the context of inline volumes')
  if (!Array.isArray(spec.accessModes) || spec.accessModes.length === 0)
    yield field.required(path.child('accessModes'))
  yield* validateAccessModes(spec.accessModes, path.child('accessModes'))
  const policy = spec.persistentVolumeReclaimPolicy ?? ''
  if (policy !== '' && policy !== 'Retain') {
    const at = path.child('persistentVolumeReclaimPolicy')
    yield field.forbidden(at, 'may only be Retain in the context of inline volumes')
  }
  if (spec.nodeAffinity !== undefined) yield forbid('nodeAffinity')
  yield* validateSource(spec, '', path)
  if ((spec.storageClassName ?? '') !== '') yield forbid('storageClassName')
  if (spec.volumeMode !== undefined && spec.volumeMode !== 'Filesystem') {
    const message = 'may not specify volumeMode other than Filesystem in the context of inline volumes'
    yield field.forbidden(path.child('volumeMode'), message)
  }
}

function* validateStatus(status: Decoded<VolumeAttachmentStatus>, path: field.Path): Findings {
  if (mapSize(status.attachmentMetadata ?? {}) > maxMetadata)
    yield field.tooLong(path.child('attachmentMetadata'), maxMetadata)
  for (const member of ['attachError', 'detachError'] as const) {
    const error = status[member]
    if (!error) continue
    const at = path.child(member)
    if ((error.message ?? '').length > maxMessage) yield field.tooLong(at.child('message'), maxMetadata)
    if (error.errorCode !== undefined && numberOf(error.errorCode) < 0)
      yield field.invalid(
        at.child('errorCode'),
        error.errorCode,
        'must be between 0 and 2147483647, inclusive',
      )
  }
}

function validateSpecKept(object: Decoded<VolumeAttachment>, old: Decoded<VolumeAttachment>): FieldError[] {
  if (deepEqual(object.spec ?? null, old.spec ?? null)) return []
  const shown = goValue('storage.VolumeAttachmentSpec', object.spec ?? {})
  return [field.invalid(field.Path.of('spec'), field.Printed.inOrder(shown), 'field is immutable')]
}
