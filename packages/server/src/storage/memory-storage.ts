import type { ApiObject, ObjectKey } from '@coxswain/apimachinery/meta'
import { newResourceExpired } from '@coxswain/apimachinery/status'
import type { ObjectStorage, StorageEvent, StorageWatchOptions, StoredList } from './object-storage.ts'

/** How many changes are kept for watches. */
const keptChanges = 1_000

/** The shortest storage that keeps the contract: a map, and the last changes. For tests, and to copy from. */
export function createMemoryStorage<T extends ApiObject>(): ObjectStorage<T> {
  const objects = new Map<string, T>()
  const changes: StorageEvent<T>[] = []
  let version = 1
  let forgotten = 1
  let wake = Promise.withResolvers<void>()
  const idOf = ({ namespace = '', name }: ObjectKey) => `${namespace}/${name}`
  const record = (event: StorageEvent<T>) => {
    changes.push(event)
    if (changes.length > keptChanges) forgotten = Number(changes.shift()!.object.metadata.resourceVersion)
    wake.resolve()
    wake = Promise.withResolvers()
    return String(version)
  }
  const at = (object: T): T => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(++version) },
  })
  return {
    async get(key): Promise<T | undefined> {
      return objects.get(idOf(key))
    },
    async list(): Promise<StoredList<T>> {
      return { items: [...objects.values()], resourceVersion: String(version) }
    },
    async *watch({ resourceVersion, signal }: StorageWatchOptions): AsyncGenerator<StorageEvent<T>> {
      let seen = Number(resourceVersion)
      const stopped = new Promise<void>(resolve =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      )
      while (!signal.aborted) {
        if (seen < forgotten) throw newResourceExpired(`version ${seen} is too old`)
        // Versions have no gaps, and the first change that is kept follows the last that was forgotten.
        const next = changes[seen - forgotten]
        if (next) {
          seen = Number(next.object.metadata.resourceVersion)
          yield next
        } else await Promise.race([wake.promise, stopped])
      }
    },
    async put(object, expected): Promise<string | undefined> {
      const id = idOf(object.metadata as ObjectKey)
      if (objects.get(id)?.metadata.resourceVersion !== expected) return undefined
      const stored = at(object)
      objects.set(id, stored)
      return record({ type: 'PUT', object: stored })
    },
    async delete(key, expected): Promise<string | undefined> {
      const present = objects.get(idOf(key))
      if (!present || present.metadata.resourceVersion !== expected) return undefined
      objects.delete(idOf(key))
      return record({ type: 'DELETED', object: at(present) })
    },
  }
}
