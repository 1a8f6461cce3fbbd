import type { TopologySelectorTerm } from '@coxswain/api/core/v1'
import type { StorageClass } from '@coxswain/api/storage/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { validateImmutableField, validateLabelName } from '@coxswain/apimachinery/validation'
import { isDefaultStorageClass } from '@coxswain/kinds'
import { nodeLabelDeprecation } from '../core/node-selector.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import type { Findings } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateParameters, validateProvisioner } from './parameters.ts'

const reclaimPolicies = ['Delete', 'Retain']
const bindingModes = ['Immediate', 'WaitForFirstConsumer']
const immutable = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const

export const storageClassStrategy: Strategy = defineStrategy<StorageClass>({
  returnsDeleted: true,
  default(object) {
    object.reclaimPolicy ??= 'Delete'
    object.volumeBindingMode ??= 'Immediate'
  },
  validate: object => validateStorageClass(object),
  validateUpdate(object, old): FieldError[] {
    return immutable.flatMap(member =>
      validateImmutableField(object[member] ?? null, old[member] ?? null, field.Path.of(member)),
    )
  },
  warnings: object =>
    (object.allowedTopologies ?? []).flatMap((term, i) =>
      (term.matchLabelExpressions ?? []).flatMap(({ key }, j) => {
        const message = nodeLabelDeprecation(key ?? '')
        const path = field.Path.of('allowedTopologies')
          .index(i)
          .child('matchLabelExpressions')
          .index(j)
          .child('key')
        return message === undefined ? [] : [`${path}: ${message}`]
      }),
    ),
  cells: (object, now) => ({
    Name: isDefaultStorageClass(object as StorageClass) ? `${nameCell(object)} (default)` : nameCell(object),
    Provisioner: object.provisioner ?? '',
    ReclaimPolicy: object.reclaimPolicy ?? 'Delete',
    VolumeBindingMode: object.volumeBindingMode ?? 'Immediate',
    AllowVolumeExpansion: object.allowVolumeExpansion ?? false,
    Age: ageCell(object, now),
  }),
})

function* validateStorageClass(object: Decoded<StorageClass>): Findings {
  yield* validateProvisioner(object.provisioner, field.Path.of('provisioner'))
  yield* validateParameters(object.parameters, field.Path.of('parameters'))
  const policy = object.reclaimPolicy ?? ''
  if (policy !== '' && !reclaimPolicies.includes(policy))
    yield field.notSupported(field.Path.of('reclaimPolicy'), policy, reclaimPolicies)
  const mode = object.volumeBindingMode ?? ''
  if (!bindingModes.includes(mode))
    yield field.notSupported(field.Path.of('volumeBindingMode'), mode, bindingModes)
  yield* validateTopologies(object.allowedTopologies ?? [], field.Path.of('allowedTopologies'))
}

function* validateTopologies(terms: readonly Decoded<TopologySelectorTerm>[], path: field.Path): Findings {
  const seen = new Set<string>()
  for (const [index, term] of terms.entries()) {
    const at = path.index(index).child('matchLabelExpressions')
    const requirements = new Map<string, string[]>()
    for (const [position, { key, values }] of (term.matchLabelExpressions ?? []).entries()) {
      yield* validateRequirement(key ?? '', values ?? [], at.index(position))
      if (requirements.has(key ?? '')) yield field.duplicate(at.index(position).child('key'), key)
      requirements.set(key ?? '', [...new Set(values ?? [])].sort())
    }
    // Upstream compares with terms that are still empty: a term without requirements is always there already.
    const identity = JSON.stringify([...requirements].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (requirements.size === 0 || seen.has(identity)) yield field.duplicate(at, '')
    seen.add(identity)
  }
}

function* validateRequirement(key: string, values: readonly string[], path: field.Path): Findings {
  if (values.length === 0) yield field.required(path.child('values'))
  const seen = new Set<string>()
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) yield field.duplicate(path.child('values').index(index), value)
    seen.add(value)
  }
  yield* validateLabelName(key, path.child('key'))
}
