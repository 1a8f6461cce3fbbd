import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { validateDriverName } from '../core/pod/validation/remote-volumes.ts'
import { ageCell, countCell, nameCell } from '../shared/cells.ts'
import { plain, struct, text } from '../shared/go-form.ts'
import {
  type Findings,
  listOf,
  objectOf,
  printed,
  stringsOf,
  textOf,
  validateNonnegative,
  validateQualifiedName,
} from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const maxNodeId = 256

export const csiNodeStrategy: Strategy = {
  returnsDeleted: true,
  unconditionalUpdate: false,
  validate: object => validateDrivers(driversOf(object), field.Path.of('spec', 'drivers')),
  validateUpdate: validateDriversKept,
  cells: (object, now) => [nameCell(object), countCell(objectOf(object.spec).drivers), ageCell(object, now)],
}

const driversOf = (object: JsonObject): JsonObject[] => listOf(objectOf(object.spec).drivers)

function* validateDrivers(drivers: readonly JsonObject[], path: field.Path): Findings {
  const seen = new Set<string>()
  for (const [index, driver] of drivers.entries()) {
    const at = path.index(index)
    const name = textOf(driver.name)
    yield* validateDriverName(name, at.child('name'))
    const id = textOf(driver.nodeID)
    if (id === '') yield field.required(at.child('nodeID'))
    if (id.length > maxNodeId)
      yield field.invalid(at.child('nodeID'), id, `must be ${maxNodeId} characters or less`)
    yield* validateNonnegative(objectOf(driver.allocatable).count, at.child('allocatable', 'count'))
    if (seen.has(name)) yield field.duplicate(at.child('name'), name)
    seen.add(name)
    yield* validateTopologyKeys(stringsOf(driver.topologyKeys), at)
  }
}

function* validateTopologyKeys(keys: readonly string[], path: field.Path): Findings {
  const seen = new Set<string>()
  for (const key of keys) {
    if (key === '') yield field.required(path)
    if (seen.has(key)) yield field.duplicate(path, key)
    seen.add(key)
    yield* validateQualifiedName(key, path)
  }
}

const driverForm = struct({
  Name: text('name'),
  NodeID: text('nodeID'),
  TopologyKeys: plain('topologyKeys'),
  Allocatable: () => null,
})

/** Of a driver that stays only the number of volumes changes. */
function validateDriversKept(object: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = []
  const byName = Map.groupBy(driversOf(object), ({ name }) => name)
  for (const before of driversOf(old)) {
    for (const driver of byName.get(before.name) ?? []) {
      if (deepEqual(driverForm(driver), driverForm(before))) continue
      const shown = printed(driverForm(driver))
      errors.push(field.invalid(field.Path.of('spec', 'drivers'), shown, 'field is immutable'))
    }
  }
  return errors
}
