import { decodeBuiltin } from '@coxswain/api'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepClone, deepEqual, type JsonObject, writeJson } from '@coxswain/apimachinery/json'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { compileSchema, type Schema } from '@coxswain/apimachinery/schema'
import { newBadRequest, newConflict, newInvalid } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  nameIsDNSSubdomain,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@coxswain/apimachinery/validation'
import type { StrategyContext } from '@coxswain/strategies'
import { runRules } from '../custom-resources/rule-run.ts'
import { findSkippedRules, hasRules } from '../custom-resources/rules.ts'
import type { Endpoint } from '../registry/registry.ts'
import { apiVersionOf, ownerGroup, type ServedResource } from '../registry/served-resource.ts'

export type Metadata = JsonObject & {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: JsonObject[]
}

export function metadataOf(object: JsonObject): Metadata {
  return object.metadata as Metadata
}

const generatedNameBase = 58

export function hasStatus({ version }: Endpoint): boolean {
  return version.subresources.some(subresource => subresource.name === 'status')
}

/** An owner that stands there twice is kept once, and the client is told. */
export function dedupeOwners(
  context: { readonly warnings: { push(text: string): void } },
  object: JsonObject,
  when: string = '',
): void {
  const metadata = metadataOf(object)
  const owners = metadata.ownerReferences
  if (!owners || owners.length < 2) return
  const seen = new Set<unknown>()
  const repeated = new Set<string>()
  const kept = owners.filter(owner => {
    const text = writeJson(owner)
    if (seen.has(text)) repeated.add(String(owner.uid))
    return !seen.has(text) && seen.add(text)
  })
  if (repeated.size === 0) return
  metadata.ownerReferences = kept
  context.warnings.push(
    `.metadata.ownerReferences contains duplicate entries${when && ` ${when}`}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  )
}

/** The path's namespace goes into the object; another one there is a mistake, and no matter where there are none. */
export function placeInNamespace(resource: ServedResource, object: JsonObject, namespace: string): void {
  const metadata = metadataOf(object)
  if (!resource.info.namespaced) {
    delete metadata.namespace
    return
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw newBadRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  }
  metadata.namespace = namespace
}

/** Sets what only the server decides about a new object. */
export async function prepareForCreate(
  context: StrategyContext,
  endpoint: Endpoint,
  object: JsonObject,
): Promise<void> {
  const { clock, random } = context
  const metadata = metadataOf(object)
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  if (metadata.generateName && !metadata.name) {
    metadata.name = metadata.generateName.slice(0, generatedNameBase) + random.suffix(5)
  }
  metadata.uid = random.uuid()
  metadata.creationTimestamp = formatTime(clock.now())
  if (followsGeneration(endpoint)) metadata.generation = 1
  resetStatus(endpoint, object)
  await endpoint.resource.strategy.prepareForCreate?.(object, context)
}

/** A status that has an endpoint of its own begins empty, in the form the kind's type gives it. */
function resetStatus(endpoint: Endpoint, object: JsonObject): void {
  const { resource, version } = endpoint
  if (!hasStatus(endpoint) || resource.strategy.statusOnCreate === 'keep') return
  delete object.status
  if (resource.custom) return
  let status = emptyStatuses.get(version)
  if (status === undefined) {
    const { group, kind } = resource.info
    status = decodeBuiltin({ group, version: version.name, kind }, {}).object.status ?? null
    emptyStatuses.set(version, status)
  }
  if (status !== null) object.status = deepClone(status)
}

/** What the status of a new object is, null where there is none; by its version. */
const emptyStatuses = new WeakMap<object, unknown>()

/** Whether `metadata.generation` counts changes of the object's wishes. */
function followsGeneration({ resource }: Endpoint): boolean {
  return resource.custom || resource.strategy.generation === true
}

/** Carries over what a client cannot change; the status too where it has an endpoint of its own. */
export async function prepareForUpdate(
  context: StrategyContext,
  endpoint: Endpoint,
  object: JsonObject,
  old: JsonObject,
): Promise<void> {
  keepSystemMetadata(object, old)
  if (hasStatus(endpoint)) {
    if (old.status === undefined) delete object.status
    else object.status = old.status
  }
  await endpoint.resource.strategy.prepareForUpdate?.(object, old, context)
  if (followsGeneration(endpoint) && hasChangedWishes(endpoint, object, old)) {
    metadataOf(object).generation = (metadataOf(old).generation ?? 0) + 1
  }
}

/** Only the status changes; for built-in kinds what is the author's of the metadata too. */
export function prepareForStatusUpdate(
  context: StrategyContext,
  endpoint: Endpoint,
  object: JsonObject,
  old: JsonObject,
): void {
  keepSystemMetadata(object, old)
  const status = object.status
  const metadata = endpoint.resource.custom
    ? { ...metadataOf(old), managedFields: metadataOf(object).managedFields }
    : { ...metadataOf(object) }
  for (const key of Object.keys(object)) delete object[key]
  Object.assign(object, old, { metadata: dropUndefined(metadata) })
  if (status === undefined) delete object.status
  else object.status = status
  endpoint.resource.strategy.prepareForStatusUpdate?.(object, old, context)
}

/** Only what the endpoint is about changes. */
export function prepareForPartUpdate(
  context: StrategyContext,
  endpoint: Endpoint,
  object: JsonObject,
  old: JsonObject,
  subresource: string,
): void {
  keepSystemMetadata(object, old)
  endpoint.resource.strategy.subresources?.[subresource]?.prepareForUpdate(object, old, context)
}

function dropUndefined(object: JsonObject): JsonObject {
  for (const key of Object.keys(object)) if (object[key] === undefined) delete object[key]
  return object
}

/** What a client leaves out stays as it was; what it changes is judged by validation. */
const carriedMetadata = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

function keepSystemMetadata(object: JsonObject, old: JsonObject): void {
  const metadata = metadataOf(object) as JsonObject
  const before = metadataOf(old)
  for (const key of carriedMetadata) if (before[key] !== undefined) metadata[key] ??= before[key]
  metadata.creationTimestamp = before.creationTimestamp
  if (before.generation === undefined) delete metadata.generation
  else metadata.generation = before.generation
  delete metadata.selfLink
}

function hasChangedWishes(endpoint: Endpoint, object: JsonObject, old: JsonObject): boolean {
  const ignored = hasStatus(endpoint) ? ['metadata', 'status'] : ['metadata']
  const keys = new Set([...Object.keys(object), ...Object.keys(old)])
  for (const key of keys) if (!ignored.includes(key) && !deepEqual(object[key], old[key])) return true
  return false
}

/** Throws a 409 when the client's uid or version is not the object's. */
export function checkPreconditions(
  resource: ServedResource,
  current: JsonObject,
  wanted: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
): void {
  const { group, kind } = resource.info
  const { name = '', uid, resourceVersion } = metadataOf(current)
  const conflict = (detail: string) => newConflict({ group, resource: kind }, name, detail)
  if (wanted.uid && wanted.uid !== uid) {
    throw conflict(
      `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    )
  }
  if (wanted.resourceVersion && wanted.resourceVersion !== resourceVersion) {
    throw conflict(
      `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    )
  }
}

/** Throws a 422 with everything that is wrong with `object`; of a status update, with its status. */
export function validateObject(
  context: StrategyContext,
  endpoint: Endpoint,
  object: JsonObject,
  change?: { readonly old: JsonObject; readonly subresource: string },
): void {
  const { resource, version } = endpoint
  const { strategy, info, custom } = resource
  const path = field.Path.of('metadata')
  const metadata = metadataOf(object) as unknown as ObjectMeta
  if (custom) checkCustomType(endpoint, object)
  const rules = { namespaced: info.namespaced, validateName: strategy.validateName ?? nameIsDNSSubdomain }
  const errors = new field.ErrorList(validateObjectMeta(metadata, rules, path))
  if (!custom && !strategy.plainFinalizers)
    errors.addAll(validateFinalizerNames(metadata.finalizers ?? [], path.child('finalizers')))
  if (change)
    errors.addAll(validateObjectMetaUpdate(metadata, metadataOf(change.old) as unknown as ObjectMeta, path))
  if (custom) errors.addAll(validateCustom(version.schema(), object, change))
  const part = change && strategy.subresources?.[change.subresource]
  if (part) {
    errors.addAll(part.validateUpdate(object, change.old, context))
  } else if (change?.subresource === 'status') {
    errors.addAll(strategy.validateStatusUpdate?.(object, change.old, context) ?? [])
  } else {
    errors.addAll(strategy.validate?.(object, context, change?.old) ?? [])
    if (change) errors.addAll(strategy.validateUpdate?.(object, change.old, context) ?? [])
  }
  if (custom)
    errors.addAll(askRules(context, version.schema(), object, { old: change?.old, errors: [...errors] }))
  if (errors.length > 0)
    throw newInvalid({ group: ownerGroup(info), kind: info.kind }, metadata.name ?? '', errors)
}

/** What the rules of its schema have against a custom object, unless it is not of the shape that they expect. */
function askRules(
  context: StrategyContext,
  schema: Schema,
  object: JsonObject,
  { old, errors }: { readonly old: JsonObject | undefined; readonly errors: readonly FieldError[] },
): readonly FieldError[] {
  if (!hasRules(schema)) return []
  const skipped = findSkippedRules(schema, errors)
  if (skipped) return [skipped]
  const found = runRules(schema, object, old)
  for (const text of found.warnings) context.warn(text)
  return found.errors
}

/** A custom object of another kind or version is not validated any further. Throws a 422. */
export function checkCustomType({ resource, version }: Endpoint, object: JsonObject): void {
  const { group, kind } = resource.info
  const expected = apiVersionOf(group, version.name)
  const given = { apiVersion: String(object.apiVersion), kind: String(object.kind) }
  const errors: FieldError[] = []
  if (given.kind !== kind) errors.push(field.invalid(field.Path.of('kind'), given.kind, `must be ${kind}`))
  if (given.apiVersion !== expected)
    errors.push(field.invalid(field.Path.of('apiVersion'), given.apiVersion, `must be ${expected}`))
  if (errors.length === 0) return
  const [givenGroup = ''] = given.apiVersion.split('/')
  throw newInvalid({ group: givenGroup, kind: given.kind }, metadataOf(object).name ?? '', errors)
}

/** By its schema; of a status update the status alone, as if it were all there is. */
function validateCustom(
  schema: Schema,
  object: JsonObject,
  change: { readonly old: JsonObject; readonly subresource: string } | undefined,
): FieldError[] {
  if (change?.subresource !== 'status') return compileSchema(schema).validate(object, { old: change?.old })
  const status = schema.properties?.status
  if (!status || object.status === undefined) return []
  const options = { old: change.old.status, path: field.Path.of('status') }
  return compileSchema(status).validate(object.status, options)
}

const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

function validateFinalizerNames(finalizers: readonly string[], path: field.Path): FieldError[] {
  return finalizers.flatMap((name, index) =>
    name.includes('/') || standardFinalizers.has(name)
      ? []
      : [
          field.invalid(
            path.index(index),
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  )
}
