import { encodeText, type Random } from '@coxswain/kit'
import { isStoreError } from '../errors.ts'
import type { Operation, Store, TransactionResult, WatchBatch } from '../store.ts'
import { checkLinearizable } from './linearizable.ts'
import {
  createStoreModel,
  projectKey,
  type RecordedInterval,
  type RecordedOperation,
  type StoreState,
  toSeen,
  valueModel,
} from './operation.ts'
import { type RecordedWatch, settleUnknown, validateWatches } from './watch-validator.ts'

export interface WorkloadOptions {
  readonly random: Random
  /** No other client may write to the stores. Clients and watches are distributed over them. */
  readonly stores: readonly Store[]
  /** @default 8 */
  readonly clients?: number
  /** Per client. @default 30 */
  readonly operations?: number
  /** @default 6 */
  readonly keys?: number
  /** The prefix of all keys; it must be empty. @default '/history/' */
  readonly prefix?: string
  /** Called between operations of a client, to inject faults. */
  readonly between?: () => Promise<void>
  /** Called when the clients are done, before the watches are. */
  readonly beforeEnd?: () => Promise<void>
}

export interface History {
  readonly initial: StoreState
  readonly operations: readonly RecordedInterval[]
  readonly watches: readonly RecordedWatch[]
}

/** Runs concurrent clients and watches on the stores, and records what each of them saw. */
export async function recordHistory(options: WorkloadOptions): Promise<History> {
  const { stores, clients = 8, prefix = '/history/' } = options
  const { revision } = await stores[0]!.status()
  const recorder = new Recorder(options, prefix)
  const ended = new AbortController()
  const watches = stores.flatMap(store => [
    { store, prefix, previous: true },
    { store, prefix: `${prefix}a`, previous: false },
  ])
  const watching = watches.map(watch => recorder.watch(watch, revision + 1, ended.signal))
  await Promise.all(Array.from({ length: clients }, (_, client) => recorder.client(client)))
  await options.beforeEnd?.()
  const last = await recorder.lastRevision()
  await recorder.untilTold(last)
  ended.abort()
  return {
    initial: { revision, keys: new Map() },
    operations: recorder.operations,
    watches: await Promise.all(watching),
  }
}

/** The violations in a history; empty when there are none. */
export function checkHistory(history: History): string[] {
  const { initial, watches } = history
  const problems = validateWatches(watches, history.operations, initial)
  const operations = settleUnknown(history.operations, watches)
  const verdict = checkLinearizable(operations, createStoreModel(initial))
  if (!verdict.linearizable) {
    const stuck = verdict.stuck.map(op => JSON.stringify(op)).join('\n  ')
    problems.push(
      `not linearizable after ${verdict.explained.length} operations; none can come next of\n  ${stuck}`,
    )
  }
  const keys = new Set(
    operations.flatMap(({ op }) => (op.type === 'transact' ? op.writes.map(({ key }) => key) : [])),
  )
  for (const key of keys) {
    if (!checkLinearizable(projectKey(operations, key), valueModel).linearizable) {
      problems.push(`the values of ${key} are not linearizable`)
    }
  }
  return problems
}

class Recorder {
  readonly operations: RecordedInterval[] = []
  readonly #options: WorkloadOptions
  readonly #prefix: string
  readonly #delivered: number[] = []
  #time = 0
  #values = 0
  #wake: (() => void) | undefined

  constructor(options: WorkloadOptions, prefix: string) {
    this.#options = options
    this.#prefix = prefix
  }

  async client(index: number): Promise<void> {
    const { random, stores, operations = 30, between } = this.#options
    const store = stores[index % stores.length]!
    /** The last revision seen of each key, for compare-and-set. */
    const seen = new Map<string, number>()
    for (let i = 0; i < operations; i++) {
      const chance = random.below(100)
      const key = this.#key()
      if (chance < 20) await this.#get(store, key, seen)
      else if (chance < 28) await this.#range(store, seen)
      else await this.#write(store, chance, seen)
      await between?.()
    }
  }

  async watch(
    what: { readonly store: Store; readonly prefix: string; readonly previous: boolean },
    from: number,
    signal: AbortSignal,
  ): Promise<RecordedWatch> {
    const { store, prefix, previous } = what
    const place = this.#delivered.push(from - 1) - 1
    const streams: { from: number; batches: WatchBatch[] }[] = []
    for (let next = from; !signal.aborted; ) {
      const batches: WatchBatch[] = []
      streams.push({ from: next, batches })
      // Streams are closed now and then, so that every history includes resuming.
      let left = 1 + this.#options.random.below(40)
      try {
        for await (const batch of store.watch(prefix, { from: next, previous, progress: true, signal })) {
          batches.push(batch)
          next = batch.revision + 1
          this.#delivered[place] = batch.revision
          this.#wake?.()
          if (--left === 0) break
        }
      } catch (error) {
        if (!isStoreError(error) || error.code === 'Compacted') throw error
      }
    }
    return { prefix, previous, streams }
  }

  /** Resolves when every watch has delivered the changes up to `revision`. */
  async untilTold(revision: number): Promise<void> {
    const { stores, random } = this.#options
    const { watchProgress } = await stores[0]!.status()
    const isBehind = () => this.#delivered.some(delivered => delivered < revision)
    while (isBehind()) {
      for (const store of stores) store.requestProgress()
      if (!watchProgress) {
        // Without progress notifications, only a change under its prefix shows how far a watch has come.
        const key = `${this.#prefix}a-last-${random.below(1000)}`
        await this.#transact(
          stores[0]!,
          { writes: [{ key, value: this.#value() }], conditions: [] },
          new Map(),
        )
      }
      // The awaited batch may have arrived in the meantime.
      if (!isBehind()) return
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  /** Waits until the store answers again, whatever faults were injected. */
  async lastRevision(): Promise<number> {
    for (let tries = 0; ; tries++) {
      try {
        const { revision } = await this.#options.stores[0]!.get(`${this.#prefix}a`)
        return revision
      } catch (error) {
        if (tries === 20 || isStoreError(error, 'Closed')) throw error
      }
    }
  }

  #key(): string {
    const { random, keys = 6 } = this.#options
    return `${this.#prefix}${'abc'[random.below(3)]}${random.below(Math.ceil(keys / 3))}`
  }

  #value(): string {
    return `v${++this.#values}`
  }

  async #get(store: Store, key: string, seen: Map<string, number>): Promise<void> {
    const call = ++this.#time
    try {
      const { kv, revision } = await store.get(key)
      this.#record(call, { type: 'get', key, result: { revision, kv: kv && toSeen(kv) } })
      seen.set(key, kv?.modRevision ?? 0)
    } catch (error) {
      assertTransient(error)
    }
  }

  async #range(store: Store, seen: Map<string, number>): Promise<void> {
    const call = ++this.#time
    const prefix = this.#options.random.below(2) === 0 ? this.#prefix : `${this.#prefix}a`
    try {
      const { items, revision } = await store.range(prefix)
      const result = { revision, items: items.map(kv => [kv.key, toSeen(kv)] as const) }
      this.#record(call, { type: 'range', prefix, result })
      for (const kv of items) seen.set(kv.key, kv.modRevision)
    } catch (error) {
      assertTransient(error)
    }
  }

  async #write(store: Store, chance: number, seen: Map<string, number>): Promise<void> {
    const key = this.#key()
    const held = [{ key, modRevision: seen.get(key) ?? 0 }]
    const put = { key, value: this.#value() }
    const gone = { key, value: undefined }
    const other = this.#key()
    if (chance < 40) await this.#transact(store, { conditions: [], writes: [put] }, seen)
    else if (chance < 70) await this.#transact(store, { conditions: held, writes: [put] }, seen)
    else if (chance < 78) await this.#transact(store, { conditions: [], writes: [gone] }, seen)
    else if (chance < 88) await this.#transact(store, { conditions: held, writes: [gone] }, seen)
    else if (other !== key) {
      const both = [put, { key: other, value: chance < 94 ? this.#value() : undefined }]
      await this.#transact(store, { conditions: chance % 2 === 0 ? held : [], writes: both }, seen)
    }
  }

  async #transact(
    store: Store,
    what: Pick<Extract<RecordedOperation, { type: 'transact' }>, 'conditions' | 'writes'>,
    seen: Map<string, number>,
  ): Promise<void> {
    const { conditions, writes } = what
    const operations = writes.map(
      ({ key, value }): Operation =>
        value === undefined ? { type: 'delete', key } : { type: 'put', key, value: encodeText(value) },
    )
    const call = ++this.#time
    let result: TransactionResult
    try {
      result = await store.transact({ conditions, operations })
    } catch (error) {
      assertTransient(error)
      if (isStoreError(error, 'UnknownOutcome')) {
        this.operations.push({
          call,
          return: Number.POSITIVE_INFINITY,
          op: { type: 'transact', conditions, writes, result: 'unknown' },
        })
      }
      return
    }
    const { committed, revision } = result
    const found = (result.committed ? result.previous : result.present).map(kv => kv && toSeen(kv))
    this.#record(call, { type: 'transact', conditions, writes, result: { committed, revision, found } })
    for (const [i, { key }] of conditions.entries()) if (!committed) seen.set(key, found[i]?.modRevision ?? 0)
    if (committed) for (const { key, value } of writes) seen.set(key, value === undefined ? 0 : revision)
  }

  #record(call: number, op: RecordedOperation): void {
    this.operations.push({ call, return: ++this.#time, op })
  }
}

/** Errors that a store may return while faults are injected. */
function assertTransient(error: unknown): void {
  if (isStoreError(error) && ['Unavailable', 'UnknownOutcome', 'Failed'].includes(error.code)) return
  throw error
}
