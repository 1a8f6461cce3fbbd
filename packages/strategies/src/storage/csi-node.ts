import type { CSINode, CSINodeDriver } from '@coxswain/api/storage/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { validateDriverName } from '../core/pod/validation/remote-volumes.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, countCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, printed, validateNonnegative, validateQualifiedName } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const maxNodeId = 256

export const csiNodeStrategy: Strategy = defineStrategy<CSINode>({
  returnsDeleted: true,
  unconditionalUpdate: false,
  validate: object => validateDrivers(driversOf(object), field.Path.of('spec', 'drivers')),
  validateUpdate: validateDriversKept,
  cells: (object, now) => ({
    Name: nameCell(object),
    Drivers: countCell(object.spec?.drivers),
    Age: ageCell(object, now),
  }),
})

const driversOf = (object: Decoded<CSINode>): Decoded<CSINodeDriver>[] => object.spec?.drivers ?? []

function* validateDrivers(drivers: readonly Decoded<CSINodeDriver>[], path: field.Path): Findings {
  const seen = new Set<string>()
  for (const [index, driver] of drivers.entries()) {
    const at = path.index(index)
    const name = driver.name ?? ''
    yield* validateDriverName(name, at.child('name'))
    const id = driver.nodeID ?? ''
    if (id === '') yield field.required(at.child('nodeID'))
    if (id.length > maxNodeId)
      yield field.invalid(at.child('nodeID'), id, `must be ${maxNodeId} characters or less`)
    yield* validateNonnegative(driver.allocatable?.count, at.child('allocatable', 'count'))
    if (seen.has(name)) yield field.duplicate(at.child('name'), name)
    seen.add(name)
    yield* validateTopologyKeys(driver.topologyKeys ?? [], at)
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

/** Without the number of volumes, which may change. */
const printDriver = ({ allocatable: _, ...driver }: Decoded<CSINodeDriver>) =>
  goValue('storage.CSINodeDriver', driver)

/** Only the allocatable count of an existing driver can change. */
function validateDriversKept(object: Decoded<CSINode>, old: Decoded<CSINode>): FieldError[] {
  const errors: FieldError[] = []
  const byName = Map.groupBy(driversOf(object), ({ name }) => name)
  for (const before of driversOf(old)) {
    for (const driver of byName.get(before.name) ?? []) {
      if (deepEqual(printDriver(driver), printDriver(before))) continue
      const shown = printed(printDriver(driver))
      errors.push(field.invalid(field.Path.of('spec', 'drivers'), shown, 'field is immutable'))
    }
  }
  return errors
}
