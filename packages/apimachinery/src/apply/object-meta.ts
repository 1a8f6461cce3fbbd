import type { Schema } from '../schema/schema.ts'

const text: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const count: Schema = { type: 'integer', format: 'int64' }
const time: Schema = { type: 'string', format: 'date-time' }
const texts: Schema = { type: 'object', additionalProperties: text }
const required: Schema = { type: 'string', default: '' }

/** metadata of an object whose schema does not describe it, as structured merge needs to know it. */
export const objectMetaSchema: Schema = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: count,
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: count,
    labels: texts,
    annotations: texts,
    finalizers: {
      type: 'array',
      items: text,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: required,
          kind: required,
          name: required,
          uid: required,
          controller: flag,
          blockOwnerDeletion: flag,
        },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-patch-merge-key': 'uid',
      'x-kubernetes-patch-strategy': 'merge',
    },
    managedFields: {
      type: 'array',
      items: { type: 'object' },
      'x-kubernetes-list-type': 'atomic',
    },
  },
}
