import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Env, Timer } from '@coxswain/kit'
import { applyDelta, type Delta, DeltaQueue, type Notification, type StoreDelta } from './delta.ts'
import type { EventHandler, HandlerOptions, Registration } from './handler.ts'
import { Latch } from './internal/latch.ts'
import { Listener } from './internal/listener.ts'
import { SizeWatch } from './internal/size-watch.ts'
import type { ListerWatcher } from './lister-watcher.ts'
import { deepFreeze, MutationDetector } from './mutation-detector.ts'
import { Reflector } from './reflector.ts'
import { isOlder } from './resource-version.ts'
import { type IndexFunction, type ReadonlyStore, Store, storeKey } from './store.ts'
import { stripManagedFields, type Transform } from './transform.ts'
import { transition } from './transition.ts'

/** Options of an {@link Informer}. */
export interface InformerOptions<T extends ApiObject> {
  readonly source: ListerWatcher<T>
  readonly env: Env
  /** For logs and the simulator's event log. @default 'informer' */
  readonly name?: string
  /** Applied to every object before it is stored. @default stripManagedFields */
  readonly transform?: Transform<T>
  /** Use a watch-list to get the initial state if the server supports it. @default true */
  readonly watchList?: boolean
  /** Freeze every object, so that changing one throws a TypeError. Enabled in tests. @default false */
  readonly freeze?: boolean
  /** Check every second for mutated objects, and log them. Doubles the memory. @default false */
  readonly detectMutations?: boolean
}

/** The pure functions of an informer. Tests replace them to verify that mistakes are detected. */
export interface InformerParts {
  readonly transition: typeof transition
  readonly applyDelta: typeof applyDelta
}

const minimumResync = 1_000
const mutationPeriod = 1_000

/**
 * A local copy of one collection, shared by all its users: one list and one watch however many handlers and
 * readers there are.
 *
 *   ListerWatcher -> Reflector -> DeltaQueue -> Store -> Listeners -> handlers
 *
 * The store is written before handlers are called: a handler that reads it finds the state that it was called for, or a newer one.
 */
export class Informer<T extends ApiObject = ApiObject> {
  readonly name: string
  readonly #env: Env
  readonly #options: InformerOptions<T>
  readonly #parts: InformerParts
  readonly #store = new Store<T>()
  readonly #deltas: DeltaQueue<T>
  readonly #reflector: Reflector<T>
  readonly #listeners = new Set<Listener<T>>()
  /** Armed while the informer runs, one for each listener that requested a resync. */
  readonly #resyncs = new Map<Listener<T>, Timer>()
  readonly #synced = new Latch()
  readonly #sizes: SizeWatch
  readonly #detector: MutationDetector | undefined
  #resourceVersion: string | undefined
  #epoch = 0
  #running = false
  #lastError: unknown

  constructor(options: InformerOptions<T>, parts: InformerParts = { transition, applyDelta }) {
    const {
      source,
      name = 'informer',
      watchList = true,
      detectMutations,
      transform = stripManagedFields,
    } = options
    this.#parts = parts
    this.name = name
    this.#options = options
    this.#env = { ...options.env, log: options.env.log.child({ informer: name }) }
    this.#sizes = new SizeWatch(this.#env.log)
    this.#detector = detectMutations ? new MutationDetector() : undefined
    const lane = this.#env.scheduler.lane(`${name} deltas`)
    this.#deltas = new DeltaQueue(lane, delta => this.#apply(delta))
    this.#reflector = new Reflector({
      source,
      env: this.#env,
      watchList,
      sink: {
        replace: (objects, resourceVersion) =>
          this.#deltas.push({ type: 'Replaced', objects, resourceVersion }),
        progress: resourceVersion => this.#deltas.push({ type: 'Progress', resourceVersion }),
        apply: ({ type, object }) => this.#deltas.push({ type: deltaTypes[type], object }),
      },
      prepare: this.#prepare,
      omitManagedFields: transform === stripManagedFields,
      onFailure: error => {
        this.#lastError = error
      },
      transition: parts.transition,
    })
  }

  get store(): ReadonlyStore<T> {
    return this.#store
  }

  /** Whether the store has been filled by a full list. */
  get hasSynced(): boolean {
    return this.#synced.isSet
  }

  /** The error of the last list or watch that failed, however long ago. */
  get lastError(): unknown {
    return this.#lastError
  }

  /** The phase of the reflector, for debugging. */
  get phase(): string {
    return this.#reflector.state.phase
  }

  /** The resourceVersion that the store reflects; undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion
  }

  /** Counts how often the server's history was replaced: it was restored, or is another server. */
  get epoch(): number {
    return this.#epoch
  }

  /** Resolves when `hasSynced`, or when `signal` aborts. Never rejects. */
  synced(signal: AbortSignal): Promise<void> {
    return this.#synced.wait(signal)
  }

  /** Adds an index for `store.byIndex(name, value)`. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#store.addIndex(name, valuesOf)
  }

  /** May be called at any time: a handler that is added late first receives all existing objects. */
  addHandler(handler: EventHandler<T>, options: HandlerOptions = {}): Registration {
    const { resyncPeriod = 0 } = options
    const listener = new Listener<T>({
      handler,
      lane: this.#env.scheduler.lane(`${this.name} handler`),
      log: this.#env.log,
      resyncPeriod: resyncPeriod > 0 ? Math.max(resyncPeriod, minimumResync) : 0,
      onRemove: removed => this.#remove(removed),
    })
    this.#listeners.add(listener)
    listener.notify(
      this.#store.list().map(object => ({ type: 'added', object })),
      true,
    )
    if (this.hasSynced) listener.markSynced()
    if (this.#running) this.#armResync(listener)
    return listener
  }

  /** Resolves once `signal` aborts. Once only. */
  async run(signal: AbortSignal): Promise<void> {
    this.#running = true
    for (const listener of this.#listeners) this.#armResync(listener)
    const detection = this.#armDetection()
    const onAbort = (): void => {
      this.#running = false
      for (const timer of this.#resyncs.values()) timer.cancel()
      this.#resyncs.clear()
      detection?.cancel()
    }
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    await this.#reflector.run(signal)
  }

  /** One error for each object that was mutated since the last call; empty unless `detectMutations`. */
  findMutations(): Error[] {
    return this.#detector?.check() ?? []
  }

  readonly #prepare = (received: T): T => {
    const { transform = stripManagedFields, freeze } = this.#options
    const object = transform(received)
    return freeze ? deepFreeze(object) : object
  }

  #apply(delta: Delta<T>): void {
    if (delta.type === 'Sync') return void delta.run()
    const resourceVersion = 'object' in delta ? delta.object.metadata.resourceVersion : delta.resourceVersion
    const before = this.#resourceVersion
    if (delta.type === 'Replaced' && before !== undefined && isOlder(resourceVersion, before)) this.#epoch++
    if (delta.type === 'Replaced' || before === undefined || !isOlder(resourceVersion, before)) {
      this.#resourceVersion = resourceVersion
    }
    if (delta.type !== 'Progress') this.#change(delta)
  }

  #change(delta: StoreDelta<T>): void {
    const isInInitialList = !this.hasSynced
    const notifications = this.#parts.applyDelta(this.#store, delta)
    if (this.#detector) this.#recordFor(this.#detector, notifications)
    for (const listener of this.#listeners) {
      listener.notify(notifications, isInInitialList)
      if (isInInitialList) listener.markSynced()
    }
    this.#synced.set()
    this.#sizes.check(this.#store as ReadonlyStore<ApiObject>)
  }

  #remove(listener: Listener<T>): void {
    this.#listeners.delete(listener)
    this.#resyncs.get(listener)?.cancel()
    this.#resyncs.delete(listener)
  }

  #armResync(listener: Listener<T>): void {
    if (listener.resyncPeriod === 0) return
    const timer = this.#env.clock.after(listener.resyncPeriod, () => {
      this.#deltas.push({ type: 'Sync', run: () => listener.resync(this.#store.list()) })
      this.#armResync(listener)
    })
    this.#resyncs.set(listener, timer)
  }

  #armDetection(): Timer | undefined {
    if (!this.#detector) return undefined
    let timer: Timer
    const arm = (): void => {
      timer = this.#env.clock.after(mutationPeriod, () => {
        for (const error of this.findMutations())
          this.#env.log.error('a cached object was changed', { error })
        arm()
      })
    }
    arm()
    return { cancel: () => timer.cancel() }
  }

  #recordFor(detector: MutationDetector, notifications: readonly Notification<T>[]): void {
    for (const { type, object } of notifications) {
      const key = storeKey(object as DeepReadonly<ApiObject>)
      if (type === 'deleted') detector.forget(key)
      else detector.remember(key, object as DeepReadonly<ApiObject>)
    }
  }
}

const deltaTypes = { ADDED: 'Added', MODIFIED: 'Updated', DELETED: 'Deleted' } as const
