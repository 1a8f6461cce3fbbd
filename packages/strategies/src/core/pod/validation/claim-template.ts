import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  TypedObjectReference,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import {
  nameIsDNSSubdomain,
  validateAnnotations,
  validateLabelSelector,
  validateLabels,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import {
  type Findings,
  invalidBecause,
  requireMembers,
  validateDNSLabel,
  validateDNSSubdomain,
} from '../../../shared/reading.ts'
import { validateResourceQuantity } from './resources.ts'

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const volumeModes = ['Block', 'Filesystem']

/** The claim template of an ephemeral volume: labels, annotations and the spec of a claim. */
export function* validateClaimTemplate(
  template: Decoded<PersistentVolumeClaimTemplate>,
  path: field.Path,
): Findings {
  const metadata = template.metadata ?? {}
  const at = path.child('metadata')
  yield* validateAnnotations(metadata.annotations ?? {}, at.child('annotations'))
  yield* validateLabels(metadata.labels ?? {}, at.child('labels'))
  for (const [key, value] of Object.entries(metadata)) {
    if (key === 'labels' || key === 'annotations' || value === undefined || value === null) continue
    yield field.forbidden(at.child(key), 'cannot be set')
  }
  yield* validateClaimSpec(template.spec ?? {}, path.child('spec'))
}

export function* validateClaimSpec(spec: Decoded<PersistentVolumeClaimSpec>, path: field.Path): Findings {
  const modes = spec.accessModes ?? []
  const modesPath = path.child('accessModes')
  if (modes.length === 0) yield field.required(modesPath, 'at least 1 access mode is required')
  yield* validateLabelSelector(spec.selector as never, path.child('selector'))
  for (const mode of modes)
    if (!accessModes.includes(mode)) yield field.notSupported(modesPath, mode, accessModes)
  const others = modes.filter(mode => mode !== 'ReadWriteOncePod' && accessModes.includes(mode))
  if (others.length > 0 && modes.includes('ReadWriteOncePod'))
    yield field.forbidden(modesPath, 'may not use ReadWriteOncePod with other access modes')
  yield* validateStorage(spec, path.child('resources').key('storage'))
  yield* validateClassName(spec.storageClassName, path.child('storageClassName'))
  if (spec.volumeMode !== undefined && !volumeModes.includes(spec.volumeMode ?? ''))
    yield field.notSupported(path.child('volumeMode'), spec.volumeMode, volumeModes)
  yield* validateDataSources(spec, path)
  yield* validateClassName(spec.volumeAttributesClassName, path.child('volumeAttributesClassName'))
}

function* validateStorage(spec: Decoded<PersistentVolumeClaimSpec>, path: field.Path): Findings {
  const text = spec.resources?.requests?.storage
  if (text === undefined) {
    yield field.required(path)
    return
  }
  const amount = parseQuantity(text)
  if (amount.sign <= 0) yield field.invalid(path, text, 'must be greater than zero')
  else yield* validateResourceQuantity('storage', amount, path)
}

function* validateClassName(name: string | null | undefined, path: field.Path): Findings {
  const text = name ?? ''
  if (text !== '') yield* invalidBecause(path, text, nameIsDNSSubdomain(text, false))
}

function* validateDataSources(spec: Decoded<PersistentVolumeClaimSpec>, path: field.Path): Findings {
  const { dataSource, dataSourceRef } = spec
  if (dataSource) yield* validateDataSource(dataSource, path.child('dataSource'))
  if (!dataSourceRef) return
  yield* validateDataSource(dataSourceRef, path.child('dataSourceRef'))
  const namespace = dataSourceRef.namespace ?? ''
  if (namespace !== '') yield* validateDNSLabel(namespace, path.child('dataSourceRef', 'namespace'))
  if (!dataSource) return
  const shown = new field.Printed('{}')
  if (namespace !== '') {
    yield field.invalid(path, shown, 'may not be specified when dataSourceRef.namespace is specified')
  } else if ((['apiGroup', 'kind', 'name'] as const).some(key => dataSource[key] !== dataSourceRef[key])) {
    yield field.invalid(path, shown, 'must match dataSourceRef')
  }
}

function* validateDataSource(source: Decoded<TypedObjectReference>, path: field.Path): Findings {
  yield* requireMembers(source, ['name', 'kind'], path)
  const group = source.apiGroup ?? ''
  if (group === '' && source.kind !== 'PersistentVolumeClaim') {
    const message = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
    yield field.invalid(path, source.kind ?? '', message)
  }
  if (group !== '') yield* validateDNSSubdomain(group, path.child('apiGroup'))
}
