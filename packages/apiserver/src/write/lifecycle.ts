import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepClone, deepEqual, type JsonObject, writeJson } from '@coxswain/apimachinery/json'
import type { ManagedFieldsEntry, ObjectMeta } from '@coxswain/apimachinery/meta'
import { newBadRequest, newInvalid } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  nameIsDNSSubdomain,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@coxswain/apimachinery/validation'
import { type Endpoint, ownerGroup } from '../registry/registry.ts'
import { metadataOf } from './metadata.ts'
import type { Admitted, Write } from './write.ts'

const generatedNameBase = 58

function hasStatus({ version }: Endpoint): boolean {
  return version.subresources.some(subresource => subresource.name === 'status')
}

export function dedupeOwners(write: Write): void {
  dropRepeatedOwners(write, '')
}

export function dedupeAdmittedOwners(write: Write): void {
  dropRepeatedOwners(write, ' after mutating admission happens')
}

/** Removes duplicate owner references, with a warning. */
function dropRepeatedOwners({ context, object }: Write, when: string): void {
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
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  )
}

/** Sets the path's namespace; another one in the object is an error, and is dropped for cluster-scoped kinds. */
export function placeInNamespace({ context, endpoint, object }: Write): void {
  placeAt(endpoint, object, context.info.namespace)
}

export function placeAt({ resource }: Endpoint, object: JsonObject, namespace: string): void {
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
export function prepareForCreate(write: Write): Promise<void> | void {
  const { endpoint, object, strategyContext } = write
  const { clock, random } = strategyContext
  const { resource } = endpoint
  const metadata = metadataOf(object)
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  if (metadata.generateName && !metadata.name) {
    metadata.name = metadata.generateName.slice(0, generatedNameBase) + random.suffix(5)
  }
  metadata.uid = random.uuid()
  metadata.creationTimestamp = formatTime(clock.now())
  if (resource.countsGenerations) metadata.generation = 1
  resetStatus(endpoint, object)
  return resource.strategy.prepareForCreate?.(object, strategyContext)
}

/** A status with a subresource of its own begins empty, in the form of the kind's type. */
function resetStatus(endpoint: Endpoint, object: JsonObject): void {
  const { resource } = endpoint
  if (!hasStatus(endpoint) || resource.strategy.statusOnCreate === 'keep') return
  delete object.status
  const status = resource.emptyStatus(endpoint)
  if (status !== undefined) object.status = deepClone(status)
}

/** Claims entries of shared pools for the object; writes of subresources claim nothing. */
export function claim(write: Write): Promise<void> | void {
  const { endpoint, object, old, strategyContext } = write
  const { strategy } = endpoint.resource
  if (!strategy.claim || isPartial(write)) return
  if (!old) write.unclaimed ??= deepClone(object)
  const made = strategy.claim(object, old, strategyContext)
  if (!(made instanceof Promise)) {
    write.claim = made
    return
  }
  return made.then(claimed => {
    write.claim = claimed
  })
}

/** Whether a write is of a subresource that changes a part of the object. */
function isPartial({ endpoint, subresource }: Write): boolean {
  return subresource === 'status' || endpoint.resource.strategy.subresources?.[subresource] !== undefined
}

/** Carries over what a write cannot change. */
export function prepareForUpdate(write: Write): Promise<void> | void {
  const { endpoint, object, old, strategyContext, subresource } = write
  keepSystemMetadata(object, old!)
  const part = endpoint.resource.strategy.subresources?.[subresource]
  if (part) part.prepareForUpdate(object, old!, strategyContext)
  else if (subresource === 'status') prepareStatus(write, old!)
  else return prepareWhole(write, old!)
}

/** Keeps the old status when it is a subresource. */
function prepareWhole({ endpoint, object, strategyContext }: Write, old: JsonObject): Promise<void> | void {
  if (hasStatus(endpoint)) {
    if (old.status === undefined) delete object.status
    else object.status = old.status
  }
  const pending = endpoint.resource.strategy.prepareForUpdate?.(object, old, strategyContext)
  if (pending) return pending.then(() => countGeneration(endpoint, object, old))
  countGeneration(endpoint, object, old)
}

function countGeneration(endpoint: Endpoint, object: JsonObject, old: JsonObject): void {
  if (endpoint.resource.countsGenerations && hasChangedSpec(endpoint, object, old))
    metadataOf(object).generation = (metadataOf(old).generation ?? 0) + 1
}

/** Changes only the status, and the metadata that the resource allows such a write to change. */
function prepareStatus({ endpoint, object, strategyContext }: Write, old: JsonObject): void {
  const { status } = object
  const metadata = endpoint.resource.statusMetadata(object, old)
  for (const key of Object.keys(object)) delete object[key]
  Object.assign(object, old, { metadata: dropUndefined(metadata) })
  if (status === undefined) delete object.status
  else object.status = status
  endpoint.resource.strategy.prepareForStatusUpdate?.(object, old, strategyContext)
}

function dropUndefined(object: JsonObject): JsonObject {
  for (const key of Object.keys(object)) if (object[key] === undefined) delete object[key]
  return object
}

/** Metadata that a client omits is kept; validation checks what it changes. */
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

function hasChangedSpec(endpoint: Endpoint, object: JsonObject, old: JsonObject): boolean {
  const ignored = hasStatus(endpoint) ? ['metadata', 'status'] : ['metadata']
  const keys = new Set([...Object.keys(object), ...Object.keys(old)])
  for (const key of keys) if (!ignored.includes(key) && !deepEqual(object[key], old[key])) return true
  return false
}

/** Only the server sets resourceVersion. */
export function keepVersion({ object, old }: Write): void {
  metadataOf(object).resourceVersion = metadataOf(old!).resourceVersion!
}

/**
 * Restores the timestamps of managed fields when nothing else changed. Field managers compare what clients send; only here are
 * values canonical and defaults set.
 */
export function keepTimestamps({ object, old }: Write): void {
  const { managedFields: next = [], ...metadata } = object.metadata as unknown as ObjectMeta
  const { managedFields: before = [], ...oldMetadata } = old!.metadata as unknown as ObjectMeta
  if (next.length !== before.length || next.every(({ time }, index) => time === before[index]!.time)) return
  if (!deepEqual(next.map(withoutTime), before.map(withoutTime))) return
  if (deepEqual({ ...object, metadata }, { ...old!, metadata: oldMetadata }))
    (object.metadata as unknown as ObjectMeta).managedFields = before
}

function withoutTime(entry: ManagedFieldsEntry): unknown {
  return { ...entry, time: undefined }
}

/** Throws a 422 with all errors of the object; for a status update, of its status. */
export function validate({ endpoint, object, old, strategyContext: context, subresource }: Write): void {
  const { resource } = endpoint
  const { strategy, info } = resource
  const path = field.Path.of('metadata')
  const metadata = metadataOf(object) as unknown as ObjectMeta
  const change = old && { old, subresource }
  resource.checkType(endpoint, object)
  const rules = { namespaced: info.namespaced, validateName: strategy.validateName ?? nameIsDNSSubdomain }
  const errors = new field.ErrorList(validateObjectMeta(metadata, rules, path))
  if (resource.qualifiesFinalizers)
    errors.addAll(validateFinalizerNames(metadata.finalizers ?? [], path.child('finalizers')))
  if (change)
    errors.addAll(validateObjectMetaUpdate(metadata, metadataOf(change.old) as unknown as ObjectMeta, path))
  errors.addAll(resource.validateSchema(endpoint, object, change))
  const part = change && strategy.subresources?.[change.subresource]
  if (part) {
    errors.addAll(part.validateUpdate(object, change.old, context))
  } else if (change?.subresource === 'status') {
    errors.addAll(strategy.validateStatusUpdate?.(object, change.old, context) ?? [])
  } else {
    errors.addAll(strategy.validate?.(object, context, change?.old) ?? [])
    if (change) errors.addAll(strategy.validateUpdate?.(object, change.old, context) ?? [])
  }
  errors.addAll(resource.validateRules({ context, endpoint, object, old }, errors))
  if (errors.length > 0)
    throw newInvalid({ group: ownerGroup(info), kind: info.kind }, metadata.name ?? '', errors)
}

/** Sends the strategy's warnings about the object. */
export function warn({ context, endpoint, object, old, subresource }: Write): void {
  const { warnings, statusWarnings = warnings } = endpoint.resource.strategy
  const texts = old && subresource === 'status' ? statusWarnings?.(object, old) : warnings?.(object, old)
  if (texts) context.warnings.pushAll(texts)
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

/** Lets mutating admission change the object, or reject the write. */
export function mutate<W extends Admitted<W>>(write: W): Promise<void> | void {
  const attributes = write.describe(write)
  write.attributes = attributes
  return write.ports.admission.mutate(attributes)
}

/** Lets validating admission reject the write. */
export function admit<W extends Admitted<W>>(write: W): Promise<void> | void {
  const { ports, attributes, generated, object } = write
  if (generated) attributes!.name = metadataOf(object).name!
  return ports.admission.validate(attributes!)
}

/** Records in `metadata.managedFields` which manager wrote which fields. */
export function trackManagedFields(write: Write): void {
  const { ports, endpoint, object, old, options, operation } = write
  const tracked = ports.fieldManagers.of(endpoint).update({
    live: old,
    next: object,
    manager: options.fieldManager,
    subresource: operation === 'CREATE' ? '' : write.subresource,
  })
  const { managedFields } = tracked.metadata as { managedFields?: unknown }
  const metadata = metadataOf(object)
  if (managedFields === undefined) delete metadata.managedFields
  else metadata.managedFields = managedFields
}
