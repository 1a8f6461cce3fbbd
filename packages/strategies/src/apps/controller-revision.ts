import type { ControllerRevision } from '@coxswain/api/apps/v1'
import * as field from '@coxswain/apimachinery/field'
import { isObject, writeJson } from '@coxswain/apimachinery/json'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, numberOf, printed } from '../shared/reading.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { validateNonnegatives } from './template.ts'

export const controllerRevisionStrategy: Strategy = defineStrategy<ControllerRevision>({
  cells: printRevision,
  validate: (object, _context, old) => [
    ...validateNonnegatives(object, ['revision'], field.Path.root),
    ...(old ? [] : validateRevisionData(object.data)),
  ],
  rawMember: 'data',
  validateUpdate: (object, old) =>
    writeJson(object.data) === writeJson(old.data)
      ? []
      : [field.invalid(field.Path.of('data'), printed(object.data ?? null), 'field is immutable')],
})

function* validateRevisionData(data: unknown): Findings {
  const path = field.Path.of('data')
  if (data === undefined || data === null) yield field.required(path, 'data is mandatory')
  else if (!isObject(data)) yield field.required(path, 'data must be a valid JSON object')
}

function printRevision(object: Decoded<ControllerRevision>, now: number): TableCells {
  const owner = (object.metadata.ownerReferences ?? []).find(({ controller }) => controller === true)
  const [group = ''] = (owner?.apiVersion ?? '').includes('/') ? (owner?.apiVersion ?? '').split('/') : ['']
  const kind = (owner?.kind ?? '').toLowerCase()
  const name = owner ? `${kind}${group === '' ? '' : `.${group}`}/${owner.name ?? ''}` : '<none>'
  return {
    Name: nameCell(object),
    Controller: name,
    Revision: numberOf(object.revision),
    Age: ageCell(object, now),
  }
}
