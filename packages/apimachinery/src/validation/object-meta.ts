/** Validation of the metadata of every object, on create and on update, with upstream's paths and messages. */

import { isMachineryError } from '../errors.ts'
import { type FieldError, forbidden, invalid, Printed, required, tooLong } from '../field/error.ts'
import type { Path } from '../field/path.ts'
import { utf8Length } from '../go/chars.ts'
import { printJson } from '../go/print-value.ts'
import { quoteList } from '../go/quote.ts'
import { formatGroupVersionKind, gvkOf } from '../meta/gvk.ts'
import type { DeepReadonly, ObjectMeta, OwnerReference } from '../meta/meta.ts'
import { isDNS1035Label, isDNS1123Label, isDNS1123Subdomain } from './dns.ts'
import {
  isQualifiedName,
  isValidLabelValue,
  isValidPathSegmentName,
  isValidPathSegmentPrefix,
} from './names.ts'
import { validateManagedFields } from './options.ts'

/** Validates a name; `prefix` is true for a `generateName`, to which characters will be appended. */
export type NameValidator = (name: string, prefix: boolean) => string[]

/** The message for a change of a field that may not change. */
export const fieldImmutableMessage: string = 'field is immutable'
export const totalAnnotationSizeLimit: number = 256 * 1024

/** The rule for the names of most objects. */
export const nameIsDNSSubdomain: NameValidator = (name, prefix) =>
  isDNS1123Subdomain(prefix ? maskTrailingDash(name) : name)

/** The rule for namespaces. */
export const nameIsDNSLabel: NameValidator = (name, prefix) =>
  isDNS1123Label(prefix ? maskTrailingDash(name) : name)

/** The rule for services. */
export const nameIsDNS1035Label: NameValidator = (name, prefix) =>
  isDNS1035Label(prefix ? maskTrailingDash(name) : name)

/** The rule for RBAC objects: any valid path segment. */
export const nameIsPathSegment: NameValidator = (name, prefix) =>
  prefix ? isValidPathSegmentPrefix(name) : isValidPathSegmentName(name)

// A generateName may end with a dash. Upstream puts an "a" for the last two bytes, not one; where that would cut a
// character in two, the rest is as invalid as the character itself.
function maskTrailingDash(name: string): string {
  if (name.length < 2 || !name.endsWith('-')) return name
  return name.charCodeAt(name.length - 2) < 0x80 ? `${name.slice(0, -2)}a` : name.slice(0, -1)
}

export interface ObjectMetaRules {
  readonly namespaced: boolean
  readonly validateName: NameValidator
}

/** On create, and again with the old object on update. */
export function validateObjectMeta(
  meta: DeepReadonly<ObjectMeta>,
  rules: ObjectMetaRules,
  path: Path,
): FieldError[] {
  const errors: FieldError[] = []
  const { name = '', generateName = '', namespace = '' } = meta
  if (generateName !== '') {
    const at = path.child('generateName')
    for (const error of rules
      .validateName(generateName, true)
      .map(message => invalid(at, generateName, message)))
      errors.push(error)
  }
  if (name === '') errors.push(required(path.child('name'), 'name or generateName is required'))
  else {
    const at = path.child('name')
    for (const error of rules.validateName(name, false).map(message => invalid(at, name, message)))
      errors.push(error)
  }
  for (const error of validateNamespace(namespace, rules.namespaced, path.child('namespace')))
    errors.push(error)
  for (const error of validateNonnegativeField(meta.generation ?? 0, path.child('generation')))
    errors.push(error)
  for (const error of validateLabels(meta.labels, path.child('labels'))) errors.push(error)
  for (const error of validateAnnotations(meta.annotations, path.child('annotations'))) errors.push(error)
  for (const error of validateOwnerReferences(meta.ownerReferences ?? [], path.child('ownerReferences')))
    errors.push(error)
  for (const error of validateFinalizers(meta.finalizers ?? [], path.child('finalizers'))) errors.push(error)
  for (const error of validateManagedFields(meta.managedFields ?? [], path.child('managedFields')))
    errors.push(error)
  return errors
}

function validateNamespace(namespace: string, namespaced: boolean, path: Path): FieldError[] {
  if (!namespaced) return namespace === '' ? [] : [forbidden(path, 'not allowed on this type')]
  if (namespace === '') return [required(path)]
  return nameIsDNSLabel(namespace, false).map(message => invalid(path, namespace, message))
}

/** In addition to {@link validateObjectMeta}, on update. */
export function validateObjectMetaUpdate(
  meta: DeepReadonly<ObjectMeta>,
  old: DeepReadonly<ObjectMeta>,
  path: Path,
): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    const known = new Set(old.finalizers ?? [])
    const extra = [...new Set(meta.finalizers ?? [])].filter(finalizer => !known.has(finalizer)).sort()
    if (extra.length > 0) {
      const rule = 'no new finalizers can be added if the object is being deleted'
      errors.push(forbidden(path.child('finalizers'), `${rule}, found new finalizers ${quoteList(extra)}`))
    }
  }
  if (!meta.resourceVersion) {
    errors.push(invalid(path.child('resourceVersion'), '', 'must be specified for an update'))
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(path.child('generation'), meta.generation ?? 0, 'must not be decremented'))
  }
  for (const name of ['name', 'namespace', 'uid'] as const) {
    for (const error of validateImmutableField(meta[name] ?? '', old[name] ?? '', path.child(name)))
      errors.push(error)
  }
  for (const name of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    for (const error of validateImmutableField(meta[name] ?? null, old[name] ?? null, path.child(name)))
      errors.push(error)
  }
  for (const error of validateLabels(meta.labels, path.child('labels'))) errors.push(error)
  for (const error of validateAnnotations(meta.annotations, path.child('annotations'))) errors.push(error)
  for (const error of validateOwnerReferences(meta.ownerReferences ?? [], path.child('ownerReferences')))
    errors.push(error)
  for (const error of validateManagedFields(meta.managedFields ?? [], path.child('managedFields')))
    errors.push(error)
  return errors
}

/** For values that are compared as they print; deep values too. */
export function validateImmutableField(value: unknown, old: unknown, path: Path): FieldError[] {
  if (value === old || printJson(value) === printJson(old)) return []
  return [invalid(path, value, fieldImmutableMessage)]
}

export function validateNonnegativeField(value: number | bigint, path: Path): FieldError[] {
  return value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : []
}

/** Validates the key of a label. */
export function validateLabelName(name: string, path: Path): FieldError[] {
  return isQualifiedName(name).map(message => invalid(path, name, message))
}

/** Validates the keys and values of labels. */
export function validateLabels(labels: Readonly<Record<string, string>> = {}, path: Path): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...validateLabelName(key, path),
    ...isValidLabelValue(value).map(message => invalid(path, value, message)),
  ])
}

/** Keys are validated in lower case; all keys and values together may have 256 KiB. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> = {},
  path: Path,
): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of Object.entries(annotations)) {
    for (const error of isQualifiedName(key.toLowerCase()).map(message => invalid(path, key, message)))
      errors.push(error)
    size += utf8Length(key) + utf8Length(value)
  }
  if (size > totalAnnotationSizeLimit) errors.push(tooLong(path, totalAnnotationSizeLimit))
  return errors
}

/** Validates the name of a finalizer. */
export function validateFinalizerName(name: string, path: Path): FieldError[] {
  return isQualifiedName(name).map(message => invalid(path, name, message))
}

export function validateFinalizers(finalizers: readonly string[], path: Path): FieldError[] {
  const errors = finalizers.flatMap(finalizer => validateFinalizerName(finalizer, path))
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'))
  }
  return errors
}

export function validateOwnerReferences(
  references: readonly Readonly<OwnerReference>[],
  path: Path,
): FieldError[] {
  const errors: FieldError[] = []
  let first: string | undefined
  let value: Printed | undefined
  for (const reference of references) {
    for (const error of validateOwnerReference(reference, path)) errors.push(error)
    if (!reference.controller) continue
    const current = `${reference.kind}/${reference.name}`
    if (first === undefined) first = current
    else {
      const rule = 'Only one reference can have Controller set to true.'
      const detail = `${rule} Found "true" in references for ${first} and ${current}`
      value ??= printReferences(references)
      errors.push(invalid(path, value, detail))
    }
  }
  return errors
}

function validateOwnerReference(reference: Readonly<OwnerReference>, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const { group, version, kind } = gvkOrEmpty(reference)
  if (version === '') {
    errors.push(invalid(path.child('apiVersion'), reference.apiVersion ?? '', 'version must not be empty'))
  }
  for (const name of ['kind', 'name', 'uid'] as const) {
    if (!reference[name]) errors.push(invalid(path.child(name), '', 'must not be empty'))
  }
  if (group === '' && version === 'v1' && kind === 'Event') {
    const gvk = formatGroupVersionKind({ group, version, kind })
    const value = Printed.inOrder(inWireOrder(reference))
    errors.push(invalid(path, value, `${gvk} is disallowed from being an owner`))
  }
  return errors
}

function gvkOrEmpty(reference: Readonly<OwnerReference>): ReturnType<typeof gvkOf> {
  try {
    return gvkOf(reference)
  } catch (error) {
    if (!isMachineryError(error, 'BadGroupVersion')) throw error
    return { group: '', version: '', kind: reference.kind }
  }
}

function printReferences(references: readonly Readonly<OwnerReference>[]): Printed {
  return Printed.inOrder(references.map(inWireOrder))
}

function inWireOrder(reference: Readonly<OwnerReference>): Record<string, unknown> {
  const { apiVersion = '', kind = '', name = '', uid = '', controller, blockOwnerDeletion } = reference
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion }
}
