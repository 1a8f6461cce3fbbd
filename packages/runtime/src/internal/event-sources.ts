import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import type { Registration } from '@coxswain/informers'
import { createBackoff, type Env, TaskGroup, type Timer } from '@coxswain/kit'
import type { Cache } from '../cache.ts'
import type { Clusters } from '../clusters.ts'
import type { ControllerDefinition } from '../controller-builder.ts'
import type { ObjectEvent } from '../predicates.ts'
import { type CustomSource, type KindSource, keysOfEvent, type TimerSource } from '../source.ts'
import { objectTrigger, type Trigger } from '../trigger.ts'
import { kindKey } from './kind-key.ts'

export interface EventSourcesOptions {
  readonly definition: ControllerDefinition
  readonly cache: Cache
  readonly clusters: Clusters
  readonly env: Env
  /** Something has to be reconciled. */
  readonly onKey: (key: ObjectKey, trigger: Trigger, priority: number, delay?: number) => void
}

/** The priority of the initial list and of resyncs: after everything else. */
const lowPriority = -100
const defaultResync = 10 * 3_600_000
const noKeys: readonly ObjectKey[] = []

/** The sources of a controller: events -> predicates -> mapping -> keys. */
export class EventSources {
  readonly #options: EventSourcesOptions
  readonly #registrations: Registration[] = []
  readonly #undo: (() => void)[] = []
  /** The kinds that are watched on demand. */
  readonly #activated = new Set<string>()
  /** The custom sources. */
  readonly #tasks = new TaskGroup()
  readonly #ready: Promise<void>[] = []

  constructor(options: EventSourcesOptions) {
    this.#options = options
  }

  start(): void {
    const { definition, onKey } = this.#options
    for (const source of definition.sources) if (!source.lazy) this.#watch(source)
    for (const channel of definition.channels) {
      this.#undo.push(channel.subscribe(key => onKey(key, { type: 'Channel' }, 0)))
    }
    for (const timer of definition.timers) this.#repeat(timer)
    for (const source of definition.customSources) this.#start(source)
  }

  /** Starts watching a kind whose source is lazy; once. */
  watch(kind: Kind): void {
    const id = kindKey(kind)
    if (this.#activated.has(id)) return
    this.#activated.add(id)
    for (const source of this.#options.definition.sources)
      if (source.lazy && kindKey(source.kind) === id) this.#watch(source)
  }

  /** Resolves when the initial lists have been passed on, or `signal` aborts. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#registrations.map(registration => registration.synced(signal)))
    await Promise.all(this.#ready)
  }

  stop(): void {
    for (const registration of this.#registrations) registration.remove()
    for (const undo of this.#undo) undo()
    this.#tasks.abort()
  }

  /** Resolves when the custom sources have ended after `stop`. */
  stopped(): Promise<void> {
    return this.#tasks.join()
  }

  #start(source: CustomSource): void {
    const { cache, env, onKey } = this.#options
    const { clock, log, random } = env
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ready.push(promise)
    this.#tasks.spawn(async signal => {
      signal.addEventListener('abort', () => resolve(), { once: true })
      const backoff = createBackoff({ clock, random, initial: 1_000, cap: 60_000, resetAfter: 120_000 })
      while (!signal.aborted) {
        try {
          await source({
            send: (key, { priority = 0, after } = {}) => {
              if (!signal.aborted) onKey(key, { type: 'Generic' }, priority, after)
            },
            ready: resolve,
            lookup: cache,
            clock,
            log,
            signal,
          })
          return resolve()
        } catch (error) {
          if (signal.aborted) return
          log.error('a source failed, will restart it', { error })
        }
        await clock.sleep(backoff.next(), { signal }).catch(() => {})
      }
    })
  }

  #watch(source: KindSource): void {
    const { definition, env, clusters } = this.#options
    const cache = source.cluster === undefined ? this.#options.cache : clusters.get(source.cluster).cache
    const { resyncPeriod = defaultResync } = definition.options
    const resyncs = source.role === 'for' && resyncPeriod > 0
    const options = resyncs ? { resyncPeriod: resyncPeriod * (0.9 + 0.2 * env.random.next()) } : {}
    for (const informer of cache.informersFor(source.kind)) {
      const registration = informer.addHandler(
        {
          onAdd: (object, context) => this.#handle(source, { type: 'create', object, ...context }),
          onUpdate: (old, object, context) =>
            this.#handle(source, { type: 'update', object, old, ...context }),
          onDelete: (object, context) => this.#handle(source, { type: 'delete', object, ...context }),
        },
        options,
      )
      this.#registrations.push(registration)
    }
  }

  #repeat({ every, keys }: TimerSource): void {
    const { cache, env, onKey } = this.#options
    let timer: Timer
    const arm = (): void => {
      timer = env.clock.after(every, () => {
        arm()
        try {
          for (const key of keys(cache)) onKey(key, { type: 'Timer' }, 0)
        } catch (error) {
          env.log.error('the keys of a timer could not be computed', { error })
        }
      })
    }
    arm()
    this.#undo.push(() => timer.cancel())
  }

  #handle(source: KindSource, event: ObjectEvent): void {
    if (!source.predicates.every(predicate => predicate(event))) return
    const { cache, onKey } = this.#options
    const { handlers } = source
    const keys = handlers ? keysOfEvent(handlers, event, cache) : source.map(event.object, cache)
    // The keys that the old object maps to are reconciled as well. Handlers see the old object themselves.
    const mayHaveLeft =
      !handlers && event.type === 'update' && source.role !== 'for' && event.old !== event.object
    const others = mayHaveLeft ? source.map(event.old, cache) : noKeys
    if (keys.length === 0 && others.length === 0) return
    const trigger = triggerOf(event, source.kind.kind)
    const priority =
      trigger.type === 'Initial' || trigger.type === 'Resync' ? lowPriority : (source.priority ?? 0)
    for (const key of keys) onKey(key, trigger, priority, source.delay)
    for (const key of others) {
      const isTold = keys.some(({ name, namespace }) => name === key.name && namespace === key.namespace)
      if (!isTold) onKey(key, trigger, priority, source.delay)
    }
  }
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
