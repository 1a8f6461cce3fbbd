import { persistentVolumeSourceForm } from '../core/volume-source-form.ts'
import { embedded, type GoForm, list, plain, pointer, struct, text } from '../shared/go-form.ts'

const requirement = struct({ Key: text('key'), Operator: text('operator'), Values: plain('values') })

const nodeAffinity = struct({
  Required: pointer(
    'required',
    struct({
      NodeSelectorTerms: list(
        'nodeSelectorTerms',
        struct({
          MatchExpressions: list('matchExpressions', requirement),
          MatchFields: list('matchFields', requirement),
        }),
      ),
    }),
  ),
})

const objectReference = struct({
  Kind: text('kind'),
  Namespace: text('namespace'),
  Name: text('name'),
  UID: text('uid'),
  APIVersion: text('apiVersion'),
  ResourceVersion: text('resourceVersion'),
  FieldPath: text('fieldPath'),
})

const rest = struct({
  AccessModes: plain('accessModes'),
  ClaimRef: pointer('claimRef', objectReference),
  PersistentVolumeReclaimPolicy: text('persistentVolumeReclaimPolicy'),
  StorageClassName: text('storageClassName'),
  MountOptions: plain('mountOptions'),
  VolumeMode: plain('volumeMode'),
  NodeAffinity: pointer('nodeAffinity', nodeAffinity),
  VolumeAttributesClassName: plain('volumeAttributesClassName'),
})

const inlineVolumeSpec: GoForm = source => ({
  Capacity: plain('capacity')(source),
  ...(persistentVolumeSourceForm(source) as object),
  ...(rest(source) as object),
})

/** What upstream's VolumeAttachmentSpec looks like when a message prints it. */
export const attachmentSpecForm: GoForm = struct({
  Attacher: text('attacher'),
  Source: embedded(
    'source',
    struct({
      PersistentVolumeName: plain('persistentVolumeName'),
      InlineVolumeSpec: pointer('inlineVolumeSpec', inlineVolumeSpec),
    }),
  ),
  NodeName: text('nodeName'),
})
