import type { VolumeAttributesClass } from '@coxswain/api/storage/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import type { Strategy } from '../strategy.ts'
import { validateParameters, validateProvisioner } from './parameters.ts'

const immutable = ['driverName', 'parameters'] as const

export const volumeAttributesClassStrategy: Strategy = defineStrategy<VolumeAttributesClass>({
  returnsDeleted: true,
  validate(object): FieldError[] {
    const path = field.Path.of('parameters')
    const errors = [
      ...validateProvisioner(object.driverName, field.Path.of('driverName')),
      ...validateParameters(object.parameters, path),
    ]
    if (Object.keys(object.parameters ?? {}).length === 0)
      errors.push(field.required(path, 'must contain at least one key/value pair'))
    return errors
  },
  validateUpdate(object, old): FieldError[] {
    return immutable
      .filter(member => !deepEqual(object[member] ?? null, old[member] ?? null))
      .map(member => field.forbidden(field.Path.of(member), `updates to ${member} are forbidden.`))
  },
  cells: (object, now) => ({
    Name: nameCell(object),
    DriverName: object.driverName ?? '',
    Age: ageCell(object, now),
  }),
})
