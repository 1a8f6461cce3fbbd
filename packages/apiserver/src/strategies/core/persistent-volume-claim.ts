import {
  deepClone,
  deepEqual,
  type FieldError,
  field,
  isQualifiedName,
  parseQuantity,
  type Quantity,
} from '@coxswain/apimachinery'
import { childObject, isObject, type JsonObject } from '../../json.ts'
import type { Strategy } from '../../registry/strategy.ts'
import { roundAmounts } from '../amounts.ts'
import { ageCell, nameCell } from '../cells.ts'
import { embedded, plain, pointer, struct, text } from '../go-form.ts'
import { validateClaimSpec } from '../pod/validation/claim-template.ts'
import { type Findings, objectOf, recordOf, stringsOf, textOf } from '../pod/validation/reading.ts'
import { isNativeResource, validateResourceQuantity } from '../pod/validation/resources.ts'
import { diffValues } from '../unified-diff.ts'
import { betaStorageClassAnnotation, printAccessModes } from './access-modes.ts'

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

export const persistentVolumeClaimStrategy: Strategy = {
  returnsDeleted: true,
  default(object) {
    const status = childObject(object, 'status')
    if (!status.phase) status.phase = 'Pending'
    for (const member of ['capacity', 'allocatedResources']) roundAmounts(status, member)
    const spec = childObject(object, 'spec')
    spec.volumeMode ??= 'Filesystem'
    if (isObject(spec.resources)) {
      for (const member of ['limits', 'requests']) roundAmounts(spec.resources, member)
    }
  },
  prepareForCreate(object) {
    object.status = { phase: 'Pending' }
    reconcileDataSources(objectOf(object.spec), {})
  },
  prepareForUpdate(object, old) {
    reconcileDataSources(objectOf(object.spec), objectOf(old.spec))
  },
  validate: object => validateClaimSpec(objectOf(object.spec), field.Path.of('spec')),
  validateUpdate,
  validateStatusUpdate: object => validateStatus(object),
  warnings: warnAboutClaim,
  statusWarnings: () => [],
  fields: object => ({ name: nameCell(object) }),
  cells: printClaim,
}

const isClaimOrSnapshot = (source: JsonObject): boolean =>
  (source.kind === 'PersistentVolumeClaim' && !source.apiGroup) ||
  (source.kind === 'VolumeSnapshot' && source.apiGroup === 'snapshot.storage.k8s.io')

/** The two names of a data source say the same; the older one takes claims and snapshots only. */
function reconcileDataSources(spec: JsonObject, old: JsonObject): void {
  const isForeign = (ref: unknown) => isObject(ref) && textOf(ref.namespace) !== ''
  if (isForeign(spec.dataSourceRef) && !isObject(old.dataSourceRef)) delete spec.dataSourceRef
  const wasUsed = isObject(old.dataSource) || isObject(old.dataSourceRef)
  if (!wasUsed && spec.dataSourceRef === undefined) {
    if (isObject(spec.dataSource) && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource
  }
  const { dataSource, dataSourceRef } = spec
  const pick = ({ apiGroup, kind, name }: JsonObject) => ({
    ...(apiGroup !== undefined && { apiGroup }),
    kind: kind ?? '',
    name: name ?? '',
  })
  if (isObject(dataSource) && dataSourceRef === undefined) spec.dataSourceRef = pick(dataSource)
  else if (isObject(dataSourceRef) && dataSource === undefined && !isForeign(dataSourceRef))
    spec.dataSource = pick(dataSourceRef)
}

/** A label selector prints as in JSON, its labels first. */
function selectorInOrder(selector: unknown): unknown {
  if (!isObject(selector)) return null
  const { matchLabels, matchExpressions } = selector
  return {
    ...(matchLabels !== undefined && { matchLabels: plain('matchLabels')(selector) }),
    ...(matchExpressions !== undefined && { matchExpressions }),
  }
}

const referenceForm = { APIGroup: plain('apiGroup'), Kind: text('kind'), Name: text('name') }
const specForm = struct({
  AccessModes: plain('accessModes'),
  Selector: ({ selector }) => selectorInOrder(selector),
  Resources: embedded('resources', struct({ Limits: plain('limits'), Requests: plain('requests') })),
  VolumeName: text('volumeName'),
  StorageClassName: plain('storageClassName'),
  VolumeMode: plain('volumeMode'),
  DataSource: pointer('dataSource', struct(referenceForm)),
  DataSourceRef: pointer('dataSourceRef', struct({ ...referenceForm, Namespace: plain('namespace') })),
  VolumeAttributesClassName: plain('volumeAttributesClassName'),
})

function validateUpdate(object: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = []
  const spec = objectOf(object.spec)
  const before = deepClone(objectOf(old.spec))
  reconcileDataSources(before, before)
  const annotation = (of: JsonObject) =>
    recordOf((of.metadata as JsonObject).annotations)[betaStorageClassAnnotation]

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
  const isBound = objectOf(object.status).phase === 'Bound'
  const requestsBefore = recordOf(objectOf(before.resources).requests)
  if (isBound) {
    const { requests } = objectOf(compared.resources)
    if (isObject(requests)) requests.storage = requestsBefore.storage ?? '0'
    if (before.volumeAttributesClassName === undefined) delete compared.volumeAttributesClassName
    else compared.volumeAttributesClassName = before.volumeAttributesClassName
  }
  const shown = specForm(compared)
  const shownBefore = specForm(before)
  if (!deepEqual(shown, shownBefore)) {
    const message =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
    errors.push(field.forbidden(field.Path.of('spec'), `${message}\n${diffValues(shownBefore, shown)}`))
  }
  for (const error of validateSize(spec, objectOf(old.spec), objectOf(old.status))) errors.push(error)
  if (spec.volumeMode !== before.volumeMode)
    errors.push(field.invalid(field.Path.of('volumeMode'), spec.volumeMode ?? null, 'field is immutable'))
  for (const error of validateAttributesClassChange(spec, before, objectOf(old.status))) errors.push(error)
  return errors
}

const storageOf = (amounts: unknown): Quantity => parseQuantity(recordOf(amounts).storage ?? '0')

/** A claim may shrink to take back a failed expansion, not below what it has. */
function validateSize(spec: JsonObject, before: JsonObject, status: JsonObject): FieldError[] {
  const size = storageOf(objectOf(spec.resources).requests)
  if (size.compare(storageOf(objectOf(before.resources).requests)) >= 0) return []
  if (size.compare(storageOf(status.capacity)) > 0) return []
  const path = field.Path.of('spec', 'resources', 'requests', 'storage')
  return [field.forbidden(path, 'field can not be less than status.capacity')]
}

function validateAttributesClassChange(spec: JsonObject, old: JsonObject, status: JsonObject): FieldError[] {
  const name = spec.volumeAttributesClassName
  if (name === old.volumeAttributesClassName) return []
  if (status.currentVolumeAttributesClassName === undefined || (name !== undefined && name !== '')) return []
  const what = name === undefined ? 'nil' : 'empty string'
  const message = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`
  return [field.forbidden(field.Path.of('spec', 'volumeAttributesClassName'), message)]
}

function* validateStatus(object: JsonObject): Findings {
  const status = objectOf(object.status)
  if (stringsOf(objectOf(object.spec).accessModes).length === 0)
    yield field.required(field.Path.of('Spec', 'accessModes'))
  yield* validateBasicAmounts(status.capacity, field.Path.of('status', 'capacity'))
  const statusesPath = field.Path.of('status', 'allocatedResourceStatuses')
  for (const [name, resize] of Object.entries(recordOf(status.allocatedResourceStatuses))) {
    yield* validateResourceKey(name, statusesPath)
    if (!resizeStatuses.includes(resize)) yield field.notSupported(statusesPath, name, resizeStatuses)
  }
  const path = field.Path.of('status', 'allocatedResources')
  for (const [name, amount] of Object.entries(recordOf(status.allocatedResources))) {
    const wrong = [...validateResourceKey(name, path)]
    yield* wrong
    if (wrong.length > 0) continue
    const basic = [...validateBasicAmounts({ [name]: amount }, path)]
    yield* basic
    if (basic.length === 0) yield* validateResourceQuantity('storage', parseQuantity(amount), path.key(name))
  }
}

function* validateBasicAmounts(amounts: unknown, path: field.Path): Findings {
  for (const [name, amount] of Object.entries(recordOf(amounts))) {
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

function warnAboutClaim(object: JsonObject): string[] {
  const warnings: string[] = []
  const annotations = recordOf((object.metadata as JsonObject).annotations)
  if (Object.hasOwn(annotations, betaStorageClassAnnotation)) {
    warnings.push(
      `metadata.annotations[${betaStorageClassAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
    )
  }
  const resources = objectOf(objectOf(object.spec).resources)
  for (const member of ['requests', 'limits']) {
    const amount = storageOf(resources[member])
    if (amount.milliValue % 1000n === 0n) continue
    warnings.push(
      `spec.resources.${member}[storage]: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`,
    )
  }
  return warnings
}

function printClaim(object: JsonObject, now: number): readonly unknown[] {
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  const metadata = object.metadata as JsonObject
  const volume = textOf(spec.volumeName)
  return [
    nameCell(object),
    metadata.deletionTimestamp === undefined ? textOf(status.phase) : 'Terminating',
    volume,
    volume === '' ? '' : (recordOf(status.capacity).storage ?? '0'),
    volume === '' ? '' : printAccessModes(status.accessModes),
    recordOf(metadata.annotations)[betaStorageClassAnnotation] ?? textOf(spec.storageClassName),
    spec.volumeAttributesClassName ?? '<unset>',
    ageCell(object, now),
    spec.volumeMode ?? '<unset>',
  ]
}
