import { createRealEnv, type Env } from '@coxswain/kit'
import { createClosed, isCompacted, isStoreError, StoreError } from '../../errors.ts'
import { validateRange, validateRevisionNumber, validateTransaction } from '../../internal/validate.ts'
import { defaultWatchLimits, type WatchLimits } from '../../internal/watch-hub.ts'
import type {
  GetOptions,
  GetResult,
  KeyValue,
  RangeOptions,
  RangeResult,
  Store,
  StoreStatus,
  Transaction,
  TransactionResult,
  WatchBatch,
  WatchOptions,
} from '../../store.ts'
import { Cluster, type EtcdTls } from './cluster.ts'
import {
  decodeRange,
  decodeTxn,
  decodeWatch,
  type EtcdOperation,
  encodeCompaction,
  encodeRange,
  encodeTxn,
  encodeWatchCreate,
  type RangeRequest,
  type RangeResponse,
} from './etcd-messages.ts'
import { EtcdWatch, type WatchHost } from './etcd-watch.ts'
import { Keyspace } from './keyspace.ts'
import { Leases } from './leases.ts'

/** Options of {@link createEtcdStore}. */
export interface EtcdStoreOptions {
  /** Members of one cluster, as `https://host:2379`. When one fails the next is used. */
  readonly endpoints: readonly string[]
  /** @default the real clock, randomness and timers */
  readonly env?: Env
  /** The prefix of every key. @default '/registry' */
  readonly prefix?: string
  /** For https endpoints. */
  readonly tls?: EtcdTls
  /** How long a call may take, in milliseconds. @default 10,000 */
  readonly requestTimeout?: number
  readonly watch?: Partial<WatchLimits>
}

/** Keys per page of a large range. */
const pageSize = 500

/** A store in an etcd cluster. Connects when it is first used. Several stores may share a cluster and a prefix. */
export function createEtcdStore(options: EtcdStoreOptions): Store {
  return new Etcd(options)
}

class Etcd implements Store, WatchHost {
  readonly env: Env
  readonly cluster: Cluster
  readonly keyspace: Keyspace
  readonly limits: WatchLimits
  readonly #leases: Leases
  readonly #watches = new Set<EtcdWatch>()
  readonly #underWay = new Set<Promise<unknown>>()
  #seen = 0
  #closing: Promise<void> | undefined

  constructor(options: EtcdStoreOptions) {
    const {
      endpoints,
      env = createRealEnv(),
      prefix = '/registry',
      tls = {},
      requestTimeout = 10_000,
    } = options
    this.env = env
    this.cluster = new Cluster({ env, endpoints, tls, requestTimeout })
    this.keyspace = new Keyspace(prefix)
    this.limits = { ...defaultWatchLimits, ...options.watch }
    this.#leases = new Leases(this.cluster, env)
  }

  get seen(): number {
    return this.#seen
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  saw(revision: number): void {
    if (revision > this.#seen) this.#seen = revision
  }

  async get(key: string, options: GetOptions = {}): Promise<GetResult> {
    this.#assertOpen()
    const { revision: asked } = options
    if (asked !== undefined) validateRevisionNumber(asked)
    const { kvs, revision } = await this.#range({ key: this.keyspace.toBytes(key), revision: asked })
    return { kv: kvs[0] && this.keyspace.toKeyValue(kvs[0]), revision }
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    this.#assertOpen()
    validateRange(options)
    for (let tries = 1; ; tries++) {
      try {
        return await this.#readRange(prefix, options)
      } catch (error) {
        // The current state was requested, and compacted between two pages: try again with a newer one.
        if (!isCompacted(error) || options.revision !== undefined || tries === 3) throw error
      }
    }
  }

  async transact(transaction: Transaction): Promise<TransactionResult> {
    this.#assertOpen()
    validateTransaction(transaction)
    const work = this.#transact(transaction)
    this.#underWay.add(work)
    try {
      return await work
    } finally {
      this.#underWay.delete(work)
    }
  }

  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch> {
    return {
      [Symbol.asyncIterator]: () => {
        const watch = new EtcdWatch(this, prefix, options)
        this.#watches.add(watch)
        return {
          next: async () => {
            const result = await watch.next().catch(error => {
              this.#watches.delete(watch)
              throw error
            })
            if (result.done) this.#watches.delete(watch)
            return result
          },
          return: () => {
            this.#watches.delete(watch)
            return watch.return()
          },
        }
      },
    }
  }

  async compact(revision: number): Promise<void> {
    this.#assertOpen()
    validateRevisionNumber(revision)
    try {
      await this.cluster.call({ method: 'KV/Compact', request: encodeCompaction(revision), repeatable: true })
    } catch (error) {
      // Compacting at or below the compacted revision is not an error; the server does not distinguish the two.
      if (!isCompacted(error) || (await this.#compactedRevision()) !== revision) throw error
    }
  }

  requestProgress(): void {
    void this.progressTrusted().then(trusted => {
      if (trusted) for (const watch of this.#watches) watch.requestProgress()
    })
  }

  async status(): Promise<StoreStatus> {
    this.#assertOpen()
    const revision = await this.present()
    const [compactedRevision, watchProgress] = await Promise.all([
      this.#compactedRevision(),
      this.progressTrusted(),
    ])
    return { revision, compactedRevision, watchProgress }
  }

  async present(): Promise<number> {
    const { revision } = await this.#range({ key: this.keyspace.toBytes('\0'), countOnly: true })
    return revision
  }

  progressTrusted(): Promise<boolean> {
    return this.cluster.hasTrustedProgress()
  }

  writeFailure(): StoreError | undefined {
    return this.cluster.failure
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#underWay)
    for (const watch of this.#watches) watch.stop(createClosed())
    this.#watches.clear()
    this.cluster.close()
  }

  #assertOpen(): void {
    if (this.#closing) throw createClosed()
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    const reply = await this.cluster.call({
      method: 'KV/Range',
      request: encodeRange(request),
      repeatable: true,
    })
    const response = decodeRange(reply)
    this.saw(response.revision)
    return response
  }

  /** Pages of one revision, so that no response exceeds the message size limit. */
  async #readRange(prefix: string, options: RangeOptions): Promise<RangeResult> {
    const { limit = Number.POSITIVE_INFINITY, keysOnly = false, countOnly = false } = options
    const { start, end: rangeEnd } = this.keyspace.span(prefix, options.start)
    let { revision } = options
    if (countOnly) {
      const response = await this.#range({ key: start, rangeEnd, revision, countOnly })
      return { items: [], more: false, count: response.count, revision: revision ?? response.revision }
    }
    const items: KeyValue[] = []
    let key = start
    let count: number | undefined
    let size = pageSize
    for (;;) {
      const wanted = Math.min(size, limit - items.length)
      let page: RangeResponse
      try {
        page = await this.#range({ key, rangeEnd, revision, limit: wanted, keysOnly })
      } catch (error) {
        if (!isStoreError(error) || error.code !== 'TooLarge' || wanted === 1) throw error
        size = Math.max(1, wanted >> 1)
        continue
      }
      revision ??= page.revision
      count ??= page.count
      for (const kv of page.kvs) items.push(this.keyspace.toKeyValue(kv))
      const last = page.kvs.at(-1)
      if (!page.more || !last || items.length >= limit) return { items, more: page.more, count, revision }
      key = Uint8Array.from([...last.key, 0])
    }
  }

  async #transact(transaction: Transaction): Promise<TransactionResult> {
    const { conditions = [], operations } = transaction
    const leases = new Map<string, { readonly id: number; readonly own: boolean }>()
    for (const operation of operations) {
      if (operation.type === 'put' && operation.ttl !== undefined) {
        leases.set(operation.key, await this.#leases.grant(operation.ttl))
      }
    }
    const request = encodeTxn({
      compare: conditions.map(({ key, modRevision }) => ({ key: this.keyspace.toBytes(key), modRevision })),
      success: operations.map((operation): EtcdOperation => {
        const key = this.keyspace.toBytes(operation.key)
        if (operation.type === 'delete') return { type: 'delete', key }
        return { type: 'put', key, value: operation.value, lease: leases.get(operation.key)?.id ?? 0 }
      }),
      failure: conditions.map(({ key }) => ({ type: 'get', key: this.keyspace.toBytes(key) })),
    })
    const reply = await this.cluster.call({ method: 'KV/Txn', request, repeatable: operations.length === 0 })
    const { revision, succeeded, found } = decodeTxn(reply)
    this.saw(revision)
    const kvs = found.map(kv => kv && this.keyspace.toKeyValue(kv))
    if (succeeded) return { committed: true, revision, previous: kvs }
    for (const { id, own } of leases.values()) {
      // No key uses it; if this fails, it expires by itself.
      if (own)
        this.#leases.revoke(id).catch(error => this.env.log.debug('a lease was not revoked', { error }))
    }
    return { committed: false, revision, present: kvs }
  }

  /** The server reports it only to a watch that begins before it. */
  async #compactedRevision(): Promise<number> {
    try {
      await this.#range({ key: this.keyspace.toBytes('\0'), revision: 1, countOnly: true })
      return 1
    } catch (error) {
      if (!isCompacted(error)) throw error
    }
    const { stream } = this.cluster.watch()
    try {
      return await new Promise((resolve, reject) => {
        stream.on('data', (message: Uint8Array) => {
          const { canceled, compactRevision } = decodeWatch(message)
          if (canceled) resolve(compactRevision)
        })
        const fail = (cause?: unknown) =>
          reject(new StoreError('Unavailable', 'etcd did not answer', { cause }))
        stream.on('error', fail)
        stream.on('end', fail)
        const key = this.keyspace.toBytes('\0')
        stream.write(
          encodeWatchCreate({ key, rangeEnd: new Uint8Array(0), startRevision: 1, previous: false }),
        )
      })
    } finally {
      stream.cancel()
    }
  }
}
