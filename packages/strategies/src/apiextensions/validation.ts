import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Schema } from '@coxswain/apimachinery/schema'
import { isDNS1035Label, isDNS1123Subdomain, validateImmutableField } from '@coxswain/apimachinery/validation'
import { goValue } from '../shared/go-value.ts'
import { isConditionTrue, isProtectedGroup, validateApproval } from './conditions.ts'
import { isReadableBundle, isRecognizedReview, reviewVersionsOf, validateConversion } from './conversion.ts'
import {
  type Crd,
  type CrdNames,
  type CrdSpec,
  type CrdVersion,
  eachSchema,
  isShared,
  readCrd,
  type SharedMember,
  versionsOf,
} from './crd.ts'
import {
  validateColumn,
  validateDeprecation,
  validateSchema,
  validateSelectableFields,
  validateSubresources,
} from './version-validation.ts'

type Findings = Generator<FieldError, void, undefined>

const specPath = field.Path.of('spec')
const versionsPath = specPath.child('versions')
const namesPath = specPath.child('names')

/**
 * Validates a CustomResourceDefinition, new or updated, beyond its metadata. Paths are those of upstream's
 * internal type: members that all versions share are reported at `spec`, not at the version.
 */
export function validateCrd(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const crd = readCrd(object)
  const before = old && readCrd(old)
  return [
    ...(before ? [] : validateName(crd)),
    ...validateSpec(crd.spec, before?.spec, old),
    ...(before
      ? [
          ...(isEstablished(old) ? validateEstablishedUpdate(crd.spec, before.spec) : []),
          ...validateSpecUpdate(crd.spec, before.spec),
        ]
      : []),
    ...validateStoredVersions(crd),
    ...(isProtectedGroup(crd.spec.group ?? '')
      ? validateApproval(crd.metadata.annotations, before?.metadata)
      : []),
    ...validatePreserve(crd.spec, before?.spec),
  ]
}

function isEstablished(object: JsonObject | undefined): boolean {
  return isConditionTrue(object?.status as JsonObject | undefined, 'Established')
}

function* validateName({ metadata, spec }: Crd): Findings {
  if (metadata.name === `${spec.names?.plural ?? ''}.${spec.group ?? ''}`) return
  yield field.invalid(
    field.Path.of('metadata', 'name'),
    metadata.name ?? '',
    'must be spec.names.plural+"."+spec.group',
  )
}

function* validateSpec(spec: CrdSpec, before: CrdSpec | undefined, old: JsonObject | undefined): Findings {
  yield* validateGroup(spec.group ?? '')
  const scope = spec.scope ?? ''
  if (scope === '') yield field.required(specPath.child('scope'))
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    yield field.notSupported(specPath.child('scope'), scope, ['Cluster', 'Namespaced'])
  }
  const versions = versionsOf(spec)
  for (const [index, version] of versions.entries()) {
    if (!version.schema?.openAPIV3Schema) {
      yield field.required(versionsPath.index(index).child('schema', 'openAPIV3Schema'))
    }
  }
  if (spec.preserveUnknownFields && versions.some(hasDefaults)) {
    const detail = 'must be false in order to use defaults in the schema'
    yield field.invalid(specPath.child('preserveUnknownFields'), true, detail)
  }
  const shared = sharedMembers(spec)
  const known = versionsByName(before)
  for (const [index, version] of versions.entries()) {
    const path = versionsPath.index(index)
    const wrong = isDNS1035Label(version.name ?? '')
    if (wrong.length > 0) yield field.invalid(path.child('name'), version.name ?? '', wrong.join(','))
    yield* validateDeprecation(version, path)
    yield* validateMembers(spec, version, path, known, member => !shared.has(member))
  }
  yield* validateVersionList(spec, shared)
  const [first] = versions
  const wrong = first?.name ? isDNS1035Label(first.name) : []
  if (wrong.length > 0) yield field.invalid(specPath.child('version'), first!.name, wrong.join(','))
  yield* validateNames(spec.names ?? {})
  if (first) yield* validateMembers(spec, first, specPath, known, member => shared.has(member))
  if (!spec.conversion) return
  const conversionPath = specPath.child('conversion')
  if (spec.conversion.strategy !== 'None' && spec.preserveUnknownFields) {
    const detail = 'must be None if spec.preserveUnknownFields is true'
    yield field.invalid(conversionPath.child('strategy'), spec.conversion.strategy, detail)
  }
  const reviews = reviewVersionsOf(before?.conversion)
  yield* validateConversion(spec.conversion, conversionPath, {
    requireRecognizedVersion: reviews.length === 0 || isRecognizedReview(reviews),
    allowInvalidBundle: !isEstablished(old) || hasBadBundle(before),
  })
}

function* validateGroup(group: string): Findings {
  const path = specPath.child('group')
  if (group === '') {
    yield field.required(path)
    return
  }
  const wrong = isDNS1123Subdomain(group)
  if (wrong.length > 0) yield field.invalid(path, group, wrong.join(','))
  else if (!group.includes('.')) yield field.invalid(path, group, 'should be a domain with at least one dot')
}

function hasDefaults({ schema }: CrdVersion): boolean {
  if (!schema?.openAPIV3Schema) return false
  for (const node of eachSchema(schema.openAPIV3Schema)) if (node.default !== undefined) return true
  return false
}

function hasBadBundle(spec: CrdSpec | undefined): boolean {
  const webhook = spec?.conversion?.webhook
  const config = isObject(webhook) && isObject(webhook.clientConfig) ? webhook.clientConfig : {}
  return Boolean(config.caBundle) && !isReadableBundle(config.caBundle)
}

/** The members of a version that may be shared by all versions; `applies` says which to validate here. */
function* validateMembers(
  spec: CrdSpec,
  version: CrdVersion,
  path: field.Path,
  known: ReadonlyMap<string | undefined, CrdVersion>,
  applies: (member: SharedMember) => boolean,
): Findings {
  const atSpec = path === specPath
  if (applies('schema')) {
    const hasStatus = atSpec
      ? versionsOf(spec).some(candidate => isObject(candidate.subresources?.status))
      : isObject(version.subresources?.status)
    const was = known.get(version.name)
    const unchanged = was !== undefined && deepEqual(was.schema, version.schema)
    yield* validateSchema(version.schema, path.child(atSpec ? 'validation' : 'schema'), {
      hasStatus,
      unchanged,
    })
  }
  if (applies('subresources')) yield* validateSubresources(version.subresources, path.child('subresources'))
  if (applies('additionalPrinterColumns')) {
    for (const [index, column] of (version.additionalPrinterColumns ?? []).entries()) {
      yield* validateColumn(column, path.child('additionalPrinterColumns').index(index))
    }
  }
  const fields = version.selectableFields ?? []
  if (!applies('selectableFields') || fields.length === 0) return
  const schema: Schema | undefined = version.schema?.openAPIV3Schema
  const at = path.child('selectableFields')
  if (!schema) {
    yield field.invalid(at, '', 'may only be set when validations.schema is included')
    return
  }
  const was = known.get(version.name)?.selectableFields
  yield* validateSelectableFields(fields, schema, at, deepEqual(was, fields))
}

/** The versions before an update. */
function versionsByName(spec: CrdSpec | undefined): Map<string | undefined, CrdVersion> {
  const known = new Map<string | undefined, CrdVersion>()
  for (const version of versionsOf(spec ?? {})) if (!known.has(version.name)) known.set(version.name, version)
  return known
}

function sharedMembers(spec: CrdSpec): ReadonlySet<SharedMember> {
  const members = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const
  return new Set(members.filter(member => isShared(spec, member)))
}

function* validateVersionList(spec: CrdSpec, shared: ReadonlySet<SharedMember>): Findings {
  const versions = versionsOf(spec)
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    yield field.invalid(versionsPath, printVersions(spec, shared), 'must contain unique version names')
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version'
    yield field.invalid(versionsPath, printVersions(spec, shared), detail)
  }
}

/** The versions as upstream prints them, without what all of them share. */
function printVersions(spec: CrdSpec, shared: ReadonlySet<SharedMember>): field.Printed {
  const printed = versionsOf(spec).map(version => {
    const own: JsonObject = { ...version }
    for (const member of shared) delete own[member]
    return goValue('apiextensions.CustomResourceDefinitionVersion', own)
  })
  return field.Printed.inOrder(printed)
}

function* validateNames(names: CrdNames): Findings {
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[name]) yield field.required(namesPath.child(name))
  }
  for (const name of ['plural', 'singular'] as const) {
    const wrong = names[name] ? isDNS1035Label(names[name]) : []
    if (wrong.length > 0) yield field.invalid(namesPath.child(name), names[name], wrong.join(','))
  }
  for (const name of ['kind', 'listKind'] as const) {
    const wrong = names[name] ? isDNS1035Label(names[name].toLowerCase()) : []
    if (wrong.length === 0) continue
    const detail = `may have mixed case, but should otherwise match: ${wrong.join(',')}`
    yield field.invalid(namesPath.child(name), names[name], detail)
  }
  yield* validateLabels(names.shortNames ?? [], namesPath.child('shortNames'))
  if (names.kind && names.kind === names.listKind) {
    yield field.invalid(namesPath.child('listKind'), names.listKind, 'kind and listKind may not be the same')
  }
  yield* validateLabels(names.categories ?? [], namesPath.child('categories'))
}

function* validateLabels(labels: readonly string[], path: field.Path): Findings {
  for (const [index, label] of labels.entries()) {
    const wrong = isDNS1035Label(label)
    if (wrong.length > 0) yield field.invalid(path.index(index), label, wrong.join(','))
  }
}

/** Once a CRD is established, its scope and kind are immutable. */
function validateEstablishedUpdate(spec: CrdSpec, old: CrdSpec): FieldError[] {
  return [
    ...validateImmutableField(spec.scope ?? '', old.scope ?? '', specPath.child('scope')),
    ...validateImmutableField(spec.names?.kind ?? '', old.names?.kind ?? '', namesPath.child('kind')),
  ]
}

/** Names that determine the storage key are immutable. */
function validateSpecUpdate(spec: CrdSpec, old: CrdSpec): FieldError[] {
  return [
    ...validateImmutableField(spec.group ?? '', old.group ?? '', specPath.child('group')),
    ...validateImmutableField(spec.names?.plural ?? '', old.names?.plural ?? '', namesPath.child('plural')),
  ]
}

function* validateStoredVersions({ spec, status }: Crd): Findings {
  const path = field.Path.of('status', 'storedVersions')
  const stored = status?.storedVersions ?? []
  if (stored.length === 0) {
    yield field.invalid(path, null, 'must have at least one stored version')
    return
  }
  const storedNames = new Set(stored)
  const known = new Set<string>()
  for (const { name = '', storage } of versionsOf(spec)) {
    known.add(name)
    if (storage && !storedNames.has(name)) {
      yield field.invalid(path, stored, `must have the storage version ${name}`)
    }
  }
  for (const [index, name] of stored.entries()) {
    if (known.has(name)) continue
    yield field.invalid(
      path.index(index),
      name,
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
    )
  }
}

function* validatePreserve(spec: CrdSpec, old: CrdSpec | undefined): Findings {
  if (!spec.preserveUnknownFields || old?.preserveUnknownFields) return
  yield field.invalid(
    specPath.child('preserveUnknownFields'),
    true,
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
  )
}
