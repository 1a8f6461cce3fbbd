import { type JsonObject, readJson } from '@coxswain/apimachinery/json'
import type { ApiObject, ObjectKey } from '@coxswain/apimachinery/meta'
import { isResourceExpired } from '@coxswain/apimachinery/status'
import { encodeStored } from '@coxswain/apiserver'
import { BoundedMap, createBackoff, type Env } from '@coxswain/kit'
import {
  type Change,
  type GetResult,
  type KeyValue,
  type RangeOptions,
  type RangeResult,
  type Store,
  StoreError,
  type StoreStatus,
  type Transaction,
  type TransactionResult,
  type WatchBatch,
  type WatchOptions,
} from '@coxswain/storage'
import type { ObjectStorage, StorageEvent } from './object-storage.ts'

export interface StoreOfObjectsOptions {
  readonly env: Env
  readonly storage: ObjectStorage
  /** `/GROUP/RESOURCE/` */
  readonly prefix: string
}

/**
 * An {@link ObjectStorage} as the server sees a store: its objects are the keys below one prefix, its versions the revisions. It keeps the
 * newest state, in the bytes that the server's cache holds anyway, so that a watch that has lost its place can
 * tell what has changed since.
 */
export class StoreOfObjects implements Store {
  readonly #options: StoreOfObjectsOptions
  readonly #state = new Map<string, KeyValue>()
  /** What was put here and not yet delivered by the watch, by version: its bytes are the object's. */
  readonly #written = new BoundedMap<number, KeyValue>(writtenLimit)
  #revision = 0
  #isLoaded = false

  constructor(options: StoreOfObjectsOptions) {
    this.#options = options
  }

  async get(key: string): Promise<GetResult> {
    const object = await this.#options.storage.get(this.#placeOf(key))
    return { kv: object && this.#read(object), revision: this.#revision }
  }

  /** Only the newest state is known. */
  async range(prefix: string, { revision, limit, start = prefix }: RangeOptions = {}): Promise<RangeResult> {
    if (revision !== undefined && revision !== this.#revision)
      throw new StoreError('Compacted', `revision ${revision} has been compacted`, {
        compactedRevision: this.#revision,
      })
    const found = [...this.#state.values()]
      .filter(({ key }) => key.startsWith(prefix) && key >= start)
      .sort((a, b) => (a.key < b.key ? -1 : 1))
    const items = limit === undefined ? found : found.slice(0, limit)
    return { items, more: items.length < found.length, count: found.length, revision: this.#revision }
  }

  /** A write of one object, as every write of the server to such a resource is. */
  async transact({ conditions = [], operations }: Transaction): Promise<TransactionResult> {
    const [operation, ...others] = operations
    const [condition, ...more] = conditions
    if (!operation || !condition || others.length > 0 || more.length > 0 || operation.key !== condition.key)
      throw new StoreError('InvalidArgument', 'a transaction is a conditional write of one object here')
    const { storage } = this.#options
    const { modRevision } = condition
    const expected = modRevision === 0 ? undefined : String(modRevision)
    const place = this.#placeOf(operation.key)
    const version =
      operation.type === 'put'
        ? await storage.put(readObject(operation.value), expected)
        : expected === undefined
          ? undefined
          : await storage.delete(place, expected)
    if (version !== undefined) {
      const revision = toRevision(version)
      if (operation.type === 'put') this.#written.set(revision, createKeyValue(operation, revision))
      return { committed: true, revision, previous: [this.#state.get(operation.key)] }
    }
    const { kv } = await this.get(operation.key)
    return { committed: false, revision: Math.max(this.#revision, kv?.modRevision ?? 0), present: [kv] }
  }

  async *watch(_prefix: string, { signal }: WatchOptions): AsyncIterable<WatchBatch> {
    const { env, storage } = this.#options
    const { log, clock } = env
    const stop = signal ?? new AbortController().signal
    const backoff = createBackoff({ initial: 100, cap: 30_000, random: env.random, clock })
    while (!stop.aborted) {
      try {
        const resourceVersion = String(this.#revision)
        for await (const event of storage.watch({ resourceVersion, signal: stop })) {
          const batch = this.#apply(event)
          if (batch) yield batch
        }
      } catch (error) {
        if (stop.aborted) return
        if (isResourceExpired(error)) yield* this.#relist()
        else log.warn('the watch of a storage was interrupted', { error, prefix: this.#options.prefix })
      }
      if (!stop.aborted) await clock.sleep(backoff.next(), { signal: stop }).catch(() => {})
    }
  }

  async status(): Promise<StoreStatus> {
    const { storage } = this.#options
    if (!this.#isLoaded) {
      const { items, resourceVersion } = await storage.list()
      for (const object of items) this.#keep(this.#read(object))
      this.#revision = toRevision(resourceVersion)
      this.#isLoaded = true
    } else if (storage.version) {
      const revision = toRevision(await storage.version())
      return { revision, compactedRevision: revision, watchProgress: true }
    }
    return { revision: this.#revision, compactedRevision: this.#revision, watchProgress: true }
  }

  async compact(): Promise<void> {}
  requestProgress(): void {}
  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}

  /** Undefined for a change that is known: one that a list had already. */
  #apply({ type, object }: StorageEvent): WatchBatch | undefined {
    const revision = toRevision(object.metadata.resourceVersion)
    if (revision <= this.#revision) return undefined
    this.#revision = revision
    const key = this.#keyOf(object.metadata as ObjectKey)
    const previous = this.#state.get(key)
    if (type === 'DELETED') {
      this.#state.delete(key)
      return { revision, changes: previous ? [{ type: 'delete', key, revision, previous }] : [] }
    }
    const written = this.#written.get(revision)
    const kv = written?.key === key ? written : this.#read(object as ApiObject)
    if (written) this.#written.delete(revision)
    this.#keep(kv)
    return { revision, changes: [{ type: 'put', kv, previous }] }
  }

  /** What has changed between the known state and the present one, as one batch. */
  async *#relist(): AsyncGenerator<WatchBatch> {
    const { items, resourceVersion } = await this.#options.storage.list()
    const revision = toRevision(resourceVersion)
    const present = new Map(items.map(object => this.#read(object)).map(kv => [kv.key, kv]))
    const changes: Change[] = []
    for (const [key, previous] of this.#state)
      if (!present.has(key)) changes.push({ type: 'delete', key, revision, previous })
    for (const kv of present.values()) {
      const previous = this.#state.get(kv.key)
      if (previous?.modRevision !== kv.modRevision) changes.push({ type: 'put', kv, previous })
    }
    changes.sort((a, b) => revisionOf(a) - revisionOf(b))
    this.#state.clear()
    for (const kv of present.values()) this.#keep(kv)
    this.#revision = revision
    yield { revision, changes }
  }

  #keep(kv: KeyValue): void {
    this.#state.set(kv.key, kv)
  }

  #read(object: ApiObject): KeyValue {
    const modRevision = toRevision(object.metadata.resourceVersion)
    const key = this.#keyOf(object.metadata as ObjectKey)
    return createKeyValue({ key, value: encodeStored(object as unknown as JsonObject) }, modRevision)
  }

  #keyOf({ namespace, name }: ObjectKey): string {
    const { prefix } = this.#options
    return namespace ? `${prefix}${namespace}/${name}` : prefix + name
  }

  #placeOf(key: string): ObjectKey {
    const path = key.slice(this.#options.prefix.length)
    const slash = path.indexOf('/')
    return slash < 0 ? { name: path } : { namespace: path.slice(0, slash), name: path.slice(slash + 1) }
  }
}

/** Such writes are delivered within moments: the limit is for storages whose watch is far behind. */
const writtenLimit = 1_000

const createKeyValue = ({ key, value }: Pick<KeyValue, 'key' | 'value'>, modRevision: number): KeyValue => ({
  key,
  value,
  modRevision,
  createRevision: modRevision,
  version: 1,
})

const readObject = (bytes: Uint8Array) => readJson(bytes, { literals: false }).value as unknown as ApiObject

const revisionOf = (change: Change) => (change.type === 'put' ? change.kv.modRevision : change.revision)

/** Throws an Error that names the text: a storage that breaks its contract must not be served from. */
function toRevision(version: string | undefined): number {
  const revision = Number(version)
  if (!/^\d+$/.test(version ?? '') || !Number.isSafeInteger(revision) || revision === 0)
    throw new Error(
      `the storage gave the resourceVersion ${JSON.stringify(version)}; it must be a whole number greater than 0 as text`,
    )
  return revision
}
