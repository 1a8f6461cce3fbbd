import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { validateImmutableField, validateLabelName } from '@coxswain/apimachinery/validation'
import { nodeLabelDeprecation } from '../core/node-selector.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, listOf, stringsOf, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateParameters, validateProvisioner } from './parameters.ts'

const reclaimPolicies = ['Delete', 'Retain']
const bindingModes = ['Immediate', 'WaitForFirstConsumer']
const immutable = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']

export const storageClassStrategy: Strategy = {
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
    listOf(object.allowedTopologies).flatMap((term, i) =>
      listOf(term.matchLabelExpressions).flatMap(({ key }, j) => {
        const message = nodeLabelDeprecation(textOf(key))
        const path = field.Path.of('allowedTopologies')
          .index(i)
          .child('matchLabelExpressions')
          .index(j)
          .child('key')
        return message === undefined ? [] : [`${path}: ${message}`]
      }),
    ),
  cells: (object, now) => [
    isDefaultStorageClass(object as unknown as StorageClass)
      ? `${nameCell(object)} (default)`
      : nameCell(object),
    textOf(object.provisioner),
    object.reclaimPolicy ?? 'Delete',
    object.volumeBindingMode ?? 'Immediate',
    object.allowVolumeExpansion ?? false,
    ageCell(object, now),
  ],
}

function* validateStorageClass(object: JsonObject): Findings {
  yield* validateProvisioner(object.provisioner, field.Path.of('provisioner'))
  yield* validateParameters(object.parameters, field.Path.of('parameters'))
  const policy = textOf(object.reclaimPolicy)
  if (policy !== '' && !reclaimPolicies.includes(policy))
    yield field.notSupported(field.Path.of('reclaimPolicy'), policy, reclaimPolicies)
  const mode = textOf(object.volumeBindingMode)
  if (!bindingModes.includes(mode))
    yield field.notSupported(field.Path.of('volumeBindingMode'), mode, bindingModes)
  yield* validateTopologies(listOf(object.allowedTopologies), field.Path.of('allowedTopologies'))
}

function* validateTopologies(terms: readonly JsonObject[], path: field.Path): Findings {
  const seen = new Set<string>()
  for (const [index, term] of terms.entries()) {
    const at = path.index(index).child('matchLabelExpressions')
    const requirements = new Map<string, string[]>()
    for (const [position, { key, values }] of listOf(term.matchLabelExpressions).entries()) {
      yield* validateRequirement(textOf(key), stringsOf(values), at.index(position))
      if (requirements.has(textOf(key))) yield field.duplicate(at.index(position).child('key'), key)
      requirements.set(textOf(key), [...new Set(stringsOf(values))].sort())
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

/** What defaulting and resizing of claims look at. */
export interface StorageClass {
  readonly metadata: {
    readonly name: string
    readonly creationTimestamp?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly allowVolumeExpansion?: boolean
}

const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

/** Whether claims without a class get this one. */
export function isDefaultStorageClass({ metadata }: Pick<StorageClass, 'metadata'>): boolean {
  return defaultAnnotations.some(name => metadata.annotations?.[name] === 'true')
}
