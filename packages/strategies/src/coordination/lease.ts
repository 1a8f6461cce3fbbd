import type { Lease, LeaseSpec } from '@coxswain/api/coordination/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, numberOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

export const leaseStrategy: Strategy = defineStrategy<Lease>({
  createOnUpdate: true,
  unconditionalUpdate: false,
  prepareForCreate: object => dropElection(object, {}),
  prepareForUpdate: (object, old) => dropElection(object, old.spec ?? {}),
  validate: object => validateSpec(object.spec ?? {}, field.Path.of('spec')),
  cells: (object, now) => ({
    Name: nameCell(object),
    Holder: object.spec?.holderIdentity ?? '',
    Age: ageCell(object, now),
  }),
})

/** Coordinated leader election is off: its fields are dropped, unless the stored lease has them. */
function dropElection({ spec }: Decoded<Lease>, old: Decoded<LeaseSpec>): void {
  if (!spec) return
  for (const member of ['strategy', 'preferredHolder'] as const)
    if (old[member] === undefined) delete spec[member]
}

function* validateSpec(spec: Decoded<LeaseSpec>, path: field.Path): Findings {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec
  if (duration !== undefined && numberOf(duration) <= 0)
    yield field.invalid(path.child('leaseDurationSeconds'), duration, 'must be greater than 0')
  if (transitions !== undefined && numberOf(transitions) < 0)
    yield field.invalid(path.child('leaseTransitions'), transitions, 'must be greater than or equal to 0')
}
