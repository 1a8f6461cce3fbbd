import type { CSIStorageCapacity } from '@coxswain/api/storage/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { nameIsDNSSubdomain, validateLabelSelector } from '@coxswain/apimachinery/validation'
import { nodeLabelDeprecation } from '../core/node-selector.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { invalidBecause, printed } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

export const csiStorageCapacityStrategy: Strategy = defineStrategy<CSIStorageCapacity>({
  unconditionalUpdate: false,
  validate(object): FieldError[] {
    const name = object.storageClassName ?? ''
    const errors = [
      ...validateLabelSelector(object.nodeTopology as never, field.Path.of('nodeTopology')),
      ...invalidBecause(field.Path.of('storageClassName'), name, nameIsDNSSubdomain(name, false)),
    ]
    const capacity = object.capacity ?? ''
    if (capacity !== '' && parseQuantity(capacity).sign < 0)
      errors.push(field.invalid(field.Path.of('capacity'), capacity, 'must be greater than or equal to 0'))
    return errors
  },
  validateUpdate(object, old): FieldError[] {
    const errors: FieldError[] = []
    if (!deepEqual(object.nodeTopology ?? null, old.nodeTopology ?? null)) {
      const shown = object.nodeTopology === undefined ? null : printed(object.nodeTopology)
      errors.push(field.invalid(field.Path.of('nodeTopology'), shown, 'field is immutable'))
    }
    if (object.storageClassName !== old.storageClassName) {
      const path = field.Path.of('storageClassName')
      errors.push(field.invalid(path, object.storageClassName ?? '', 'field is immutable'))
    }
    return errors
  },
  warnings: warnAboutTopology,
})

function warnAboutTopology(object: Decoded<CSIStorageCapacity>): string[] {
  const topology = object.nodeTopology ?? {}
  const path = field.Path.of('nodeTopology')
  const expressions = (topology.matchExpressions ?? []).flatMap(({ key }, index) => {
    const message = nodeLabelDeprecation(key ?? '')
    const at = path.child('matchExpressions').index(index).child('key')
    return message === undefined ? [] : [`${at}: ${key ?? ''} is ${message}`]
  })
  const labels = Object.keys(topology.matchLabels ?? {}).flatMap(label => {
    const message = nodeLabelDeprecation(label)
    return message === undefined ? [] : [`${path.child('matchLabels', label)}: ${message}`]
  })
  return [...expressions, ...labels]
}
