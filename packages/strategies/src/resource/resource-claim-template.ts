import type { DeviceClaim, ResourceClaimTemplate } from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import { validateAnnotations, validateLabels } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf } from '../shared/members.ts'
import type { Findings } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateAdminAccess, validateUnchanged } from './claim-spec.ts'
import { defaultRequests, validateDeviceClaim } from './requests.ts'

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

/** Only labels and annotations are copied from a template to its claims. */
function* validateTemplate(object: Decoded<ResourceClaimTemplate>): Findings {
  const path = field.Path.of('spec')
  const metadata = object.spec?.metadata ?? {}
  yield* validateAnnotations(metadata.annotations ?? {}, path.child('metadata', 'annotations'))
  yield* validateLabels(metadata.labels ?? {}, path.child('metadata', 'labels'))
  yield* validateDeviceClaim(templateDevices(object), path.child('spec', 'devices'))
}
