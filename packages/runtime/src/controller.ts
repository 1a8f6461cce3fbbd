import type { Kind } from '@coxswain/apimachinery/kinds'
import { formatGroupVersion, formatKey, type ObjectKey, parseKey } from '@coxswain/apimachinery/meta'
import { isConflict, isStatusError } from '@coxswain/apimachinery/status'
import { isAbort, isReported, TaskGroup } from '@coxswain/kit'
import { WorkQueue } from '@coxswain/workqueue'
import type { ControllerDefinition } from './controller-builder.ts'
import type { ControllerDependencies } from './controller-dependencies.ts'
import { indexByOwner, ownerIndex } from './dependents/marks.ts'
import { Workflow } from './dependents/workflow.ts'
import { isRuntimeError } from './errors.ts'
import { Attempt } from './internal/attempt.ts'
import { EventSources } from './internal/event-sources.ts'
import { HotLoopDetector } from './internal/hot-loop.ts'
import { Pace } from './internal/pace.ts'
import { ReconcileTraces } from './internal/reconcile-traces.ts'
import { withFinalizers } from './internal/with-finalizers.ts'
import type { Reconciler, Result } from './reconcile.ts'
import type { ReconcileRecord } from './reconcile-record.ts'
import { type Trigger, TriggerLog } from './trigger.ts'

/** The number of consecutive failures before an event is recorded; most failures have passed by then. */
const failuresForEvent = 3
/** The longest event message that API servers accept. */
const longestMessage = 1024

/** Runs one controller: events -> keys -> queue -> workers -> reconcile. */
export class Controller {
  readonly definition: ControllerDefinition
  readonly #deps: ControllerDependencies
  readonly #queue: WorkQueue<string>
  readonly #sources: EventSources
  readonly #triggers = new TriggerLog()
  /** Undefined unless traces are made. */
  readonly #traces: ReconcileTraces | undefined
  readonly #hotLoops: HotLoopDetector
  readonly #pace: Pace
  readonly #reconciler: Reconciler
  readonly #underWay = new Set<Attempt>()

  constructor(definition: ControllerDefinition, deps: ControllerDependencies) {
    const { options } = definition
    const { cache, metrics } = deps
    const env = { ...deps.env, log: deps.env.log.child({ controller: definition.name }) }
    this.definition = definition
    this.#deps = { ...deps, env }
    this.#reconciler = this.#createReconciler()
    this.#hotLoops = new HotLoopDetector(env.clock)
    this.#traces =
      env.tracer && new ReconcileTraces(env.tracer, { controller: definition.name, kind: definition.for })
    this.#pace = new Pace(env.clock, options.minInterval)
    this.#queue = new WorkQueue({
      clock: env.clock,
      metrics: metrics.queue,
      ...(options.rateLimiter && { rateLimiter: options.rateLimiter() }),
    })
    const onKey = (key: ObjectKey, trigger: Trigger, priority: number, delay = 0): void => {
      const text = formatKey(key)
      this.#triggers.add(text, trigger)
      const after = Math.max(delay, this.#pace.wait(text))
      this.#traces?.queued(text, trigger, after)
      this.#queue.add(text, { priority, after })
    }
    this.#sources = new EventSources({ definition, cache, clusters: deps.clusters, env, onKey })
  }

  /** The reconcile of the definition with dependents before it, and finalizers around both. */
  #createReconciler(): Reconciler {
    const { name, for: kind, dependents, finalizers, reconcile } = this.definition
    if (!kind) return reconcile
    if (!dependents) return finalizers.length > 0 ? withFinalizers(kind, finalizers, reconcile) : reconcile
    for (const dependent of dependents.dependents)
      this.#deps.cache.addIndex(dependent.kind, ownerIndex, indexByOwner)
    const watch = (lazy: Kind): void => this.#sources.watch(lazy)
    const workflow = new Workflow({ controller: name, kind, definition: dependents, watch })
    return withFinalizers(kind, [workflow.finalizer, ...finalizers], workflow.before(reconcile))
  }

  /** How many objects wait for a worker now. */
  get depth(): number {
    return this.#queue.size
  }

  /** Creates the informers it needs, so that they sync before it runs. */
  prepare(): void {
    const { cache, clusters } = this.#deps
    for (const { kind, cluster, lazy } of this.definition.sources) {
      if (lazy) continue
      const holder = cluster === undefined ? cache : clusters.get(cluster).cache
      holder.informersFor(kind)
    }
  }

  /**
   * Reconciles until `signal` aborts; then waits for reconciles in progress. Resolves when nothing runs any more.
   * `hardStop` aborts the signals of reconciles in progress.
   */
  async run(signal: AbortSignal, hardStop: AbortSignal): Promise<void> {
    const { concurrency = 1 } = this.definition.options
    const { metrics } = this.#deps
    this.#sources.start()
    const unobserve = metrics.observe(this.#queue)
    const onAbort = (): void => {
      this.#sources.stop()
      this.#queue.shutDown()
      unobserve()
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    const onHardStop = (): void => {
      for (const attempt of this.#underWay) attempt.stop(hardStop.reason)
    }
    hardStop.addEventListener('abort', onHardStop, { once: true })
    // Workers start when the initial list is queued, so that priorities take effect.
    await this.#sources.synced(signal)
    metrics.workers(concurrency)
    const group = new TaskGroup()
    for (let i = 0; i < concurrency; i++) group.spawn(() => this.#work(signal, hardStop))
    await group.join()
    await this.#sources.stopped()
    hardStop.removeEventListener('abort', onHardStop)
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
    const { env, metrics } = this.#deps
    const { clock } = env
    const { name, options } = this.definition
    const started = clock.now()
    const start = clock.monotonic()
    const triggers = this.#triggers.take(key)
    const failures = this.#queue.retries(key)
    const trace = this.#traces?.begin(key)
    const span = trace?.span
    using attempt = new Attempt(this.#deps, { key, triggers, failures, timeout: options.timeout, span })
    if (hardStop.aborted) attempt.stop(hardStop.reason)
    this.#underWay.add(attempt)
    metrics.started()
    const outcome = await this.#run(key, attempt, hardStop)
    this.#underWay.delete(attempt)
    const duration = clock.monotonic() - start
    metrics.finished(outcome.result === 'terminal' ? 'error' : outcome.result, duration / 1000)
    const { calls } = attempt
    const now = this.#queue.retries(key)
    const took = Math.round(duration * 1000) / 1000 // readable in logs
    const record = {
      controller: name,
      key,
      started,
      duration: took,
      triggers,
      calls,
      ...outcome,
      failures: now,
    }
    trace?.end(record)
    this.#report(record, hardStop)
    // A reconcile that has recorded a Warning has given the reason.
    if (outcome.error !== undefined && !hardStop.aborted && !attempt.hasWarned) this.#tellFailure(record)
  }

  /** Never rejects. */
  async #run(key: string, attempt: Attempt, hardStop: AbortSignal): Promise<Outcome> {
    try {
      const { context } = attempt
      const result = context.span
        ? await context.span.run(() => this.#reconciler(context))
        : await this.#reconciler(context)
      this.#queue.forget(key)
      if (!result) return { result: 'success' }
      this.#requeue(key, result)
      return { result: 'requeue_after', requeueAfter: result.requeueAfter }
    } catch (error) {
      if (attempt.timedOut) this.#deps.metrics.timedOut()
      return this.#fail(key, attempt.timedOut ?? error, hardStop)
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
    this.#traces?.queued(key, { type: 'Retry' }, requeueAfter)
    return { result: 'error', error, requeueAfter }
  }

  #requeue(key: string, { requeueAfter, priority }: Result): void {
    this.#triggers.add(key, { type: 'RequeueAfter' })
    this.#traces?.queued(key, { type: 'RequeueAfter' }, requeueAfter)
    this.#queue.add(key, { after: requeueAfter, priority: priority ?? this.#queue.priorityOf(key) })
  }

  #report(record: ReconcileRecord, hardStop: AbortSignal): void {
    this.#log(record, hardStop)
    try {
      this.#deps.onReconcile?.(record)
    } catch (error) {
      this.#deps.env.log.error('an onReconcile listener threw', { error })
    }
  }

  /** Conflicts, an unreachable server and a lost lease are not the object's fault. */
  #tellFailure({ key, error, result, failures }: ReconcileRecord): void {
    const { cache, events, errorEvents } = this.#deps
    const { for: kind } = this.definition
    if (!errorEvents || !kind || (result !== 'terminal' && failures < failuresForEvent)) return
    if (isConflict(error) || isReported(error) || isRuntimeError(error, 'NotLeader')) return
    const object = cache.get(kind, parseKey(key))
    if (!object) return
    const message = error instanceof Error ? error.message : String(error)
    const shown = message.length > longestMessage ? `${message.slice(0, longestMessage - 3)}...` : message
    events.warning(
      { apiVersion: formatGroupVersion(kind), kind: kind.kind, metadata: object.metadata },
      'ReconcileError',
      shown,
    )
  }

  #log(record: ReconcileRecord, hardStop: AbortSignal): void {
    const { log } = this.#deps.env
    const { error, result } = record
    if (result === 'success' || result === 'requeue_after') {
      log.debug('reconciled', { ...record })
      if (!this.#hotLoops.reconciled(record)) return
      this.#deps.metrics.hotLoop()
      log.warn('hot loop: the same object is reconciled over and over', { ...record })
    } else if (isConflict(error)) log.debug('reconcile hit a conflict, will retry', { ...record })
    else if (hardStop.aborted && isAbort(error, hardStop)) log.debug('reconcile was stopped', { ...record })
    else if (isReported(error)) log.debug('reconcile got no answer, will retry', { ...record })
    else log.error('reconcile failed', { ...record })
  }
}

type Outcome = Pick<ReconcileRecord, 'result'> & Partial<Pick<ReconcileRecord, 'requeueAfter' | 'error'>>

/** What would be a panic in Go: a bug in the program, not a failed call. */
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
