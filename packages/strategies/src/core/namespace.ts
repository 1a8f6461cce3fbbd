import type { Namespace, NamespaceStatus } from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { nameIsDNSLabel, validateFinalizerName } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf } from '../shared/members.ts'
import type { Findings } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const nameLabel = 'kubernetes.io/metadata.name'
const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

const phaseOf = (object: Decoded<Namespace>): string => object.status?.phase ?? ''
const finalizersOf = (object: Decoded<Namespace>): string[] => object.spec?.finalizers ?? []

/** A namespace is deleted in two steps: it is terminating until the namespace controller has emptied and finalized it. */
export const namespaceStrategy: Strategy = defineStrategy<Namespace>({
  returnsDeleted: true,
  validateName: nameIsDNSLabel,
  default(object) {
    const metadata = object.metadata
    if (metadata.name) childOf(metadata, 'labels')[nameLabel] = metadata.name
    const status = childOf(object, 'status')
    if (!status.phase) status.phase = 'Active'
  },
  prepareForCreate(object) {
    const metadata = object.metadata
    childOf(metadata, 'labels')[nameLabel] = metadata.name ?? ''
    object.status = { phase: 'Active' }
    const spec = childOf(object, 'spec')
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
    delete object.metadata.deletionGracePeriodSeconds
    object.status = { ...(object.status as Decoded<NamespaceStatus> | undefined), phase: 'Terminating' }
  },
  fields: object => ({ 'status.phase': phaseOf(object), name: nameCell(object) }),
  cells: (object, now) => ({ Name: nameCell(object), Status: phaseOf(object), Age: ageCell(object, now) }),
})

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

function* validatePhase(object: Decoded<Namespace>): Findings {
  const path = field.Path.of('status', 'Phase')
  const phase = phaseOf(object)
  if (object.metadata.deletionTimestamp === undefined) {
    if (phase !== 'Active')
      yield field.invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty")
  } else if (phase !== 'Terminating') {
    yield field.invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
  }
}
