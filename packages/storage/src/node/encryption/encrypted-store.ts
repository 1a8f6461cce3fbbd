import { Buffer } from 'node:buffer'
import { StoreError } from '../../errors.ts'
import type {
  Change,
  KeyValue,
  Operation,
  Store,
  Transaction,
  TransactionResult,
  WatchBatch,
  WatchOptions,
} from '../../store.ts'
import type { Encryption, Provider } from './configuration.ts'
import { identity } from './transformer.ts'

/** The prefix of every encrypted value, whatever the provider. */
const encryptedPrefix = Buffer.from('k8s:enc:')

const plain: readonly Provider[] = [{ prefix: '', transformer: identity }]

/** A store whose values are encrypted on their way to an inner store. */
export interface EncryptedStore extends Store {
  /** Values are written by this configuration from now on; its providers can read. */
  configure(encryption: Encryption): void
}

/** Closing it closes `inner` and the plug-ins. */
export function createEncryptedStore(inner: Store, encryption: Encryption): EncryptedStore {
  return new Encrypted(inner, encryption)
}

class Encrypted implements EncryptedStore {
  readonly #inner: Store
  #encryption: Encryption
  /** Writes in progress; closing waits for them. */
  readonly #writing = new Set<Promise<void>>()
  /** Providers by resource, cached. */
  #found = new Map<string, readonly Provider[]>()

  constructor(inner: Store, encryption: Encryption) {
    this.#inner = inner
    this.#encryption = encryption
  }

  configure(encryption: Encryption): void {
    const before = this.#encryption
    this.#encryption = encryption
    this.#found = new Map()
    for (const plugin of before.plugins) plugin[Symbol.asyncDispose]().catch(() => {}) // it only closes a socket
  }

  async get(...args: Parameters<Store['get']>): ReturnType<Store['get']> {
    const result = await this.#inner.get(...args)
    return { ...result, kv: result.kv && (await this.#reveal(result.kv)) }
  }

  async range(...args: Parameters<Store['range']>): ReturnType<Store['range']> {
    const result = await this.#inner.range(...args)
    if (args[1]?.keysOnly) return result
    const items: KeyValue[] = []
    for (const item of result.items) items.push(await this.#reveal(item))
    return { ...result, items }
  }

  transact(transaction: Transaction): Promise<TransactionResult> {
    const writing = this.#transact(transaction)
    const settled = writing.then(
      () => {},
      () => {},
    )
    this.#writing.add(settled)
    settled.then(() => this.#writing.delete(settled))
    return writing
  }

  async #transact(transaction: Transaction): Promise<TransactionResult> {
    const operations: Operation[] = []
    for (const operation of transaction.operations) {
      operations.push(
        operation.type === 'put'
          ? { ...operation, value: await this.#hide(operation.key, operation.value) }
          : operation,
      )
    }
    const result = await this.#inner.transact({ ...transaction, operations })
    return result.committed
      ? { ...result, previous: await this.#revealAll(result.previous) }
      : { ...result, present: await this.#revealAll(result.present) }
  }

  async *watch(prefix: string, options: WatchOptions): AsyncGenerator<WatchBatch, void, undefined> {
    for await (const batch of this.#inner.watch(prefix, options)) {
      if (batch.changes.length === 0) yield batch
      else {
        const changes: Change[] = []
        for (const change of batch.changes) changes.push(await this.#revealChange(change))
        yield { ...batch, changes }
      }
    }
  }

  /** Written by another provider than the current one, or with a key that is not the newest. */
  async isStale(key: string): Promise<boolean> {
    const { kv } = await this.#inner.get(key)
    if (!kv) return false
    const [writer] = this.#providersOf(key)
    const provider = findProvider(kv.value, this.#providersOf(key))
    if (provider !== writer) return true
    return provider?.transformer.isStale?.(kv.value.subarray(provider.prefix.length)) ?? false
  }

  compact(revision: number): Promise<void> {
    return this.#inner.compact(revision)
  }

  requestProgress(): void {
    this.#inner.requestProgress()
  }

  status(): ReturnType<Store['status']> {
    return this.#inner.status()
  }

  writeFailure(): StoreError | undefined {
    return this.#inner.writeFailure?.()
  }

  async close(): Promise<void> {
    await Promise.all(this.#writing)
    await this.#inner.close()
    for (const plugin of this.#encryption.plugins) await plugin[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Keys are `/GROUP/RESOURCE/...`, with `core` for the core group. */
  #providersOf(key: string): readonly Provider[] {
    const [, storedGroup = '', resource = ''] = key.split('/', 3)
    const id = `${storedGroup}/${resource}`
    let providers = this.#found.get(id)
    if (!providers) {
      const group = storedGroup === 'core' ? '' : storedGroup
      const names = new Set([group === '' ? resource : `${resource}.${group}`, `*.${group}`, '*.*'])
      const entry = this.#encryption.entries.find(({ resources }) => resources.some(name => names.has(name)))
      providers = entry?.providers ?? plain
      this.#found.set(id, providers)
    }
    return providers
  }

  async #hide(key: string, value: Uint8Array): Promise<Uint8Array> {
    const { prefix, transformer } = this.#providersOf(key)[0]!
    if (prefix === '') return value
    return Buffer.concat([Buffer.from(prefix), await transformer.encrypt(value, key)])
  }

  async #reveal(kv: KeyValue): Promise<KeyValue> {
    const providers = this.#providersOf(kv.key)
    if (providers === plain && !isEncrypted(kv.value)) return kv
    const provider = findProvider(kv.value, providers)
    if (!provider) throw new StoreError('Corrupt', `no provider of the configuration can read ${kv.key}`)
    if (provider.prefix === '') return kv
    try {
      const value = await provider.transformer.decrypt(kv.value.subarray(provider.prefix.length), kv.key)
      return { ...kv, value }
    } catch (cause) {
      throw new StoreError('Corrupt', `${kv.key} cannot be decrypted: ${(cause as Error).message}`, { cause })
    }
  }

  async #revealAll(list: readonly (KeyValue | undefined)[]): Promise<readonly (KeyValue | undefined)[]> {
    return await Promise.all(list.map(kv => kv && this.#reveal(kv)))
  }

  async #revealChange(change: Change): Promise<Change> {
    const previous = change.previous && { previous: await this.#reveal(change.previous) }
    return change.type === 'put'
      ? { ...change, kv: await this.#reveal(change.kv), ...previous }
      : { ...change, ...previous }
  }
}

function isEncrypted(value: Uint8Array): boolean {
  return encryptedPrefix.equals(value.subarray(0, encryptedPrefix.length))
}

/** The provider that wrote the value; unencrypted values are read by `identity`, if it is configured. */
function findProvider(value: Uint8Array, providers: readonly Provider[]): Provider | undefined {
  if (!isEncrypted(value)) return providers.find(({ prefix }) => prefix === '')
  return providers.find(
    ({ prefix }) => prefix !== '' && Buffer.from(prefix).equals(value.subarray(0, prefix.length)),
  )
}
