import { getOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
import { deepEqual } from '../json/value.ts'
import { formatGroupVersionKind, gvkOf } from '../meta/gvk.ts'
import type { ManagedFieldsEntry } from '../meta/meta.ts'
import type { Schema } from '../schema/schema.ts'
import { newBadRequest, newInternalError } from '../status/constructors.ts'
import { conflictError } from './conflict.ts'
import {
  difference,
  emptyFieldSet,
  type FieldSet,
  isEmptySet,
  isSubset,
  restrict,
  union,
} from './field-set.ts'
import { allowedConflicts, hasLastApplied, kubectlManager, withLastApplied } from './last-applied.ts'
import {
  capUpdaters,
  decodeManagedFields,
  encodeManagedFields,
  isReset,
  type Manager,
  type Managers,
  managerIdentifier,
} from './managed-fields.ts'
import { TypedValueError } from './path-element.ts'
import { createResetFilter, type ResetFields } from './reset-fields.ts'
import { objectSchema, type TypeNode, typeNodeOf } from './type-node.ts'
import { printTypedError, validateTyped } from './typed-walk.ts'
import { applyConfig, type Change, type Conflict, ConflictError, trackUpdate } from './updater.ts'
import type { UpdaterContext } from './updater-context.ts'

export interface FieldManagerOptions {
  /** The version of requests; every given object has it. */
  readonly apiVersion: string
  readonly kind: string
  /** The schema of the whole object. A custom kind's may leave out apiVersion, kind and metadata. */
  readonly schema: Schema
  /** Fields that are not declared are merged too. @default false */
  readonly preserveUnknownFields?: boolean
  /** The kind's other versions, which older entries of managedFields may use. @default none */
  readonly versions?: {
    /** `undefined` for a version that does not exist: its managers are dropped. */
    readonly schemaOf: (apiVersion: string) => Schema | undefined
    readonly convert: (object: PlainObject, apiVersion: string) => PlainObject | undefined
  }
  /** Fields that a request cannot change, by subresource (empty for the object itself) and version. @default none */
  readonly resetFields?: (subresource: string, apiVersion: string) => ResetFields | undefined
  /**
   * The object before its creation: the creator does not own fields that are already set. Built-in types
   * have fields that are always written. @default apiVersion and kind
   */
  readonly emptyObject?: PlainObject
  /** The time of an operation, RFC 3339 with seconds. */
  readonly now: () => string
}

export interface UpdateRequest {
  /** The stored object; `undefined` when it is created. */
  readonly live: PlainObject | undefined
  /** The object to store, as the client's write makes it. */
  readonly next: PlainObject
  readonly manager: string
  /** @default the object itself */
  readonly subresource?: string
}

export interface ApplyRequest {
  readonly live: PlainObject | undefined
  /** The applied configuration. */
  readonly patch: PlainObject
  readonly manager: string
  /** Take over fields that other managers own. @default false */
  readonly force?: boolean
  /** @default the object itself */
  readonly subresource?: string
}

/**
 * Maintains `metadata.managedFields` of one kind at one version. Objects are never changed; results share unchanged
 * parts with them.
 */
export interface FieldManager {
  /**
   * `next` with the fields that it changes owned by `manager`. A write that changes nothing keeps the entries as they
   * are. An object that does not match its schema loses them, as upstream decides.
   */
  update(request: UpdateRequest): PlainObject
  /**
   * `live` after a server-side apply. Throws a StatusError: 400 for a patch that does not match the schema, 409 with a cause for each
   * field that another manager owns. Defaults are the caller's to set.
   */
  apply(request: ApplyRequest): PlainObject
}

/** Creates the field manager of one kind, for updates and server-side apply. */
export function createFieldManager(options: FieldManagerOptions): FieldManager {
  const context = createContext(options)
  return {
    update: request => update(options, context(request.subresource ?? ''), request),
    apply: request => apply(options, context(request.subresource ?? ''), request),
  }
}

/** Never owned by a manager. */
const unowned: FieldSet = {
  'f:apiVersion': emptyFieldSet,
  'f:kind': emptyFieldSet,
  'f:metadata': Object.fromEntries(
    [
      '.',
      'f:name',
      'f:namespace',
      'f:creationTimestamp',
      'f:selfLink',
      'f:uid',
      'f:clusterName',
      'f:generation',
      'f:managedFields',
      'f:resourceVersion',
    ].map(element => [element, emptyFieldSet]),
  ),
}

function createContext(options: FieldManagerOptions): (subresource: string) => UpdaterContext {
  const { apiVersion, preserveUnknownFields, versions } = options
  const nodeOf = (schema: Schema): TypeNode => typeNodeOf(objectSchema(schema), preserveUnknownFields)
  const own = nodeOf(options.schema)
  const contexts = new Map<string, UpdaterContext>()
  return subresource => {
    let context = contexts.get(subresource)
    if (context !== undefined) return context
    const filters = new Map<string, (set: FieldSet) => FieldSet>()
    context = {
      apiVersion,
      typeOf: version => {
        if (version === apiVersion) return own
        const schema = versions?.schemaOf(version)
        return schema === undefined ? undefined : nodeOf(schema)
      },
      convert: (object, version) =>
        object.apiVersion === version || (object.apiVersion === undefined && version === apiVersion)
          ? object
          : versions?.convert(object, version),
      filter: (set, version) => {
        let filter = filters.get(version)
        if (filter === undefined) {
          filter = createResetFilter(options.resetFields?.(subresource, version))
          filters.set(version, filter)
        }
        return filter(set)
      },
    }
    contexts.set(subresource, context)
    return context
  }
}

function update(options: FieldManagerOptions, context: UpdaterContext, request: UpdateRequest): PlainObject {
  const { live, next, subresource = '' } = request
  if (!isPlainObject(next.metadata)) return next
  const liveEntries = entriesOf(live)
  const nextEntries = entriesOf(next)
  const isOwn = subresource !== '' || nextEntries === undefined || deepEqual(nextEntries, liveEntries)
  try {
    const managers = isOwn ? decodeOrEmpty(liveEntries) : decodeRequested(nextEntries, liveEntries)
    if (managers.size === 0 && hasUid(live)) return withEntries(next, undefined)
    const before = live ?? options.emptyObject ?? { apiVersion: options.apiVersion, kind: options.kind }
    const manager = request.manager === '' ? 'unknown' : request.manager
    const write = { before, after: next, manager, subresource, time: options.now }
    const changed = track(managers, write, context)
    if (!changed && isOwn) return withEntries(next, liveEntries)
    return withEntries(next, encodeManagedFields(managers))
  } catch (error) {
    if (error instanceof TypedValueError || error instanceof RangeError) return withEntries(next, undefined)
    throw error
  }
}

/** A change, who makes it, and when. */
interface TrackedWrite extends Change {
  readonly manager: string
  readonly subresource: string
  readonly time: () => string
}

/** Gives an updater ownership of what it changes; false if no manager changes. Changes `managers`. */
function track(managers: Managers, write: TrackedWrite, context: UpdaterContext): boolean {
  const { before, after, manager, subresource, time } = write
  const known = new Map(managers)
  const changes = trackUpdate(managers, { before: tracked(before), after: tracked(after) }, context)
  const set = changes === undefined ? emptyFieldSet : difference(changes, unowned)
  if (!isEmptySet(set)) {
    const { apiVersion } = context
    const identity = { manager, subresource, operation: 'Update', apiVersion } as const
    const id = managerIdentifier(identity)
    const previous = managers.get(id)
    const owned = previous === undefined ? set : union(set, previous.set)
    managers.set(id, { ...identity, set: owned, time: time() })
    capUpdaters(managers)
    return true
  }
  return known.size !== managers.size || [...known].some(([id, manager]) => managers.get(id) !== manager)
}

function apply(options: FieldManagerOptions, context: UpdaterContext, request: ApplyRequest): PlainObject {
  const { live, patch, manager } = request
  checkPatch(options, patch, context.typeOf(options.apiVersion)!)
  try {
    let result: PlainObject
    try {
      result = applyOnce(options, context, request)
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      result = applyAgain(options, context, request, error)
    }
    if (manager !== kubectlManager || live === undefined || !hasLastApplied(result)) return result
    return withLastApplied(result, patch)
  } catch (error) {
    if (error instanceof TypedValueError) {
      throw newInternalError(`failed to create typed live object: ${printTypedError(error)}`)
    }
    if (error instanceof RangeError) throw newBadRequest('the object is nested too deep')
    throw error
  }
}

/** Conflicts with kubectl's own client-side apply are ignored; others become the 409. */
function applyAgain(
  options: FieldManagerOptions,
  context: UpdaterContext,
  request: ApplyRequest,
  error: ConflictError,
): PlainObject {
  const { live, manager } = request
  let conflicts = error.conflicts
  if (manager === kubectlManager && live !== undefined) {
    const allowed = allowedConflicts(live, options.apiVersion, context.typeOf(options.apiVersion)!)
    if (allowed !== undefined) {
      conflicts = conflicts
        .map((conflict): Conflict => ({ ...conflict, set: difference(conflict.set, allowed) }))
        .filter(conflict => !isEmptySet(conflict.set))
      if (conflicts.length === 0) return applyOnce(options, context, { ...request, force: true })
    }
  }
  throw conflictError(conflicts, error.managers)
}

function applyOnce(
  options: FieldManagerOptions,
  context: UpdaterContext,
  request: ApplyRequest,
): PlainObject {
  const { live, patch, manager, subresource = '', force = false } = request
  const managers = decodeLive(live)
  if (managers.size === 0 && live !== undefined) {
    const empty = options.emptyObject ?? { apiVersion: options.apiVersion, kind: options.kind }
    const write = {
      before: empty,
      after: live,
      manager: 'before-first-apply',
      subresource,
      time: options.now,
    }
    track(managers, write, context)
  }
  const identity = { manager, operation: 'Apply', subresource, apiVersion: options.apiVersion } as const
  const id = managerIdentifier(identity)
  const last = managers.get(id)
  const before = live ?? {}
  const config = { live: before, config: patch, id, manager: identity, force }
  const next = applyConfig(managers, config, context)
  const isChanged = live === undefined || !deepEqual(next, live)
  finishManager(managers, id, { last, time: isChanged ? options.now() : last?.time })
  return withEntries(next, encodeManagedFields(managers))
}

/** Strips the applier's set and sets its time. An unchanged entry is stored again as it is. */
function finishManager(
  managers: Managers,
  id: string,
  { last, time }: { readonly last: Manager | undefined; readonly time: string | undefined },
): void {
  const applied = managers.get(id)
  if (applied === undefined) return
  const set = difference(applied.set, unowned)
  if (isEmptySet(set)) managers.delete(id)
  else if (last?.entry === undefined || !isSubset(set, last.set)) managers.set(id, { ...applied, set, time })
  else if (!isSubset(last.set, set)) {
    // Taken from the old set, which is already ordered.
    managers.set(id, { ...applied, set: restrict(last.set, set), time })
  } else if (last.time === time && last.apiVersion === applied.apiVersion) managers.set(id, last)
  else {
    const { fieldsV1 } = last.entry
    managers.set(id, { ...applied, set: last.set, time, ...(fieldsV1 && { fields: fieldsV1 }) })
  }
}

function checkPatch(options: FieldManagerOptions, patch: PlainObject, type: TypeNode): void {
  const gvk = gvkOf({
    apiVersion: typeof patch.apiVersion === 'string' ? patch.apiVersion : '',
    kind: typeof patch.kind === 'string' ? patch.kind : '',
  })
  const name = formatGroupVersionKind(gvk)
  if (patch.apiVersion !== options.apiVersion || patch.kind !== options.kind) {
    throw newBadRequest(`invalid object type: ${name}`)
  }
  const metadata = isPlainObject(patch.metadata) ? patch.metadata : {}
  if (Array.isArray(getOwn(metadata, 'managedFields')))
    throw newBadRequest('metadata.managedFields must be nil')
  try {
    validateTyped(patch, type)
  } catch (error) {
    if (error instanceof RangeError) throw newBadRequest('the object is nested too deep')
    if (!(error instanceof TypedValueError)) throw error
    const subject = `${textOf(metadata.namespace)}/${textOf(metadata.name)}; ${name}`
    throw newBadRequest(`failed to create typed patch object (${subject}): ${printTypedError(error)}`)
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function entriesOf(object: PlainObject | undefined): unknown {
  const metadata = object?.metadata
  return isPlainObject(metadata) ? (getOwn(metadata, 'managedFields') ?? undefined) : undefined
}

function hasUid(object: PlainObject | undefined): boolean {
  return isPlainObject(object?.metadata) && textOf(object.metadata.uid) !== ''
}

function decodeOrEmpty(entries: unknown): Managers {
  try {
    return decodeManagedFields(entries)
  } catch (error) {
    if (error instanceof TypedValueError) return new Map()
    throw error
  }
}

/** A client may set managedFields explicitly; one that sends none, or invalid ones, leaves them unchanged. */
function decodeRequested(entries: unknown, liveEntries: unknown): Managers {
  if (isReset(entries)) return new Map()
  const managers = decodeOrEmpty(entries)
  if (managers.size === 0) return decodeOrEmpty(liveEntries)
  for (const [id, { entry: _entry, ...manager }] of managers) managers.set(id, manager)
  return managers
}

function decodeLive(live: PlainObject | undefined): Managers {
  try {
    return decodeManagedFields(entriesOf(live))
  } catch (error) {
    if (error instanceof TypedValueError) {
      throw newInternalError(`failed to decode managed fields: ${printTypedError(error)}`)
    }
    throw error
  }
}

/** The object without fields that are never owned and change with every write. */
function tracked(object: PlainObject): PlainObject {
  if (!isPlainObject(object.metadata)) return object
  const { managedFields, resourceVersion, uid, creationTimestamp, generation, ...metadata } = object.metadata
  return { ...object, metadata }
}

function withEntries(object: PlainObject, entries: unknown): PlainObject {
  const metadata = isPlainObject(object.metadata) ? object.metadata : {}
  if (getOwn(metadata, 'managedFields') === entries) return object
  const { managedFields: _managedFields, ...rest } = metadata
  if (entries === undefined) return { ...object, metadata: rest }
  return { ...object, metadata: { ...rest, managedFields: entries as ManagedFieldsEntry[] } }
}
