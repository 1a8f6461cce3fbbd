import { decodeText, encodeText } from '@coxswain/kit'
import { isStoreError, type StoreErrorCode } from '../errors.ts'
import type {
  Change,
  KeyValue,
  Operation,
  Store,
  TransactionResult,
  WatchBatch,
  WatchOptions,
} from '../store.ts'

export interface StoreSettings {
  /** See WatchLimits. */
  readonly maxLag?: number
  readonly progressInterval?: number
  /** How many revisions the store keeps, whatever their age. Back ends whose server manages history ignore it. */
  readonly historyRevisions?: number
}

/** What a back end provides to run the suite. */
export interface ConformanceTarget {
  open(settings: StoreSettings): Promise<Store>
  /** Advances the store's time by so many milliseconds. */
  pass(ms: number): Promise<void>
  /** Settles as `promise` does, or rejects when it takes unreasonably long. */
  within<T>(promise: Promise<T>): Promise<T>
  /** Whether the store itself decides how much history it keeps. */
  readonly ownsHistory: boolean
  /** The shortest time to live that the back end can distinguish, in milliseconds. */
  readonly shortestTtl: number
}

/** One behaviour. `run` throws when the store violates it. */
export interface ConformanceCase {
  readonly name: string
  readonly settings?: StoreSettings
  /** Only for stores that decide how much history they keep. */
  readonly ownHistory?: true
  run(context: Context): Promise<void>
}

/** What a case works with: a store, keys of its own, and short helpers. */
export class Context {
  readonly store: Store
  readonly target: ConformanceTarget
  /** Ends with a slash; no other case uses it. */
  readonly prefix: string
  readonly #opened: AsyncIterator<WatchBatch, unknown>[] = []

  constructor(store: Store, target: ConformanceTarget, prefix: string) {
    this.store = store
    this.target = target
    this.prefix = prefix
  }

  key(name: string): string {
    return this.prefix + name
  }

  put(name: string, text: string, ttl?: number): Operation {
    const value = encodeText(text)
    return { type: 'put', key: this.key(name), value, ...(ttl === undefined ? {} : { ttl }) }
  }

  remove(name: string): Operation {
    return { type: 'delete', key: this.key(name) }
  }

  /** Executes `operations` and returns their revision. */
  async write(...operations: Operation[]): Promise<number> {
    const { committed, revision } = await this.store.transact({ operations })
    check(committed, 'a transaction without conditions commits')
    return revision
  }

  /** Puts if the key's last change was at `modRevision`. */
  putIf(name: string, modRevision: number, text: string): Promise<TransactionResult> {
    return this.store.transact({
      conditions: [{ key: this.key(name), modRevision }],
      operations: [this.put(name, text)],
    })
  }

  async text(name: string, revision?: number): Promise<string | undefined> {
    const { kv } = await this.store.get(this.key(name), revision === undefined ? {} : { revision })
    return kv && textOf(kv)
  }

  /** The names and values under the prefix, as `name=value`. */
  async list(revision?: number): Promise<string[]> {
    const { items } = await this.store.range(this.prefix, revision === undefined ? {} : { revision })
    return items.map(kv => `${kv.key.slice(this.prefix.length)}=${textOf(kv)}`)
  }

  /** A watch under the prefix, closed when the case is over. */
  watch(options: WatchOptions, prefix: string = this.prefix): WatchReader {
    const iterator = this.store.watch(prefix, options)[Symbol.asyncIterator]()
    this.#opened.push(iterator)
    return new WatchReader(iterator, this)
  }

  async leave(): Promise<void> {
    for (const iterator of this.#opened) await iterator.return?.()
  }

  describe(change: Change): string {
    const name = (change.type === 'put' ? change.kv.key : change.key).slice(this.prefix.length)
    return change.type === 'put' ? `${name}=${textOf(change.kv)}` : `${name} deleted`
  }
}

/** The first batch of a watch; it has a value unless the watch is done. */
export interface FirstBatch {
  readonly done?: boolean
  readonly value: WatchBatch
}

export class WatchReader {
  readonly #iterator: AsyncIterator<WatchBatch, unknown>
  readonly #context: Context

  constructor(iterator: AsyncIterator<WatchBatch, unknown>, context: Context) {
    this.#iterator = iterator
    this.#context = context
  }

  /** Starts the watch: resolves with the promise of its first batch. */
  begin(): Promise<FirstBatch> {
    const first = this.#iterator.next() as Promise<FirstBatch>
    first.catch(() => {})
    return first
  }

  async next(): Promise<WatchBatch> {
    const { done, value } = await this.#context.target.within(this.#iterator.next())
    check(!done, 'the watch goes on')
    return value as WatchBatch
  }

  /** Whether the watch has ended without an error. */
  async ended(): Promise<boolean> {
    return (await this.#context.target.within(this.#iterator.next())).done === true
  }

  async leave(): Promise<void> {
    await this.#iterator.return?.()
  }

  /** Batches until they contain `count` changes. */
  async batches(count: number, first?: Promise<FirstBatch>): Promise<WatchBatch[]> {
    const batches: WatchBatch[] = []
    if (first) batches.push((await this.#context.target.within(first)).value)
    while (countChanges(batches) < count) batches.push(await this.next())
    equal(countChanges(batches), count, 'number of changes')
    return batches
  }

  async changes(count: number, first?: Promise<FirstBatch>): Promise<Change[]> {
    return (await this.batches(count, first)).flatMap(batch => [...batch.changes])
  }

  /** The next `count` changes as text. */
  async words(count: number, first?: Promise<FirstBatch>): Promise<string[]> {
    return (await this.changes(count, first)).map(change => this.#context.describe(change))
  }
}

function countChanges(batches: readonly WatchBatch[]): number {
  return batches.reduce((sum, batch) => sum + batch.changes.length, 0)
}

export function textOf(kv: KeyValue): string {
  return decodeText(kv.value)
}

export function revisionOf(change: Change): number {
  return change.type === 'put' ? change.kv.modRevision : change.revision
}

export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`expected that ${message}`)
}

export function equal(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [show(actual), show(expected)]
  if (is !== should) throw new Error(`${what}: expected ${should}, got ${is}`)
}

export async function rejects(promise: Promise<unknown>, code: StoreErrorCode): Promise<void> {
  try {
    await promise
  } catch (error) {
    if (isStoreError(error) && error.code === code) return
    throw new Error(`expected the error ${code}`, { cause: error })
  }
  throw new Error(`expected the error ${code}, but there was none`)
}

function show(value: unknown): string {
  return value === undefined
    ? 'undefined'
    : JSON.stringify(value, (_, part) => (part === undefined ? '(none)' : part))
}
