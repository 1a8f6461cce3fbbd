import type { Schema } from './schema.ts'

const text: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const whole: Schema = { type: 'integer', format: 'int64' }
const time: Schema = {
  type: 'string',
  format: 'date-time',
  name: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
}
const texts: Schema = { type: 'object', additionalProperties: text }
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** `metav1.ObjectMeta`: the metadata of custom resources and of resources embedded in them. */
export const objectMetaSchema: Schema = {
  type: 'object',
  name: `${meta}.ObjectMeta`,
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: whole,
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: whole,
    labels: texts,
    annotations: texts,
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        name: `${meta}.OwnerReference`,
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: flag,
          blockOwnerDeletion: flag,
        },
        required: ['apiVersion', 'kind', 'name', 'uid'],
        'x-kubernetes-map-type': 'atomic',
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
    },
    finalizers: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    managedFields: {
      type: 'array',
      items: {
        type: 'object',
        name: `${meta}.ManagedFieldsEntry`,
        properties: {
          manager: text,
          operation: text,
          apiVersion: text,
          time,
          fieldsType: text,
          fieldsV1: {
            type: 'object',
            name: `${meta}.FieldsV1`,
            'x-kubernetes-preserve-unknown-fields': true,
          },
          subresource: text,
        },
      },
      'x-kubernetes-list-type': 'atomic',
    },
  },
}
