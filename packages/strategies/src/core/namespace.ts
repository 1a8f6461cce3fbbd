import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { childObject, type JsonObject } from '@coxswain/apimachinery/json'
import { nameIsDNSLabel, validateFinalizerName } from '@coxswain/apimachinery/validation'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, objectOf, stringsOf, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const nameLabel = 'kubernetes.io/metadata.name'
const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

const phaseOf = (object: JsonObject): string => textOf(objectOf(object.status).phase)
const finalizersOf = (object: JsonObject): string[] => stringsOf(objectOf(object.spec).finalizers)

/** A namespace goes in two steps: it is marked, the namespace controller empties it, and `finalize` lets it go. */
export const namespaceStrategy: Strategy = {
  returnsDeleted: true,
  validateName: nameIsDNSLabel,
  default(object) {
    const metadata = object.metadata as JsonObject
    if (metadata.name) childObject(metadata, 'labels')[nameLabel] = metadata.name
    const status = childObject(object, 'status')
    if (!status.phase) status.phase = 'Active'
  },
  prepareForCreate(object) {
    const metadata = object.metadata as JsonObject
    childObject(metadata, 'labels')[nameLabel] = metadata.name ?? ''
    object.status = { phase: 'Active' }
    const spec = childObject(object, 'spec')
    if (!finalizersOf(object).includes('kubernetes'))
      spec.finalizers = [...finalizersOf(object), 'kubernetes']
  },
  prepareForUpdate(object, old) {
    if (old.spec === undefined) delete object.spec
    else object.spec = old.spec
  },
  validate: object =>
    finalizersOf(object).flatMap(name => validateFinalizer(name, field.Path.of('spec', 'finalizers'))),
  validateStatusUpdate: object => validatePhase(object),
  holdsDeletion: object => finalizersOf(object).length > 0,
  prepareForDelete(object) {
    delete (object.metadata as JsonObject).deletionGracePeriodSeconds
    object.status = { ...(object.status as JsonObject | undefined), phase: 'Terminating' }
  },
  fields: object => ({ 'status.phase': phaseOf(object), name: nameCell(object) }),
  cells: (object, now) => [nameCell(object), phaseOf(object), ageCell(object, now)],
}

function validateFinalizer(name: string, path: field.Path): FieldError[] {
  const errors = validateFinalizerName(name, path)
  if (!name.includes('/') && !standardFinalizers.has(name)) {
    const message = 'name is neither a standard finalizer name nor is it fully qualified'
    errors.push(field.invalid(path, name, message))
  }
  return errors
}

/** What is wrong with the finalizers that a `finalize` request leaves. */
export function validateNamespaceFinalizers(finalizers: readonly string[]): FieldError[] {
  const path = field.Path.of('spec', 'finalizers')
  return finalizers.flatMap((name, index) => validateFinalizer(name, path.index(index)))
}

function* validatePhase(object: JsonObject): Findings {
  const path = field.Path.of('status', 'Phase')
  const phase = phaseOf(object)
  if ((object.metadata as JsonObject).deletionTimestamp === undefined) {
    if (phase !== 'Active')
      yield field.invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty")
  } else if (phase !== 'Terminating') {
    yield field.invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
  }
}
