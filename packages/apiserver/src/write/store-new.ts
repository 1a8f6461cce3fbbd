import { deepClone, type JsonObject } from '@coxswain/apimachinery/json'
import { newAlreadyExists, newBadRequest, newConflict, StatusError } from '@coxswain/apimachinery/status'
import { encodeStored, StoredObject } from '../cache/stored-object.ts'
import { convertForStorage } from '../registry/convert.ts'
import { type Endpoint, objectKey, ttlOf } from '../registry/registry.ts'
import { storeOperations } from './claims.ts'
import { claim, prepareForCreate } from './lifecycle.ts'
import { metadataOf } from './metadata.ts'
import type { Write } from './write.ts'

/** Attempts at a free `generateName`. */
const generateAttempts = 8
/** Attempts at a claim that concurrent writes win. */
const claimAttempts = 100

/** A new object has no resourceVersion; a client that sets one means an existing object. Throws a 400. */
export async function storeNew(write: Write): Promise<void> {
  const { resourceVersion = '' } = metadataOf(write.object)
  if (!write.options.dryRun && isVersion(resourceVersion))
    throw newBadRequest('resourceVersion should not be set on objects to be created')
  await storeApplied(write)
}

/** Creates the object in the store, under another name or with another claim after a lost race. */
export async function storeApplied(write: Write): Promise<void> {
  const { ports, context, endpoint, object, options } = write
  const { resource } = endpoint
  const { namespace } = context.info
  for (let attempt = 1, names = 1; ; attempt++) {
    const name = metadataOf(object).name!
    const key = objectKey(resource, namespace, name)
    if (options.dryRun) {
      const present = resource.cache.get(key)
      if (present) throw alreadyExists(endpoint, name, present.parse())
      write.result = object
      return
    }
    delete metadataOf(object).resourceVersion
    const converted = convertForStorage(endpoint, object)
    const bytes = encodeStored(converted instanceof Promise ? await converted : converted)
    const result = await ports.store.transact({
      conditions: [{ key, modRevision: 0 }, ...(write.claim?.conditions ?? [])],
      operations: [
        { type: 'put', key, value: bytes, ...ttlOf(resource) },
        ...storeOperations(write.claim?.operations),
      ],
    })
    if (result.committed || write.claim) await ports.cache.waitFor(result.revision)
    if (result.committed) {
      write.result = new StoredObject(key, namespace, name, result.revision, bytes)
      return
    }
    const present = result.present[0]
    if (present && (!write.generated || names === generateAttempts)) {
      const { value, modRevision } = present
      throw alreadyExists(endpoint, name, new StoredObject(key, namespace, name, modRevision, value).parse())
    }
    if (attempt === claimAttempts)
      throw newConflict(resource.info, name, 'the requested allocation is contended, please try again')
    if (present) names++
    await prepareAgain(write, { renamed: present !== undefined })
  }
}

/** The object as it was before the attempt to store it, for another attempt. */
async function prepareAgain(write: Write, { renamed }: { readonly renamed: boolean }): Promise<void> {
  const { object, unclaimed } = write
  if (unclaimed) Object.assign(object, deepClone(unclaimed))
  if (renamed) {
    delete metadataOf(object).name
    await prepareForCreate(write)
  }
  await claim(write)
}

/** Whether Go parses it as a non-zero unsigned 64-bit integer; unparsable values are ignored. */
function isVersion(text: string): boolean {
  return /^\d{1,40}$/.test(text) && BigInt(text) > 0n && BigInt(text) < 2n ** 64n
}

/** The 409 for a taken name, also when the object that holds it is terminating. */
function alreadyExists({ resource }: Endpoint, name: string, present: JsonObject): StatusError {
  const error = newAlreadyExists(resource.info, name)
  if (metadataOf(present).deletionTimestamp === undefined) return error
  return new StatusError({ ...error.status, message: `object is being deleted: ${error.status.message}` })
}
