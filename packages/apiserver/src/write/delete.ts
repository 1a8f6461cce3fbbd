import type { JsonObject } from '@coxswain/apimachinery/json'
import { newBadRequest, newConflict, newNotFound, successStatus } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import { getHeader, type WireResponse } from '@coxswain/wire'
import { createAttributes, deleteOptionsObject } from '../admission/create-attributes.ts'
import { encodeStored, StoredObject } from '../cache/stored-object.ts'
import { createMatcher } from '../read/matcher.ts'
import { readPage } from '../read/read.ts'
import { View } from '../read/view.ts'
import { serveOne } from '../registry/convert.ts'
import type { Endpoint } from '../registry/registry.ts'
import { objectKey, ttlOf } from '../registry/served-resource.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseListOptions, validateListOptions } from '../request/list-options.ts'
import { readInteger } from '../request/query.ts'
import { statusResponse } from '../request/response.ts'
import { type DeleteOptions, parseDeleteOptions } from '../request/write-options.ts'
import { bytesOf, readBody } from './body.ts'
import { storeOperations } from './claims.ts'
import { unregisteredKind } from './incoming.ts'
import { checkPreconditions, metadataOf } from './lifecycle.ts'

const attempts = 100
const deleteOptionsKind = { apiVersion: 'v1', kind: 'DeleteOptions' }
const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

/** What became of an object that was to be deleted. */
export type Deletion =
  | { readonly gone: true; readonly object: StoredObject }
  /** It waits for its finalizers or its grace period. */
  | { readonly gone: false; readonly object: StoredObject | JsonObject }

export async function handleDelete(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  const { resource } = endpoint
  const view = new View(context, endpoint)
  const options = readDeleteOptions(context)
  warnOfPropagation(context, endpoint, options)
  await context.state.cache.fresh()
  const outcome = await deleteObject(context, endpoint, context.info.namespace, context.info.name, options)
  if (!outcome.gone || resource.strategy.returnsDeleted) return view.object(200, outcome.object)
  const { uid = '' } = metadataOf(outcome.object.parse())
  const details = {
    name: context.info.name,
    ...(resource.info.group !== '' && { group: resource.info.group }),
    kind: resource.info.resource,
    uid,
  }
  return statusResponse(successStatus(details), getHeader(context.request.headers, 'accept'))
}

export async function handleDeleteCollection(
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const view = new View(context, endpoint)
  const options = readDeleteOptions(context)
  warnOfPropagation(context, endpoint, options)
  const listOptions = parseListOptions(context.query)
  validateListOptions(listOptions, false)
  const page = await readPage(context, endpoint, listOptions, createMatcher(endpoint, listOptions))
  const deleted: StoredObject[] = []
  // The page may be the cache's own list, from which what is deleted goes.
  for (const object of [...page.objects]) {
    const outcome = await deleteObject(context, endpoint, object.namespace, object.name, options).catch(
      ignoreNotFound,
    )
    if (outcome) deleted.push(object)
  }
  return view.list(deleted, {
    ...(endpoint.resource.custom && { continue: '' }),
    resourceVersion: String(page.revision),
  })
}

function warnOfPropagation(
  { warnings }: ResourceContext,
  { resource }: Endpoint,
  { propagationPolicy }: DeleteOptions,
): void {
  const { propagationWarning } = resource.strategy
  if (propagationWarning !== undefined && propagationPolicy === undefined) warnings.push(propagationWarning)
}

function ignoreNotFound(error: unknown): undefined {
  if ((error as { reason?: string }).reason === 'NotFound') return undefined
  throw error
}

function readOptionsBody(context: ResourceContext): JsonObject {
  const { object } = readBody(context, false, deleteOptionsKind)
  const { apiVersion = '', kind = '' } = object as { apiVersion?: string; kind?: string }
  if (kind === '' || kind === deleteOptionsKind.kind) return object
  throw newBadRequest(unregisteredKind(apiVersion, kind))
}

function readDeleteOptions(context: ResourceContext): DeleteOptions {
  if (bytesOf(context).length > 0) return parseDeleteOptions(readOptionsBody(context))
  const { query } = context
  const orphan = query.get('orphanDependents')
  return parseDeleteOptions({
    dryRun: query.getAll('dryRun'),
    gracePeriodSeconds: readInteger(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy'),
    ...(orphan !== undefined && { orphanDependents: orphan === 'true' || orphan === '1' }),
  })
}

/** Who deletes, and where. */
type Deleter = Pick<ResourceContext, 'state' | 'user'> & Partial<ResourceContext>

export async function deleteObject(
  context: Deleter,
  endpoint: Endpoint,
  namespace: string,
  name: string,
  options: DeleteOptions,
): Promise<Deletion> {
  const { state } = context
  const { resource } = endpoint
  const key = objectKey(resource, namespace, name)
  let current = resource.cache.get(key)
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (!current) throw newNotFound(resource.info, name)
    const old = current.parse()
    checkPreconditions(resource, old, options.preconditions)
    if (!options.admitted) {
      const attributes = createAttributes(context, endpoint, {
        operation: 'DELETE',
        subresource: '',
        namespace,
        object: undefined,
        oldObject: await serveOne(endpoint, old),
        dryRun: options.dryRun,
        options: deleteOptionsObject(options),
      })
      await state.admission.mutate(attributes)
      await state.admission.validate(attributes)
    }

    const marked = markForDeletion(context, endpoint, old, options)
    const leaves = !marked || isOver(endpoint, marked)
    if (options.dryRun) return marked ? { gone: false, object: marked } : { gone: true, object: current }
    const value = marked && encodeStored(marked)
    if (value && !leaves && current.hasBytes(value)) return { gone: false, object: current }
    const result = await state.store.transact({
      conditions: [{ key, modRevision: current.revision }],
      operations: value
        ? [{ type: 'put', key, value, ...ttlOf(resource) }]
        : [{ type: 'delete', key }, ...storeOperations(resource.strategy.release?.(old, state.cache))],
    })
    if (result.committed) {
      if (!value || !leaves) {
        await state.cache.waitFor(result.revision)
        return value
          ? { gone: false, object: new StoredObject(key, namespace, name, result.revision, value) }
          : { gone: true, object: current.at(result.revision) }
      }
      const object = new StoredObject(key, namespace, name, result.revision, value)
      const removed = await remove(context, object)
      if (removed) return { gone: true, object: removed }
      await state.cache.fresh()
      current = resource.cache.get(key)
      if (!current) return { gone: true, object }
      continue
    }
    const present: { modRevision: number; value: Uint8Array } | undefined = result.present[0]
    current = present && new StoredObject(key, namespace, name, present.modRevision, present.value)
  }
  throw newConflict(resource.info, name, 'the object changes too fast to be deleted')
}

/** Whether a kind that dies gracefully has no time left, and nothing else to wait for. */
function isOver({ resource }: Endpoint, marked: JsonObject): boolean {
  const { finalizers, deletionGracePeriodSeconds } = metadataOf(marked)
  return Boolean(resource.strategy.gracePeriod) && !finalizers?.length && deletionGracePeriodSeconds === 0
}

/** Takes an object that is marked out of the store; undefined when somebody has changed or removed it meanwhile. */
async function remove({ state }: Deleter, object: StoredObject): Promise<StoredObject | undefined> {
  const result = await state.store.transact({
    conditions: [{ key: object.key, modRevision: object.revision }],
    operations: [{ type: 'delete', key: object.key }],
  })
  if (!result.committed) return undefined
  await state.cache.waitFor(result.revision)
  return object.at(result.revision)
}

/** The object as it waits for its end; undefined when nothing holds it. */
function markForDeletion(
  context: Deleter,
  { resource }: Endpoint,
  old: JsonObject,
  options: DeleteOptions,
): JsonObject | undefined {
  const { strategy } = resource
  const finalizers = new Set(metadataOf(old).finalizers ?? [])
  const policy = options.propagationPolicy ?? (strategy.propagation === 'orphan' ? 'Orphan' : undefined)
  if (policy !== undefined && strategy.propagation !== 'unsupported') {
    finalizers.delete(orphanFinalizer)
    finalizers.delete(foregroundFinalizer)
    if (policy === 'Orphan') finalizers.add(orphanFinalizer)
    if (policy === 'Foreground') finalizers.add(foregroundFinalizer)
  }
  const isPending = metadataOf(old).deletionTimestamp !== undefined
  // Once it is marked, only the client's own word shortens the time.
  const grace = isPending
    ? (options.gracePeriodSeconds ?? metadataOf(old).deletionGracePeriodSeconds ?? 0)
    : (strategy.gracePeriod?.(old, options.gracePeriodSeconds) ?? 0)
  const isGraceful = strategy.gracePeriod !== undefined
  if (finalizers.size === 0 && !isGraceful && !strategy.holdsDeletion?.(old)) return undefined

  const object: JsonObject = { ...old, metadata: { ...metadataOf(old) } }
  const metadata = metadataOf(object)
  if (finalizers.size > 0) metadata.finalizers = [...finalizers]
  const present = metadata.deletionGracePeriodSeconds
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = formatTime(context.state.env.clock.now() + grace * 1000)
    metadata.deletionGracePeriodSeconds = grace
    if (metadata.generation !== undefined) metadata.generation++
  } else if (present !== undefined && grace < present) {
    const earlier = Date.parse(metadata.deletionTimestamp) - (present - grace) * 1000
    metadata.deletionTimestamp = formatTime(earlier)
    metadata.deletionGracePeriodSeconds = grace
  }
  strategy.prepareForDelete?.(object)
  return object
}
