import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { ageCell, nameCell } from '../shared/cells.ts'
import { recordOf, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateParameters, validateProvisioner } from './parameters.ts'

export const volumeAttributesClassStrategy: Strategy = {
  returnsDeleted: true,
  validate(object): FieldError[] {
    const path = field.Path.of('parameters')
    const errors = [
      ...validateProvisioner(object.driverName, field.Path.of('driverName')),
      ...validateParameters(object.parameters, path),
    ]
    if (Object.keys(recordOf(object.parameters)).length === 0)
      errors.push(field.required(path, 'must contain at least one key/value pair'))
    return errors
  },
  validateUpdate(object, old): FieldError[] {
    return ['driverName', 'parameters']
      .filter(member => !isSame(object, old, member))
      .map(member => field.forbidden(field.Path.of(member), `updates to ${member} are forbidden.`))
  },
  cells: (object, now) => [nameCell(object), textOf(object.driverName), ageCell(object, now)],
}

const isSame = (object: JsonObject, old: JsonObject, member: string): boolean =>
  deepEqual(object[member] ?? null, old[member] ?? null)
