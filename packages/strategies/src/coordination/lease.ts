import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, numberOf, objectOf, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

export const leaseStrategy: Strategy = {
  createOnUpdate: true,
  unconditionalUpdate: false,
  prepareForCreate: object => dropElection(object, {}),
  prepareForUpdate: (object, old) => dropElection(object, objectOf(old.spec)),
  validate: object => validateSpec(objectOf(object.spec), field.Path.of('spec')),
  cells: (object, now) => [
    nameCell(object),
    textOf(objectOf(object.spec).holderIdentity),
    ageCell(object, now),
  ],
}

/** Coordinated leader election is off: its fields are not taken, unless the lease has them already. */
function dropElection({ spec }: JsonObject, old: JsonObject): void {
  if (!isObject(spec)) return
  for (const member of ['strategy', 'preferredHolder']) if (old[member] === undefined) delete spec[member]
}

function* validateSpec(spec: JsonObject, path: field.Path): Findings {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec
  if (duration !== undefined && numberOf(duration) <= 0)
    yield field.invalid(path.child('leaseDurationSeconds'), duration, 'must be greater than 0')
  if (transitions !== undefined && numberOf(transitions) < 0)
    yield field.invalid(path.child('leaseTransitions'), transitions, 'must be greater than or equal to 0')
}
