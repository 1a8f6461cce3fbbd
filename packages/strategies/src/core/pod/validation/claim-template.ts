import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import {
  nameIsDNSSubdomain,
  validateAnnotations,
  validateLabelSelector,
  validateLabels,
} from '@coxswain/apimachinery/validation'
import {
  type Findings,
  invalidBecause,
  objectOf,
  recordOf,
  requireMembers,
  stringsOf,
  textOf,
  validateDNSLabel,
  validateDNSSubdomain,
} from '../../../shared/reading.ts'
import { validateResourceQuantity } from './resources.ts'

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const volumeModes = ['Block', 'Filesystem']

/** The claim that is made for a volume of one pod: only labels and annotations, and the specification of a claim. */
export function* validateClaimTemplate(template: JsonObject, path: field.Path): Findings {
  const metadata = objectOf(template.metadata)
  const at = path.child('metadata')
  yield* validateAnnotations(recordOf(metadata.annotations), at.child('annotations'))
  yield* validateLabels(recordOf(metadata.labels), at.child('labels'))
  for (const [key, value] of Object.entries(metadata)) {
    if (key === 'labels' || key === 'annotations' || value === undefined || value === null) continue
    yield field.forbidden(at.child(key), 'cannot be set')
  }
  yield* validateClaimSpec(objectOf(template.spec), path.child('spec'))
}

export function* validateClaimSpec(spec: JsonObject, path: field.Path): Findings {
  const modes = stringsOf(spec.accessModes)
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
  if (spec.volumeMode !== undefined && !volumeModes.includes(textOf(spec.volumeMode)))
    yield field.notSupported(path.child('volumeMode'), spec.volumeMode, volumeModes)
  yield* validateDataSources(spec, path)
  yield* validateClassName(spec.volumeAttributesClassName, path.child('volumeAttributesClassName'))
}

function* validateStorage(spec: JsonObject, path: field.Path): Findings {
  const text = recordOf(objectOf(spec.resources).requests).storage
  if (text === undefined) {
    yield field.required(path)
    return
  }
  const amount = parseQuantity(text)
  if (amount.sign <= 0) yield field.invalid(path, text, 'must be greater than zero')
  else yield* validateResourceQuantity('storage', amount, path)
}

function* validateClassName(name: unknown, path: field.Path): Findings {
  const text = textOf(name)
  if (text !== '') yield* invalidBecause(path, text, nameIsDNSSubdomain(text, false))
}

function* validateDataSources(spec: JsonObject, path: field.Path): Findings {
  const { dataSource, dataSourceRef } = spec
  if (isObject(dataSource)) yield* validateDataSource(dataSource, path.child('dataSource'))
  if (!isObject(dataSourceRef)) return
  yield* validateDataSource(dataSourceRef, path.child('dataSourceRef'))
  const namespace = textOf(dataSourceRef.namespace)
  if (namespace !== '') yield* validateDNSLabel(namespace, path.child('dataSourceRef', 'namespace'))
  if (!isObject(dataSource)) return
  const shown = new field.Printed('{}')
  if (namespace !== '') {
    yield field.invalid(path, shown, 'may not be specified when dataSourceRef.namespace is specified')
  } else if (['apiGroup', 'kind', 'name'].some(key => dataSource[key] !== dataSourceRef[key])) {
    yield field.invalid(path, shown, 'must match dataSourceRef')
  }
}

function* validateDataSource(source: JsonObject, path: field.Path): Findings {
  yield* requireMembers(source, ['name', 'kind'], path)
  const group = textOf(source.apiGroup)
  if (group === '' && source.kind !== 'PersistentVolumeClaim') {
    const message = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
    yield field.invalid(path, textOf(source.kind), message)
  }
  if (group !== '') yield* validateDNSSubdomain(group, path.child('apiGroup'))
}
