import * as field from '@coxswain/apimachinery/field'
import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { isExtendedResource } from '../core/pod/validation/resources.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, listOf, objectOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateItems } from './names.ts'
import { maxConfigs, validateConfiguration, validateSelectors } from './requests.ts'

export const deviceClassStrategy: Strategy = {
  generation: true,
  returnsDeleted: true,
  validate: (object, _context, old) => validateDeviceClass(objectOf(object.spec), old),
  cells: (object, now) => [nameCell(object), ageCell(object, now)],
}

function* validateDeviceClass(spec: JsonObject, old: JsonObject | undefined): Findings {
  const path = field.Path.of('spec')
  const stored = old !== undefined && deepEqual(spec.config, objectOf(old.spec).config)
  yield* validateSelectors(spec.selectors, path.child('selectors'))
  yield* validateItems(
    listOf(spec.config),
    maxConfigs,
    (config, at) => validateConfiguration(config, at, stored),
    path.child('config'),
  )
  const { extendedResourceName: name } = spec
  if (typeof name === 'string' && !isExtendedResource(name))
    yield field.invalid(path.child('extendedResourceName'), name, 'must be a valid extended resource name')
}
