import type { Schema } from '../schema/schema.ts'

/** `metav1.Condition` as controller-gen writes it into CRDs. */
export const conditionSchema: Schema = {
  type: 'object',
  properties: {
    lastTransitionTime: { type: 'string', format: 'date-time' },
    message: { type: 'string', maxLength: 32_768 },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
    reason: {
      type: 'string',
      minLength: 1,
      maxLength: 1_024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    type: {
      type: 'string',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    },
  },
  required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
}
