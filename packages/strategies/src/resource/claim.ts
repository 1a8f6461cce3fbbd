import * as field from '@coxswain/apimachinery/field'
import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { fieldImmutableMessage, validateAnnotations, validateLabels } from '@coxswain/apimachinery/validation'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, listOf, objectOf, printed, recordOf, textOf } from '../shared/reading.ts'
import { keepStatusMetadata } from '../shared/status-metadata.ts'
import type { Strategy, StrategyContext } from '../strategy.ts'
import { isSamePrinted, printClaimSpec, printTemplateSpec } from './claim-form.ts'
import { defaultResults, dropDeallocated, validateClaimStatus } from './claim-status.ts'
import { defaultRequests, validateDeviceClaim } from './requests.ts'

export const resourceClaimStrategy: Strategy = {
  returnsDeleted: true,
  default(object) {
    defaultRequests(childObject(childObject(object, 'spec'), 'devices'))
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
          ...validateAdminAccess(object, objectOf(objectOf(object.spec).devices), context),
          ...validateDeviceClaim(objectOf(objectOf(object.spec).devices), field.Path.of('spec', 'devices')),
        ],
  validateUpdate: (object, old) => [
    ...validateUnchanged(printClaimSpec(objectOf(object.spec)), printClaimSpec(objectOf(old.spec))),
  ],
  validateStatusUpdate: (object, old, context) => [
    ...validateAdminStatus(object, old, context),
    ...validateClaimStatus(object, old),
  ],
  resetFields: subresource =>
    subresource === 'status' ? { reset: ['metadata', 'spec'] } : { reset: ['status'] },
  cells: (object, now) => [nameCell(object), printState(object), ageCell(object, now)],
}

export const resourceClaimTemplateStrategy: Strategy = {
  returnsDeleted: true,
  default: object =>
    defaultRequests(childObject(childObject(childObject(object, 'spec'), 'spec'), 'devices')),
  validate: (object, context, old) => [
    ...(old ? [] : validateAdminAccess(object, templateDevices(object), context)),
    ...validateTemplate(object),
  ],
  validateUpdate: (object, old) => [
    ...validateUnchanged(printTemplateSpec(objectOf(object.spec)), printTemplateSpec(objectOf(old.spec))),
  ],
  cells: (object, now) => [nameCell(object), ageCell(object, now)],
}

const templateDevices = (object: JsonObject): JsonObject =>
  objectOf(objectOf(objectOf(object.spec).spec).devices)

/** Only labels and annotations go over from a template to its claims. */
function* validateTemplate(object: JsonObject): Findings {
  const path = field.Path.of('spec')
  const metadata = objectOf(objectOf(object.spec).metadata)
  yield* validateAnnotations(recordOf(metadata.annotations), path.child('metadata', 'annotations'))
  yield* validateLabels(recordOf(metadata.labels), path.child('metadata', 'labels'))
  yield* validateDeviceClaim(templateDevices(object), path.child('spec', 'devices'))
}

function* validateUnchanged(spec: JsonObject, old: JsonObject): Findings {
  if (!isSamePrinted(spec, old))
    yield field.invalid(field.Path.of('spec'), printed(spec), fieldImmutableMessage)
}

const adminLabel = 'resource.kubernetes.io/admin-access'

/** Devices that others use are given out only in namespaces that an administrator has marked. */
function* validateAdminAccess(object: JsonObject, devices: JsonObject, context: StrategyContext): Findings {
  const index = listOf(devices.requests).findIndex(({ exactly }) => objectOf(exactly).adminAccess === true)
  if (index < 0) return
  const path = field.Path.of('spec', 'devices', 'requests').index(index).child('adminAccess')
  yield* requireMarkedNamespace(object, path, context)
}

function* validateAdminStatus(object: JsonObject, old: JsonObject, context: StrategyContext): Findings {
  const granted = (claim: JsonObject) =>
    listOf(objectOf(objectOf(objectOf(claim.status).allocation).devices).results).findIndex(
      ({ adminAccess }) => adminAccess === true,
    )
  const index = granted(object)
  if (index < 0 || granted(old) >= 0) return
  const path = field.Path.of('status', 'allocation', 'devices', 'results').index(index).child('adminAccess')
  yield* requireMarkedNamespace(object, path, context)
}

function* requireMarkedNamespace(
  object: JsonObject,
  path: field.Path,
  { objects }: StrategyContext,
): Findings {
  const { namespace } = objectOf(object.metadata)
  const found = objects.resource('/core/namespaces/').get(`/core/namespaces/${textOf(namespace)}`)
  const labels = recordOf(objectOf(found?.parse().metadata).labels)
  if (labels[adminLabel] !== 'true')
    yield field.forbidden(
      path,
      `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`,
    )
}

function printState(object: JsonObject): string {
  const { allocation, reservedFor } = objectOf(object.status)
  const isDeleted = objectOf(object.metadata).deletionTimestamp !== undefined
  const states = isDeleted ? ['deleted'] : []
  if (isObject(allocation)) {
    states.push('allocated')
    if (listOf(reservedFor).length > 0) states.push('reserved')
  } else if (!isDeleted) states.push('pending')
  return states.join(',')
}
