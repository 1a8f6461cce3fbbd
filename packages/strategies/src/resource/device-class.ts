import type { DeviceClass, DeviceClassSpec } from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isExtendedResource } from '@coxswain/kinds'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import type { Findings } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateItems } from './names.ts'
import { maxConfigs, validateConfiguration, validateSelectors } from './requests.ts'

export const deviceClassStrategy: Strategy = defineStrategy<DeviceClass>({
  generation: true,
  returnsDeleted: true,
  validate: (object, _context, old) => validateDeviceClass(object.spec ?? {}, old),
  cells: (object, now) => ({ Name: nameCell(object), Age: ageCell(object, now) }),
})

function* validateDeviceClass(
  spec: Decoded<DeviceClassSpec>,
  old: Decoded<DeviceClass> | undefined,
): Findings {
  const path = field.Path.of('spec')
  const stored = old !== undefined && deepEqual(spec.config, old.spec?.config)
  yield* validateSelectors(spec.selectors, path.child('selectors'))
  yield* validateItems(
    spec.config ?? [],
    maxConfigs,
    (config, at) => validateConfiguration(config, at, stored),
    path.child('config'),
  )
  const { extendedResourceName: name } = spec
  if (typeof name === 'string' && !isExtendedResource(name))
    yield field.invalid(path.child('extendedResourceName'), name, 'must be a valid extended resource name')
}
