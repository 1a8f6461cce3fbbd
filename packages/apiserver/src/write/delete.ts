import type { JsonObject } from '@coxswain/apimachinery/json'
import { newBadRequest, newConflict, newNotFound, successStatus } from '@coxswain/apimachinery/status'
import { getHeader, type WireResponse } from '@coxswain/wire'
import { encodeStored, StoredObject } from '../cache/stored-object.ts'
import { createMatcher } from '../read/matcher.ts'
import { builtinBodies } from '../registry/builtin-conventions.ts'
import { unregisteredKind } from '../registry/decode-errors.ts'
import { type Endpoint, objectKey, ttlOf } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseListOptions, validateListOptions } from '../request/list-options.ts'
import { readInteger } from '../request/query.ts'
import { statusResponse } from '../request/response.ts'
import { type DeleteOptions, parseDeleteOptions } from '../request/write-options.ts'
import { bytesOf, readBody } from './body.ts'
import { storeOperations } from './claims.ts'
import { createDeletion, type DeletePorts, type Deletion, type DeletionRequest } from './deletion.ts'
import { metadataOf } from './metadata.ts'
import { pipelines, runSteps, type Step } from './pipeline.ts'
import type { StorePorts, WritePorts } from './ports.ts'

const attempts = 100
const deleteOptionsKind = { apiVersion: 'v1', kind: 'DeleteOptions' }

/** The outcome of a deletion. */
export type Deleted =
  | { readonly gone: true; readonly object: StoredObject }
  /** It waits for its finalizers or its grace period. */
  | { readonly gone: false; readonly object: StoredObject | JsonObject }

export async function handleDelete(
  ports: WritePorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const { resource } = endpoint
  const { namespace, name } = context.info
  const view = ports.reader.view(context, endpoint)
  const options = readDeleteOptions(context)
  warnOfPropagation(context, endpoint, options)
  await ports.cache.fresh()
  const outcome = await deleteObject(ports, { context, endpoint, namespace, name, options })
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
  ports: WritePorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const view = ports.reader.view(context, endpoint)
  const options = readDeleteOptions(context)
  warnOfPropagation(context, endpoint, options)
  const listOptions = parseListOptions(context.query)
  validateListOptions(listOptions)
  const matcher = createMatcher(endpoint, listOptions)
  const page = await ports.reader.readPage(context, endpoint, { options: listOptions, matcher })
  const deleted: StoredObject[] = []
  // The page may be the cache's own list, from which deleted objects are removed.
  for (const object of [...page.objects]) {
    const { namespace, name } = object
    const request = { context, endpoint, namespace, name, options }
    const outcome = await deleteObject(ports, request).catch(ignoreNotFound)
    if (outcome) deleted.push(object)
  }
  return view.list(deleted, { ...endpoint.resource.lastPage, resourceVersion: String(page.revision) })
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
  const { object } = readBody(context, builtinBodies, deleteOptionsKind)
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

/** Deletes an object, or marks it for deletion; again from the start when a concurrent write changed it. */
export async function deleteObject(
  ports: DeletePorts,
  request: DeletionRequest,
  steps: readonly Step<Deletion>[] = pipelines.delete,
): Promise<Deleted> {
  const { store, cache } = ports
  const { endpoint, namespace, name, options } = request
  const { resource } = endpoint
  const key = objectKey(resource, namespace, name)
  let current = resource.cache.get(key)
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (!current) throw newNotFound(resource.info, name)
    const old = current.parse()
    const deletion = createDeletion(ports, request, old)
    const pending = runSteps(steps, deletion)
    if (pending) await pending
    const { marked } = deletion
    const leaves = !marked || isOver(endpoint, marked)
    if (options.dryRun) return marked ? { gone: false, object: marked } : { gone: true, object: current }
    const value = marked && encodeStored(marked)
    if (value && !leaves && current.hasBytes(value)) return { gone: false, object: current }
    const result = await store.transact({
      conditions: [{ key, modRevision: current.revision }],
      operations: value
        ? [{ type: 'put', key, value, ...ttlOf(resource) }]
        : [{ type: 'delete', key }, ...storeOperations(resource.strategy.release?.(old, cache))],
    })
    if (result.committed) {
      request.context.span?.addEvent('store')
      if (!value || !leaves) {
        await cache.waitFor(result.revision)
        return value
          ? { gone: false, object: new StoredObject(key, namespace, name, result.revision, value) }
          : { gone: true, object: current.at(result.revision) }
      }
      const object = new StoredObject(key, namespace, name, result.revision, value)
      const removed = await remove(ports, object)
      if (removed) return { gone: true, object: removed }
      await cache.fresh()
      current = resource.cache.get(key)
      if (!current) return { gone: true, object }
      continue
    }
    const present: { modRevision: number; value: Uint8Array } | undefined = result.present[0]
    current = present && new StoredObject(key, namespace, name, present.modRevision, present.value)
  }
  throw newConflict(resource.info, name, 'the object kept changing, please try again')
}

/** Whether a kind with graceful deletion has no time left, and nothing else to wait for. */
function isOver({ resource }: Endpoint, marked: JsonObject): boolean {
  const { finalizers, deletionGracePeriodSeconds } = metadataOf(marked)
  return Boolean(resource.strategy.gracePeriod) && !finalizers?.length && deletionGracePeriodSeconds === 0
}

/** Removes a marked object from the store; undefined when a concurrent write changed or removed it. */
async function remove({ store, cache }: StorePorts, object: StoredObject): Promise<StoredObject | undefined> {
  const result = await store.transact({
    conditions: [{ key: object.key, modRevision: object.revision }],
    operations: [{ type: 'delete', key: object.key }],
  })
  if (!result.committed) return undefined
  await cache.waitFor(result.revision)
  return object.at(result.revision)
}
