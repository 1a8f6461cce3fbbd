import type { ResourceClaim } from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf } from '../shared/members.ts'
import type { Findings } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy, StrategyContext } from '../strategy.ts'
import { requireMarkedNamespace, validateAdminAccess, validateUnchanged } from './claim-spec.ts'
import { defaultResults, dropDeallocated, validateClaimStatus } from './claim-status.ts'
import { defaultRequests, validateDeviceClaim } from './requests.ts'

export const resourceClaimStrategy: Strategy = defineStrategy<ResourceClaim>({
  returnsDeleted: true,
  default(object) {
    defaultRequests(childOf(childOf(object, 'spec'), 'devices'))
    defaultResults(object)
  },
  prepareForStatusUpdate(object, old) {
    keepStatusMetadata(object, old)
    dropDeallocated(object, old)
  },
  validate: (object, context, old) =>
    old
      ? []
      : [
          ...validateAdminAccess(object, object.spec?.devices ?? {}, context),
          ...validateDeviceClaim(object.spec?.devices ?? {}, field.Path.of('spec', 'devices')),
        ],
  validateUpdate: (object, old) => [
    ...validateUnchanged('resource.ResourceClaimSpec', object.spec, old.spec),
  ],
  validateStatusUpdate: (object, old, context) => [
    ...validateAdminStatus(object, old, context),
    ...validateClaimStatus(object, old),
  ],
  resetFields: subresource =>
    subresource === 'status' ? { reset: ['metadata', 'spec'] } : { reset: ['status'] },
  cells: (object, now) => ({ Name: nameCell(object), State: printState(object), Age: ageCell(object, now) }),
})

function* validateAdminStatus(
  object: Decoded<ResourceClaim>,
  old: Decoded<ResourceClaim>,
  context: StrategyContext,
): Findings {
  const granted = (claim: Decoded<ResourceClaim>) =>
    (claim.status?.allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess === true)
  const index = granted(object)
  if (index < 0 || granted(old) >= 0) return
  const path = field.Path.of('status', 'allocation', 'devices', 'results').index(index).child('adminAccess')
  yield* requireMarkedNamespace(object, path, context)
}

function printState(object: Decoded<ResourceClaim>): string {
  const { allocation, reservedFor } = object.status ?? {}
  const isDeleted = object.metadata.deletionTimestamp !== undefined
  const states = isDeleted ? ['deleted'] : []
  if (allocation) {
    states.push('allocated')
    if ((reservedFor ?? []).length > 0) states.push('reserved')
  } else if (!isDeleted) states.push('pending')
  return states.join(',')
}
