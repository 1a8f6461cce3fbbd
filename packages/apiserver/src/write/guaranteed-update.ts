import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { newConflict, newNotFound, optimisticLockMessage } from '@coxswain/apimachinery/status'
import type { Claim } from '@coxswain/strategies'
import { encodeStored, StoredObject } from '../cache/stored-object.ts'
import { convertForStorage, parseServed } from '../registry/convert.ts'
import { type Endpoint, objectKey, ttlOf } from '../registry/registry.ts'
import { storeOperations } from './claims.ts'
import type { StorePorts } from './ports.ts'

/** What an update does with the present object. */
export type UpdateOutcome =
  | { readonly type: 'put'; readonly object: JsonObject; readonly claim?: Claim }
  /** Delete it: its last finalizer was removed. `object` is the response. */
  | { readonly type: 'delete'; readonly object: JsonObject }

export interface GuaranteedUpdate {
  readonly endpoint: Endpoint
  readonly namespace: string
  readonly name: string
  readonly dryRun: boolean
  /** Whether a lost race is a conflict: the client set the resourceVersion it changes. Called after each `change`. */
  readonly conditional: () => boolean
  /** Called with a copy of the present object, again after each lost race. Throws to give up. */
  readonly change: (current: JsonObject) => Promise<UpdateOutcome>
}

const attempts = 100

/** Whether a write would change nothing; the order of members does not count. */
function isSame(current: StoredObject, bytes: Uint8Array, object: JsonObject): boolean {
  if (current.hasBytes(bytes)) return true
  if (current.reread || current.size !== bytes.length) return false
  const resourceVersion = String(current.revision)
  return deepEqual(current.parse(), {
    ...object,
    metadata: { ...(object.metadata as JsonObject), resourceVersion },
  })
}

/** Writes what `change` returns if the object is still the one it was called with; otherwise tries again. */
export async function guaranteedUpdate(
  { store, cache }: StorePorts,
  update: GuaranteedUpdate,
): Promise<StoredObject | JsonObject> {
  const { endpoint, namespace, name } = update
  const { resource } = endpoint
  const key = objectKey(resource, namespace, name)
  await cache.fresh()
  let current = resource.cache.get(key)
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (!current) throw newNotFound(resource.info, name)
    const outcome = await update.change(await parseServed(endpoint, current))
    if (update.dryRun) return outcome.object
    if (outcome.type === 'put') {
      const stored = await convertForStorage(endpoint, outcome.object)
      const bytes = encodeStored(stored)
      if (isSame(current, bytes, stored) && !(await store.isStale?.(key))) return current
      const result = await store.transact({
        conditions: [{ key, modRevision: current.revision }, ...(outcome.claim?.conditions ?? [])],
        operations: [
          { type: 'put', key, value: bytes, ...ttlOf(resource) },
          ...storeOperations(outcome.claim?.operations),
        ],
      })
      if (result.committed || outcome.claim) await cache.waitFor(result.revision)
      if (result.committed) return new StoredObject(key, namespace, name, result.revision, bytes)
      // Only the claim failed, which is not a conflict of the client's.
      if (result.present[0]?.modRevision === current.revision) continue
      current = fromPresent(result.present[0])
    } else {
      const result = await store.transact({
        conditions: [{ key, modRevision: current.revision }],
        operations: [
          { type: 'delete', key },
          ...storeOperations(resource.strategy.release?.(current.parse(), cache)),
        ],
      })
      if (result.committed) {
        await cache.waitFor(result.revision)
        return outcome.object
      }
      current = fromPresent(result.present[0])
    }
    if (update.conditional()) break
  }
  throw newConflict(resource.info, name, optimisticLockMessage)

  function fromPresent(kv: { readonly modRevision: number; readonly value: Uint8Array } | undefined) {
    return kv && new StoredObject(key, namespace, name, kv.modRevision, kv.value)
  }
}
