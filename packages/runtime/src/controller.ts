import {
  type ApiObject,
  type DeepReadonly,
  formatKey,
  isConflict,
  isStatusError,
  type ObjectKey,
  parseKey,
} from '@coxswain/apimachinery'
import type { Client } from '@coxswain/client'
import type { Registration } from '@coxswain/informers'
import { type Env, isAbort, TaskGroup, type Timer } from '@coxswain/kit'
import { WorkQueue } from '@coxswain/workqueue'
import type { Cache } from './cache.ts'
import type { ControllerDefinition } from './controller-builder.ts'
import { isRuntimeError, RuntimeError } from './errors.ts'
import type { EventRecorder } from './event-recorder.ts'
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizer.ts'
import { createCachedClient } from './internal/cached-client.ts'
import { HotLoopDetector } from './internal/hot-loop.ts'
import type { ControllerMetrics } from './metrics/controller-metrics.ts'
import type { MetricsRegistry } from './metrics/registry.ts'
import type { ApiCall, WriteGuard } from './operator-client.ts'
import type { ObjectEvent } from './predicates.ts'
import type { ReconcileContext, Result } from './reconcile.ts'
import type { ReconcileRecord } from './reconcile-record.ts'
import type { KindSource } from './source.ts'
import { objectTrigger, type Trigger, TriggerLog } from './trigger.ts'

export interface ControllerDependencies {
  readonly client: Client
  readonly cache: Cache
  readonly env: Env
  readonly events: EventRecorder
  readonly metrics: ControllerMetrics
  readonly registry: MetricsRegistry
  readonly guard?: WriteGuard
  readonly onReconcile?: (record: ReconcileRecord) => void
}

/** What was there at the start, and what is only shown again, waits until there is nothing else to do. */
const lowPriority = -100
const defaultResync = 10 * 3_600_000

/** Runs one controller: events -> keys -> queue -> workers -> reconcile. */
export class Controller {
  readonly definition: ControllerDefinition
  readonly #deps: ControllerDependencies
  readonly #queue: WorkQueue<string>
  readonly #triggers = new TriggerLog()
  readonly #hotLoops: HotLoopDetector
  readonly #registrations: Registration[] = []
  readonly #unsubscribe: (() => void)[] = []

  constructor(definition: ControllerDefinition, deps: ControllerDependencies) {
    const { clock, log } = deps.env
    const { rateLimiter } = definition.options
    this.definition = definition
    this.#deps = { ...deps, env: { ...deps.env, log: log.child({ controller: definition.name }) } }
    this.#hotLoops = new HotLoopDetector(clock)
    this.#queue = new WorkQueue({
      clock,
      metrics: deps.metrics.queue,
      ...(rateLimiter && { rateLimiter: rateLimiter() }),
    })
  }

  /** How many objects wait for a worker now. */
  get depth(): number {
    return this.#queue.size
  }

  /** Makes the informers it needs, so that they fill before it runs. */
  prepare(): void {
    for (const { kind } of this.definition.sources) this.#deps.cache.informersFor(kind)
  }

  /**
   * Reconciles until `signal` aborts; then lets what is under way finish. Resolves when nothing runs any more.
   * `hardStop` aborts the signals of reconciles that are under way.
   */
  async run(signal: AbortSignal, hardStop: AbortSignal): Promise<void> {
    const { concurrency = 1 } = this.definition.options
    const { metrics } = this.#deps
    this.#subscribe(signal)
    this.#unsubscribe.push(metrics.observe(this.#queue))
    const onAbort = (): void => {
      for (const registration of this.#registrations) registration.remove()
      for (const unsubscribe of this.#unsubscribe) unsubscribe()
      this.#queue.shutDown()
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    // Work begins when everything that was there is queued: high priority is then known to be high.
    await Promise.all(this.#registrations.map(registration => registration.synced(signal)))
    metrics.workers(concurrency)
    const group = new TaskGroup()
    for (let i = 0; i < concurrency; i++) group.spawn(() => this.#work(signal, hardStop))
    await group.join()
  }

  #subscribe(signal: AbortSignal): void {
    const { resyncPeriod = defaultResync } = this.definition.options
    const { cache, env } = this.#deps
    const period = resyncPeriod * (0.9 + 0.2 * env.random.next())
    for (const source of this.definition.sources) {
      const options = source.role === 'for' && resyncPeriod > 0 ? { resyncPeriod: period } : {}
      for (const informer of cache.informersFor(source.kind)) {
        const registration = informer.addHandler(
          {
            onAdd: (object, { isInInitialList }) =>
              this.#handle(source, { type: 'create', object, isInInitialList }),
            onUpdate: (old, object, { isResync }) =>
              this.#handle(source, { type: 'update', object, old, isResync }),
            onDelete: (object, { finalStateUnknown }) =>
              this.#handle(source, { type: 'delete', object, finalStateUnknown }),
          },
          options,
        )
        this.#registrations.push(registration)
      }
    }
    for (const channel of this.definition.channels) {
      this.#unsubscribe.push(channel.subscribe(key => this.#add(key, { type: 'Channel' }, 0)))
    }
    for (const { every, keys } of this.definition.timers) {
      let timer: Timer
      const arm = (): void => {
        timer = env.clock.after(every, () => {
          if (signal.aborted) return
          arm()
          try {
            for (const key of keys(cache)) this.#add(key, { type: 'Timer' }, 0)
          } catch (error) {
            env.log.error('the keys of a timer could not be found', { error })
          }
        })
      }
      arm()
      this.#unsubscribe.push(() => timer.cancel())
    }
  }

  #handle(source: KindSource, event: ObjectEvent): void {
    if (!source.predicates.every(predicate => predicate(event))) return
    const { cache } = this.#deps
    const isUpdate = event.type === 'update'
    const trigger = triggerOf(event, source.kind.kind)
    const priority = trigger.type === 'Initial' || trigger.type === 'Resync' ? lowPriority : 0
    for (const key of source.map(event.object, cache)) this.#add(key, trigger, priority)
    // What an object concerned before it changed has to hear of it as well.
    if (!isUpdate || source.role === 'for' || event.old === event.object) return
    for (const key of source.map(event.old, cache)) this.#add(key, trigger, priority)
  }

  #add(key: ObjectKey, trigger: Trigger, priority: number): void {
    const text = formatKey(key)
    this.#triggers.add(text, trigger)
    this.#queue.add(text, { priority })
  }

  async #work(signal: AbortSignal, hardStop: AbortSignal): Promise<void> {
    const { scheduler } = this.#deps.env
    for (;;) {
      const key = await this.#queue.get()
      if (key === undefined) return
      await scheduler.step(`reconcile ${this.definition.name}`)
      if (!signal.aborted) await this.#reconcile(key, hardStop)
      this.#queue.done(key)
    }
  }

  /** Never rejects. */
  async #reconcile(key: string, hardStop: AbortSignal): Promise<void> {
    const { env, metrics, onReconcile } = this.#deps
    const { clock } = env
    const begun = { started: clock.now(), at: clock.monotonic() }
    const triggers = this.#triggers.take(key)
    const calls: ApiCall[] = []
    const attempt = this.#createContext(key, { hardStop, triggers, calls })
    metrics.started()
    let outcome: Outcome
    try {
      const result = await this.#runReconciler(attempt.context)
      outcome = result
        ? { result: 'requeue_after', requeueAfter: result.requeueAfter }
        : { result: 'success' }
      this.#queue.forget(key)
      if (result) this.#requeue(key, result)
    } catch (error) {
      outcome = this.#fail(key, attempt.timedOut() ?? error, hardStop)
    } finally {
      attempt.end()
    }
    const duration = clock.monotonic() - begun.at
    metrics.finished(outcome.result === 'terminal' ? 'error' : outcome.result, duration / 1000)
    const record: ReconcileRecord = {
      controller: this.definition.name,
      key,
      started: begun.started,
      duration,
      triggers,
      calls,
      ...outcome,
      failures: this.#queue.retries(key),
    }
    this.#log(record, hardStop)
    try {
      onReconcile?.(record)
    } catch (error) {
      env.log.error('a listener to reconciles threw', { error })
    }
  }

  async #runReconciler(context: ReconcileContext): Promise<Result | undefined> {
    const { for: kind, finalizer, reconcile } = this.definition
    if (!kind || !finalizer) return (await reconcile(context)) ?? undefined
    const { client, key } = context
    const object = (await client.get(kind, key)) as DeepReadonly<ApiObject> | undefined
    if (!object) return (await reconcile(context)) ?? undefined
    if (!object.metadata.deletionTimestamp) {
      await addFinalizer(client, kind, object, finalizer.name)
      return (await reconcile(context)) ?? undefined
    }
    if (!hasFinalizer(object, finalizer.name)) return undefined
    await finalizer.cleanUp(context)
    const latest = (await client.get(kind, key)) as DeepReadonly<ApiObject> | undefined
    if (latest?.metadata.uid === object.metadata.uid)
      await removeFinalizer(client, kind, latest, finalizer.name)
    return undefined
  }

  #createContext(
    key: string,
    { hardStop, triggers, calls }: { hardStop: AbortSignal; triggers: readonly Trigger[]; calls: ApiCall[] },
  ): Attempt {
    const { client, cache, env, events, guard, metrics, registry } = this.#deps
    const { clock, random, log } = env
    const { timeout } = this.definition.options
    const controller = new AbortController()
    const onHardStop = (): void => controller.abort(hardStop.reason)
    if (hardStop.aborted) onHardStop()
    else hardStop.addEventListener('abort', onHardStop, { once: true })
    let timedOut: RuntimeError | undefined
    const timer =
      timeout === undefined
        ? undefined
        : clock.after(timeout, () => {
            metrics.timedOut()
            timedOut = new RuntimeError('ReconcileTimeout', `the reconcile took longer than ${timeout} ms`)
            controller.abort(timedOut)
          })
    const { signal } = controller
    const cached = createCachedClient({
      client,
      cache,
      clock,
      signal,
      onCall: call => calls.push(call),
      ...(guard && { guard }),
    })
    const context: ReconcileContext = {
      key: parseKey(key),
      client: cached,
      clock,
      random,
      events,
      log: log.child({ key }),
      metrics: registry,
      signal,
      triggers,
      failures: this.#queue.retries(key),
    }
    return {
      context,
      timedOut: () => timedOut,
      end: () => {
        timer?.cancel()
        hardStop.removeEventListener('abort', onHardStop)
      },
    }
  }

  #fail(key: string, error: unknown, hardStop: AbortSignal): Outcome {
    const { metrics } = this.#deps
    if (isRuntimeError(error, 'Terminal')) {
      metrics.terminal()
      this.#queue.forget(key)
      return { result: 'terminal', error }
    }
    if (isProgrammingError(error)) metrics.panicked()
    if (hardStop.aborted) return { result: 'error', error }
    this.#triggers.add(key, { type: 'Retry' })
    const requeueAfter = this.#queue.addRateLimited(key, { priority: this.#queue.priorityOf(key) })
    return { result: 'error', error, requeueAfter }
  }

  #requeue(key: string, { requeueAfter, priority }: Result): void {
    this.#triggers.add(key, { type: 'RequeueAfter' })
    this.#queue.add(key, { after: requeueAfter, priority: priority ?? this.#queue.priorityOf(key) })
  }

  #log(record: ReconcileRecord, hardStop: AbortSignal): void {
    const { log } = this.#deps.env
    const { error, key, result } = record
    if (result === 'success' || result === 'requeue_after') {
      log.debug('reconciled', { ...record })
      if (!this.#hotLoops.reconciled(key)) return
      this.#deps.metrics.hotLoop()
      log.warn('hot loop: the same object is reconciled again and again without end', { ...record })
    } else if (isConflict(error)) log.debug('reconcile met a conflict, will try again', { ...record })
    else if (hardStop.aborted && isAbort(error, hardStop)) log.debug('reconcile was stopped', { ...record })
    else log.error('reconcile failed', { ...record })
  }
}

type Outcome = Pick<ReconcileRecord, 'result'> & Partial<Pick<ReconcileRecord, 'requeueAfter' | 'error'>>

interface Attempt {
  readonly context: ReconcileContext
  /** The error to report when the reconcile ended because its time was up. */
  timedOut(): RuntimeError | undefined
  end(): void
}

function triggerOf(event: ObjectEvent, kind: string): Trigger {
  switch (event.type) {
    case 'create':
      return objectTrigger(event.isInInitialList ? 'Initial' : 'Added', kind, event)
    case 'update':
      return objectTrigger(event.isResync ? 'Resync' : 'Updated', kind, event)
    case 'delete':
      return objectTrigger('Deleted', kind, event)
  }
}

/** What would be a panic elsewhere: a mistake in the program, not in the world. */
function isProgrammingError(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  if (isStatusError(error)) return false
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  )
}
