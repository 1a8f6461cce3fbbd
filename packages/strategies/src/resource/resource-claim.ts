import type { Namespace } from '@coxswain/api/core/v1'
import type { DeviceClaim, ResourceClaim, ResourceClaimTemplate } from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject } from '@coxswain/apimachinery/json'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { fieldImmutableMessage, validateAnnotations, validateLabels } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import type { GoType } from '../gen/go-types.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { childOf } from '../shared/members.ts'
import { type Findings, printed } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy, StrategyContext } from '../strategy.ts'
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

export const resourceClaimTemplateStrategy: Strategy = defineStrategy<ResourceClaimTemplate>({
  returnsDeleted: true,
  default: object => defaultRequests(childOf(childOf(childOf(object, 'spec'), 'spec'), 'devices')),
  validate: (object, context, old) => [
    ...(old ? [] : validateAdminAccess(object, templateDevices(object), context)),
    ...validateTemplate(object),
  ],
  validateUpdate: (object, old) => [
    ...validateUnchanged('resource.ResourceClaimTemplateSpec', object.spec, old.spec),
  ],
  cells: (object, now) => ({ Name: nameCell(object), Age: ageCell(object, now) }),
})

const templateDevices = (object: Decoded<ResourceClaimTemplate>): Decoded<DeviceClaim> =>
  object.spec?.spec?.devices ?? {}

/** Only labels and annotations go over from a template to its claims. */
function* validateTemplate(object: Decoded<ResourceClaimTemplate>): Findings {
  const path = field.Path.of('spec')
  const metadata = object.spec?.metadata ?? {}
  yield* validateAnnotations(metadata.annotations ?? {}, path.child('metadata', 'annotations'))
  yield* validateLabels(metadata.labels ?? {}, path.child('metadata', 'labels'))
  yield* validateDeviceClaim(templateDevices(object), path.child('spec', 'devices'))
}

/** An empty list is the same as none. */
function* validateUnchanged(type: GoType, spec: object = {}, old: object = {}): Findings {
  const shown = goValue(type, spec)
  if (!deepEqual(withoutEmptyLists(shown), withoutEmptyLists(goValue(type, old))))
    yield field.invalid(field.Path.of('spec'), printed(shown), fieldImmutableMessage)
}

function withoutEmptyLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withoutEmptyLists)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutEmptyLists(member)]))
}

interface WithMetadata {
  readonly metadata: Decoded<ObjectMeta>
}

const adminLabel = 'resource.kubernetes.io/admin-access'

/** Devices that others use are given out only in namespaces that an administrator has marked. */
function* validateAdminAccess(
  object: WithMetadata,
  devices: Decoded<DeviceClaim>,
  context: StrategyContext,
): Findings {
  const index = (devices.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true)
  if (index < 0) return
  const path = field.Path.of('spec', 'devices', 'requests').index(index).child('adminAccess')
  yield* requireMarkedNamespace(object, path, context)
}

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

function* requireMarkedNamespace(
  object: WithMetadata,
  path: field.Path,
  { objects }: StrategyContext,
): Findings {
  const { namespace } = object.metadata
  const found = objects.resource('/core/namespaces/').get(`/core/namespaces/${namespace ?? ''}`)
  const labels = (found?.parse() as Decoded<Namespace> | undefined)?.metadata.labels
  if (labels?.[adminLabel] !== 'true')
    yield field.forbidden(
      path,
      `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`,
    )
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
