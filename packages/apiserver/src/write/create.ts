import { deepClone, type JsonObject } from '@coxswain/apimachinery/json'
import {
  newAlreadyExists,
  newBadRequest,
  newConflict,
  newMethodNotSupported,
  StatusError,
} from '@coxswain/apimachinery/status'
import type { StrategyContext } from '@coxswain/strategies'
import type { WireResponse } from '@coxswain/wire'
import { createAttributes, writeOptionsObject } from '../admission/create-attributes.ts'
import { encodeStored, StoredObject } from '../cache/stored-object.ts'
import { View } from '../read/view.ts'
import { applyDefaults } from '../registry/apply-defaults.ts'
import { convertForStorage } from '../registry/convert.ts'
import type { Endpoint } from '../registry/registry.ts'
import { apiVersionOf, objectKey, ttlOf } from '../registry/served-resource.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseWriteOptions, type WriteOptions } from '../request/write-options.ts'
import { readBody } from './body.ts'
import { storeOperations } from './claims.ts'
import { receiveObject } from './incoming.ts'
import { dedupeOwners, metadataOf, placeInNamespace, prepareForCreate, validateObject } from './lifecycle.ts'
import { trackUpdate } from './managed-fields.ts'

/** Names tried for `generateName` before giving up. */
const generateAttempts = 8
/** How often a claim is made that somebody else is faster with. */
const claimAttempts = 100

export async function handleCreate(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  const { resource } = endpoint
  if (context.info.name !== '') throw newMethodNotSupported(resource.info, 'create')
  if (resource.info.namespaced && context.info.namespace === '') {
    throw newBadRequest('an empty namespace may not be set during creation')
  }
  const view = new View(context, endpoint)
  const options = parseWriteOptions(context, 'CreateOptions')
  const object = receiveObject(
    context,
    endpoint,
    readBody(context, resource.custom, kindOf(endpoint)),
    options,
  )
  return view.object(201, await createObject(context, endpoint, object, options))
}

/** Takes a received object through admission and validation into the store. */
export async function createObject(
  context: ResourceContext,
  endpoint: Endpoint,
  object: JsonObject,
  options: WriteOptions,
): Promise<StoredObject | JsonObject> {
  const { state } = context
  const { resource } = endpoint
  const { namespace } = context.info
  placeInNamespace(resource, object, namespace)
  const generated = !metadataOf(object).name && Boolean(metadataOf(object).generateName)
  const attributes = createAttributes(context, endpoint, {
    operation: 'CREATE',
    subresource: '',
    name: metadataOf(object).name ?? '',
    object,
    oldObject: undefined,
    dryRun: options.dryRun,
    options: writeOptionsObject(context, 'CreateOptions'),
  })
  const strategyContext = strategyContextOf(context, options.dryRun)
  dedupeOwners(context, object)
  if (!options.applied) {
    trackUpdate(state, endpoint, { object, old: undefined, manager: options.fieldManager, subresource: '' })
  }
  await state.admission.mutate(attributes)
  dedupeOwners(context, object, 'after mutating admission happens')
  applyDefaults(endpoint, object)
  await prepareForCreate(strategyContext, endpoint, object)
  const unclaimed = resource.strategy.claim && deepClone(object)
  let claim = await resource.strategy.claim?.(object, undefined, strategyContext)
  validateObject(strategyContext, endpoint, object)
  context.warnings.pushAll(resource.strategy.warnings?.(object, undefined) ?? [])
  await state.admission.validate(generated ? { ...attributes, name: metadataOf(object).name! } : attributes)

  for (let attempt = 1, names = 1; ; attempt++) {
    const name = metadataOf(object).name!
    const key = objectKey(resource, namespace, name)
    if (options.dryRun) {
      const present = resource.cache.get(key)
      if (present) throw alreadyExists(endpoint, name, present.parse())
      return object
    }
    dropVersion(object, options)
    const bytes = encodeStored(await convertForStorage(endpoint, object))
    const result = await state.store.transact({
      conditions: [{ key, modRevision: 0 }, ...(claim?.conditions ?? [])],
      operations: [
        { type: 'put', key, value: bytes, ...ttlOf(resource) },
        ...storeOperations(claim?.operations),
      ],
    })
    if (result.committed || claim) await state.cache.waitFor(result.revision)
    if (result.committed) return new StoredObject(key, namespace, name, result.revision, bytes)
    const exists = result.present[0] !== undefined
    if (exists && (!generated || names === generateAttempts)) {
      const { value, modRevision } = result.present[0]!
      throw alreadyExists(endpoint, name, new StoredObject(key, namespace, name, modRevision, value).parse())
    }
    if (attempt === claimAttempts)
      throw newConflict(resource.info, name, 'what the object needs is taken too fast')
    if (unclaimed) Object.assign(object, deepClone(unclaimed))
    if (exists) {
      names++
      delete metadataOf(object).name
      await prepareForCreate(strategyContext, endpoint, object)
    }
    claim = await resource.strategy.claim?.(object, undefined, strategyContext)
  }
}

/** What is new has no version yet; a client that names one takes the object for another. Throws a 400. */
function dropVersion(object: JsonObject, { applied }: WriteOptions): void {
  const metadata = metadataOf(object)
  const { resourceVersion = '' } = metadata
  delete metadata.resourceVersion
  if (!applied && isVersion(resourceVersion))
    throw newBadRequest('resourceVersion should not be set on objects to be created')
}

/** Whether Go reads it as an unsigned number of 64 bits other than 0; what it cannot read it does not look at. */
function isVersion(text: string): boolean {
  return /^\d{1,40}$/.test(text) && BigInt(text) > 0n && BigInt(text) < 2n ** 64n
}

/** A name is taken until the object that has it is gone. */
function alreadyExists({ resource }: Endpoint, name: string, present: JsonObject): StatusError {
  const error = newAlreadyExists(resource.info, name)
  if (metadataOf(present).deletionTimestamp === undefined) return error
  return new StatusError({ ...error.status, message: `object is being deleted: ${error.status.message}` })
}

/** What strategies are given of a request. */
export function strategyContextOf(
  { state, user, warnings }: ResourceContext,
  dryRun: boolean,
): StrategyContext {
  const { clock, random } = state.env
  const { cache: objects, grants, network } = state
  const warn = (text: string) => warnings.push(text)
  return { clock, random, objects, grants, serviceRanges: network.serviceRanges, user, dryRun, warn }
}

/** What a body is that does not say it. */
export function kindOf({ resource, version }: Endpoint): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(resource.info.group, version.name), kind: resource.info.kind }
}
