import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepClone, deepEqual } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { parseQuantity, type Quantity } from '@coxswain/apimachinery/quantity'
import { isQualifiedName } from '@coxswain/apimachinery/validation'
import { betaStorageClassAnnotation, isNativeResource } from '@coxswain/kinds'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue, inKeyOrder } from '../shared/go-value.ts'
import { childOf } from '../shared/members.ts'
import type { Findings } from '../shared/reading.ts'
import { diffValues } from '../shared/unified-diff.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { printAccessModes } from './access-modes.ts'
import { validateClaimSpec } from './pod/validation/claim-template.ts'
import { validateResourceQuantity } from './pod/validation/resources.ts'

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

export const persistentVolumeClaimStrategy: Strategy = defineStrategy<PersistentVolumeClaim>({
  returnsDeleted: true,
  default(object) {
    const status = childOf(object, 'status')
    if (!status.phase) status.phase = 'Pending'
    const spec = childOf(object, 'spec')
    spec.volumeMode ??= 'Filesystem'
  },
  prepareForCreate(object) {
    object.status = { phase: 'Pending' }
    reconcileDataSources(object.spec ?? {}, {})
  },
  prepareForUpdate(object, old) {
    reconcileDataSources(object.spec ?? {}, old.spec ?? {})
  },
  validate: object => validateClaimSpec(object.spec ?? {}, field.Path.of('spec')),
  validateUpdate,
  validateStatusUpdate: object => validateStatus(object),
  warnings: warnAboutClaim,
  statusWarnings: () => [],
  fields: object => ({ name: nameCell(object) }),
  cells: printClaim,
})

const isClaimOrSnapshot = (source: Decoded<TypedLocalObjectReference>): boolean =>
  (source.kind === 'PersistentVolumeClaim' && !source.apiGroup) ||
  (source.kind === 'VolumeSnapshot' && source.apiGroup === 'snapshot.storage.k8s.io')

/** `dataSource` and `dataSourceRef` are kept equal; the former only allows claims and snapshots. */
function reconcileDataSources(
  spec: Decoded<PersistentVolumeClaimSpec>,
  old: Decoded<PersistentVolumeClaimSpec>,
): void {
  const isForeign = (ref: Decoded<TypedObjectReference> | null | undefined) =>
    ref && (ref.namespace ?? '') !== ''
  if (isForeign(spec.dataSourceRef) && !old.dataSourceRef) delete spec.dataSourceRef
  const wasUsed = old.dataSource || old.dataSourceRef
  if (!wasUsed && spec.dataSourceRef === undefined) {
    if (spec.dataSource && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource
  }
  const { dataSource, dataSourceRef } = spec
  const pick = ({ apiGroup, kind, name }: Decoded<TypedObjectReference>) => ({
    ...(apiGroup !== undefined && { apiGroup }),
    kind: kind ?? '',
    name: name ?? '',
  })
  if (dataSource && dataSourceRef === undefined) spec.dataSourceRef = pick(dataSource)
  else if (dataSourceRef && dataSource === undefined && !isForeign(dataSourceRef))
    spec.dataSource = pick(dataSourceRef)
}

/** A label selector prints as in JSON, its labels first. */
function selectorInOrder(selector: Decoded<LabelSelector> | null | undefined): unknown {
  if (!selector) return null
  const { matchLabels, matchExpressions } = selector
  return {
    ...(matchLabels !== undefined && { matchLabels: matchLabels && inKeyOrder(matchLabels) }),
    ...(matchExpressions !== undefined && { matchExpressions }),
  }
}

const printSpec = (spec: Decoded<PersistentVolumeClaimSpec>) => ({
  ...goValue('core.PersistentVolumeClaimSpec', spec),
  Selector: selectorInOrder(spec.selector),
})

function validateUpdate(
  object: Decoded<PersistentVolumeClaim>,
  old: Decoded<PersistentVolumeClaim>,
): FieldError[] {
  const errors: FieldError[] = []
  const spec = object.spec ?? {}
  const before = deepClone(old.spec ?? {})
  reconcileDataSources(before, before)
  const annotation = (of: Decoded<PersistentVolumeClaim>) =>
    of.metadata.annotations?.[betaStorageClassAnnotation]

  const compared = deepClone(spec)
  if (!before.volumeName && compared.volumeName !== undefined) before.volumeName = compared.volumeName
  const oldClass = annotation(old)
  const newClass = annotation(object)
  const isUpgrade =
    oldClass !== undefined &&
    before.storageClassName === undefined &&
    spec.storageClassName === oldClass &&
    (newClass === undefined || newClass === oldClass)
  if (isUpgrade) delete compared.storageClassName
  else {
    if ((newClass ?? '') !== (oldClass ?? '')) {
      const path = field.Path.of('metadata', 'annotations', betaStorageClassAnnotation)
      errors.push(field.invalid(path, newClass ?? '', 'field is immutable'))
    }
    const isFirst = spec.storageClassName !== undefined && before.storageClassName === undefined
    if (isFirst && (oldClass === undefined || spec.storageClassName === oldClass))
      delete compared.storageClassName
  }
  const isBound = object.status?.phase === 'Bound'
  const requestsBefore = before.resources?.requests ?? {}
  if (isBound) {
    const { requests } = compared.resources ?? {}
    if (requests) requests.storage = requestsBefore.storage ?? '0'
    if (before.volumeAttributesClassName === undefined) delete compared.volumeAttributesClassName
    else compared.volumeAttributesClassName = before.volumeAttributesClassName
  }
  const shown = printSpec(compared)
  const shownBefore = printSpec(before)
  if (!deepEqual(shown, shownBefore)) {
    const message =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
    errors.push(field.forbidden(field.Path.of('spec'), `${message}\n${diffValues(shownBefore, shown)}`))
  }
  for (const error of validateSize(spec, old.spec ?? {}, old.status ?? {})) errors.push(error)
  if (spec.volumeMode !== before.volumeMode)
    errors.push(field.invalid(field.Path.of('volumeMode'), spec.volumeMode ?? null, 'field is immutable'))
  for (const error of validateAttributesClassChange(spec, before, old.status ?? {})) errors.push(error)
  return errors
}

const storageOf = (amounts: Readonly<Record<string, string>> | null | undefined): Quantity =>
  parseQuantity(amounts?.storage ?? '0')

/** A claim may shrink to recover from a failed expansion, but not below its capacity. */
function validateSize(
  spec: Decoded<PersistentVolumeClaimSpec>,
  before: Decoded<PersistentVolumeClaimSpec>,
  status: Decoded<PersistentVolumeClaimStatus>,
): FieldError[] {
  const size = storageOf(spec.resources?.requests)
  if (size.compare(storageOf(before.resources?.requests)) >= 0) return []
  if (size.compare(storageOf(status.capacity)) > 0) return []
  const path = field.Path.of('spec', 'resources', 'requests', 'storage')
  return [field.forbidden(path, 'field can not be less than status.capacity')]
}

function validateAttributesClassChange(
  spec: Decoded<PersistentVolumeClaimSpec>,
  old: Decoded<PersistentVolumeClaimSpec>,
  status: Decoded<PersistentVolumeClaimStatus>,
): FieldError[] {
  const name = spec.volumeAttributesClassName
  if (name === old.volumeAttributesClassName) return []
  if (status.currentVolumeAttributesClassName === undefined || (name !== undefined && name !== '')) return []
  const what = name === undefined ? 'nil' : 'empty string'
  const message = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`
  return [field.forbidden(field.Path.of('spec', 'volumeAttributesClassName'), message)]
}

function* validateStatus(object: Decoded<PersistentVolumeClaim>): Findings {
  const status = object.status ?? {}
  if ((object.spec?.accessModes ?? []).length === 0)
    yield field.required(field.Path.of('Spec', 'accessModes'))
  yield* validateBasicAmounts(status.capacity, field.Path.of('status', 'capacity'))
  const statusesPath = field.Path.of('status', 'allocatedResourceStatuses')
  for (const [name, resize] of Object.entries(status.allocatedResourceStatuses ?? {})) {
    yield* validateResourceKey(name, statusesPath)
    if (!resizeStatuses.includes(resize)) yield field.notSupported(statusesPath, name, resizeStatuses)
  }
  const path = field.Path.of('status', 'allocatedResources')
  for (const [name, amount] of Object.entries(status.allocatedResources ?? {})) {
    const wrong = [...validateResourceKey(name, path)]
    yield* wrong
    if (wrong.length > 0) continue
    const basic = [...validateBasicAmounts({ [name]: amount }, path)]
    yield* basic
    if (basic.length === 0) yield* validateResourceQuantity('storage', parseQuantity(amount), path.key(name))
  }
}

function* validateBasicAmounts(
  amounts: Readonly<Record<string, string>> | null | undefined,
  path: field.Path,
): Findings {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    const { value } = parseQuantity(amount)
    if (value < 0n) yield field.invalid(path.key(name), value, 'must be a valid resource quantity')
  }
}

function* validateResourceKey(name: string, path: field.Path): Findings {
  const messages = isQualifiedName(name)
  for (const message of messages) yield field.invalid(path, name, message)
  if (messages.length === 0 && isNativeResource(name) && name !== 'storage')
    yield field.notSupported(path, name, ['storage'])
}

function warnAboutClaim(object: Decoded<PersistentVolumeClaim>): string[] {
  const warnings: string[] = []
  const annotations = object.metadata.annotations ?? {}
  if (Object.hasOwn(annotations, betaStorageClassAnnotation)) {
    warnings.push(
      `metadata.annotations[${betaStorageClassAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
    )
  }
  const resources = object.spec?.resources ?? {}
  for (const member of ['requests', 'limits'] as const) {
    const amount = storageOf(resources[member])
    if (amount.milliValue % 1000n === 0n) continue
    warnings.push(
      `spec.resources.${member}[storage]: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`,
    )
  }
  return warnings
}

function printClaim(object: Decoded<PersistentVolumeClaim>, now: number): TableCells {
  const spec = object.spec ?? {}
  const status = object.status ?? {}
  const metadata = object.metadata
  const volume = spec.volumeName ?? ''
  return {
    Name: nameCell(object),
    Status: metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
    Volume: volume,
    Capacity: volume === '' ? '' : (status.capacity?.storage ?? '0'),
    'Access Modes': volume === '' ? '' : printAccessModes(status.accessModes),
    StorageClass: metadata.annotations?.[betaStorageClassAnnotation] ?? spec.storageClassName ?? '',
    VolumeAttributesClass: spec.volumeAttributesClassName ?? '<unset>',
    Age: ageCell(object, now),
    VolumeMode: spec.volumeMode ?? '<unset>',
  }
}
