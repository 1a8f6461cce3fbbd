import type { ServiceCIDR } from '@coxswain/api/networking/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { fieldImmutableMessage, isValidCIDR, parseCIDR } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { keep } from '../shared/members.ts'
import { type Findings, printed } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const cidrsPath = field.Path.of('spec', 'cidrs')

const cidrsOf = (object: Decoded<ServiceCIDR>): string[] => object.spec?.cidrs ?? []

/** A range from which the addresses of services are taken. */
export const serviceCIDRStrategy: Strategy = defineStrategy<ServiceCIDR>({
  validate: (object, _context, old) => (old ? [] : [...validateCIDRs(cidrsOf(object))]),
  validateUpdate: (object, old) => validateChange(cidrsOf(object), cidrsOf(old)),
  /** Only the conditions change; metadata stays as it was. */
  prepareForStatusUpdate(object, old) {
    keep(object.metadata, old.metadata, ['labels', 'annotations', 'finalizers', 'ownerReferences'])
  },
  cells: (object, now) => ({
    Name: nameCell(object),
    CIDRs: cidrsOf(object).join(','),
    Age: ageCell(object, now),
  }),
})

function* validateCIDRs(cidrs: readonly string[]): Findings {
  if (cidrs.length === 0) {
    yield field.required(cidrsPath, 'at least one CIDR required')
    return
  }
  if (cidrs.length > 2) {
    yield field.invalid(
      cidrsPath,
      printed(goValue('networking.ServiceCIDRSpec', { cidrs })),
      'may only hold up to 2 values',
    )
    return
  }
  for (const [index, cidr] of cidrs.entries()) yield* isValidCIDR(cidrsPath.index(index), cidr)
  const families = cidrs.map(cidr => parseCIDR(cidr)?.address.bytes.length)
  if (cidrs.length === 2 && families[0] === families[1] && families[0] !== undefined) {
    const message = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
    yield field.invalid(cidrsPath, cidrs, message)
  }
}

/** CIDRs cannot be changed; one of the other IP family may be added. */
function validateChange(cidrs: readonly string[], old: readonly string[]): FieldError[] {
  const isAdded = old.length === 1 && cidrs.length === 2
  if (cidrs.length !== old.length && !isAdded) return [field.invalid(cidrsPath, cidrs, fieldImmutableMessage)]
  const changed = old.flatMap((cidr, index) =>
    cidrs[index] === cidr ? [] : [field.invalid(cidrsPath.index(index), cidrs[index], fieldImmutableMessage)],
  )
  return isAdded ? [...changed, ...validateCIDRs(cidrs)] : changed
}
