import type { ApiObject } from '@coxswain/apimachinery/meta'
import { type Backoff, createBackoff, type Env, isReported } from '@coxswain/kit'
import { InformerError } from './errors.ts'
import { classify } from './internal/failure.ts'
import { listAll } from './internal/page-list.ts'
import { QuietGuard } from './internal/quiet-guard.ts'
import type { ListerWatcher, WatchEvent, WatchQuery } from './lister-watcher.ts'
import { isOlder } from './resource-version.ts'
import { storeKey } from './store.ts'
import { initialState, isStaleAnswer, type Outcome, type ReflectorState, transition } from './transition.ts'

/** Receives the output of a reflector. Calls come in the order of the server's history. */
export interface ReflectorSink<T> {
  /** The full collection at `resourceVersion`. */
  replace(objects: readonly T[], resourceVersion: string): void
  /** One object was added, changed or deleted. */
  apply(event: { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }): void
  /** Nothing else happened up to `resourceVersion`. */
  progress(resourceVersion: string): void
}

export interface ReflectorOptions<T extends ApiObject> {
  readonly source: ListerWatcher<T>
  readonly sink: ReflectorSink<T>
  readonly env: Env
  /** Use a watch-list to get the initial state if the server supports it. @default true */
  readonly watchList?: boolean
  /** Applied to every object on arrival, so that nothing is held that is not kept. @default none */
  readonly prepare?: (object: T) => T
  /** Allows the source to omit managedFields. @default false */
  readonly omitManagedFields?: boolean
  /** Called for every failure, after it was logged. */
  readonly onFailure?: (error: unknown) => void
  /** Decides the next state. @default transition */
  readonly transition?: typeof transition
}

/** The server ends a watch after between one and two of these, to spread watches over servers. */
const watchMinutes = 5
/** How much later than requested a server may end a watch before it is considered dead. */
const endMargin = 10_000
/** Servers that send bookmarks do so every minute: after one was received, a longer silence means a dead connection. */
const bookmarkLimit = 150_000
/** A resource that is not served yet (its CRD is not installed) is polled at this interval, with jitter of up to as much. */
const absentDelay = 1_000
/**
 * When the requested history is compacted, the current state is requested at once, spread over this time: servers drop history
 * when a CRD changes. If it happens more often than once in the period, the reflector backs off.
 */
const promptDelay = 100
const calmPeriod = 60_000
/** A watch-list that sends nothing for this long before it is complete is not a watch-list. */
const streamingLimit = 15_000
const initialEventsEnd = 'k8s.io/initial-events-end'

/**
 * Keeps `sink` eventually equal to the server's collection; it is the sink's only writer. {@link transition} decides its next
 * state.
 */
export class Reflector<T extends ApiObject> {
  readonly #options: ReflectorOptions<T>
  readonly #backoff: Backoff
  readonly #transition: typeof transition
  #state: ReflectorState
  /** Whether the server sends bookmarks: one was received, and none was missed since. */
  #bookmarks = false
  /** When it last had to wait. */
  #lastPause = Number.NEGATIVE_INFINITY

  constructor(options: ReflectorOptions<T>) {
    const { clock, random } = options.env
    this.#options = options
    this.#transition = options.transition ?? transition
    this.#state = initialState(options.watchList ?? true)
    this.#backoff = createBackoff({
      clock,
      random,
      initial: 800,
      cap: 30_000,
      jitter: 1,
      resetAfter: 120_000,
    })
  }

  get state(): ReflectorState {
    return this.#state
  }

  /** Resolves once `signal` aborts. Failures are logged and retried forever, never thrown. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options.env
    while (!signal.aborted) {
      const outcome = await this.#perform(signal)
      if (signal.aborted) return
      const { state, pause } = this.#transition(this.#state, outcome)
      if (state.phase !== this.#state.phase || outcome.type !== 'ended') {
        log.debug('reflector changes its state', {
          from: this.#state.phase,
          to: state.phase,
          outcome: outcome.type,
        })
      }
      this.#state = state
      if (pause) await clock.sleep(this.#delay(outcome), { signal }).catch(() => {})
    }
  }

  #delay(outcome: Outcome): number {
    const { clock, random } = this.#options.env
    if (outcome.type === 'failed' && outcome.failure === 'absent') return absentDelay * (1 + random.next())
    const now = clock.monotonic()
    const isRare = now - this.#lastPause >= calmPeriod
    this.#lastPause = now
    const isExpired = outcome.type === 'failed' && outcome.failure === 'expired'
    return isRare && isExpired ? promptDelay * random.next() : this.#backoff.next()
  }

  /** Never rejects. */
  async #perform(signal: AbortSignal): Promise<Outcome> {
    const { phase } = this.#state
    try {
      return phase === 'listing' ? await this.#list(this.#state.from, signal) : await this.#watch(signal)
    } catch (error) {
      if (signal.aborted) return { type: 'quiet' }
      const failure = classify(error)
      const { log } = this.#options.env
      if (failure === 'other' && !isReported(error))
        log.warn('reflector failed, will retry', { phase, error })
      else log.debug('reflector has to relist', { phase, failure, error })
      this.#options.onFailure?.(error)
      return { type: 'failed', failure }
    }
  }

  async #list(from: string, signal: AbortSignal): Promise<Outcome> {
    const { source, sink, env, prepare } = this.#options
    const { resourceVersion, items } = await listAll(source, from, { clock: env.clock, signal })
    if (signal.aborted) return { type: 'quiet' }
    for (const item of items) check(item)
    if (isStaleAnswer(from, resourceVersion)) {
      env.log.warn('the response to a list is older than requested', { asked: from, resourceVersion })
      return { type: 'failed', failure: 'ahead' }
    }
    sink.replace(prepare ? items.map(prepare) : items, resourceVersion)
    return { type: 'listed', resourceVersion }
  }

  async #watch(signal: AbortSignal): Promise<Outcome> {
    const { clock, random } = this.#options.env
    const timeoutSeconds = Math.floor(60 * watchMinutes * (1 + random.next()))
    const controller = new AbortController()
    const onAbort = (): void => controller.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const endLimit = timeoutSeconds * 1000 + endMargin
    const streaming = this.#state.phase === 'streaming'
    let quiet = false
    const guard = new QuietGuard(clock, streaming ? streamingLimit : this.#quietLimit(endLimit), () => {
      quiet = true
      this.#bookmarks = false
      controller.abort()
    })
    const started = clock.monotonic()
    try {
      await this.#follow(controller.signal, timeoutSeconds, event => {
        guard.heard()
        if (event.type === 'BOOKMARK') this.#bookmarks ||= !endsInitialEvents(event)
        if (this.#state.phase === 'watching') guard.expect(this.#quietLimit(endLimit))
      })
    } catch (error) {
      if (!quiet) throw error
    } finally {
      guard.stop()
      signal.removeEventListener('abort', onAbort)
    }
    return quiet ? { type: 'quiet' } : { type: 'ended', lasted: clock.monotonic() - started }
  }

  #quietLimit(endLimit: number): number {
    return this.#bookmarks ? Math.min(bookmarkLimit, endLimit) : endLimit
  }

  async #follow(
    signal: AbortSignal,
    timeoutSeconds: number,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const { source, sink, prepare = same, omitManagedFields } = this.#options
    const query = {
      ...watchQuery(this.#state, timeoutSeconds),
      ...(omitManagedFields && { omitManagedFields }),
    }
    /** The objects that a watch-list has sent so far; undefined once it is complete. */
    let initial = this.#state.phase === 'streaming' ? new Map<string, T>() : undefined
    for await (const event of source.watch(query, signal)) {
      if (signal.aborted) return
      const { resourceVersion } = checkEvent(event).object.metadata
      if (event.type === 'BOOKMARK') {
        if (initial && endsInitialEvents(event)) {
          if (isStaleAnswer(query.resourceVersion, resourceVersion)) {
            throw new InformerError('BadEvent', `a watch-list is older than requested: ${resourceVersion}`)
          }
          sink.replace([...initial.values()], resourceVersion)
          initial = undefined
        } else if (!initial) sink.progress(resourceVersion)
      } else {
        const change = { type: event.type, object: prepare(event.object) }
        if (initial) collect(initial, change)
        else sink.apply(change)
      }
      if (!initial) this.#advance(resourceVersion)
      onEvent(event)
    }
  }

  /** The sink reflects `resourceVersion`. */
  #advance(known: string): void {
    const { watchList } = this.#state
    this.#state = { phase: 'watching', known, watchList, failures: 0 }
  }
}

const same = <T>(object: T): T => object

function watchQuery(state: ReflectorState, timeoutSeconds: number): WatchQuery {
  const common = { timeoutSeconds, allowWatchBookmarks: true } as const
  return state.phase === 'streaming'
    ? {
        ...common,
        resourceVersion: state.from,
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
      }
    : { ...common, resourceVersion: state.known ?? '' }
}

/** Adds one event of a watch-list to the objects so far. As in the store, no object goes back in time. */
function collect<T extends ApiObject>(
  objects: Map<string, T>,
  { type, object }: Exclude<WatchEvent<T>, { readonly type: 'BOOKMARK' }>,
): void {
  const key = storeKey(object)
  const before = objects.get(key)
  if (before && isOlder(object.metadata.resourceVersion, before.metadata.resourceVersion)) return
  if (type === 'DELETED') objects.delete(key)
  else objects.set(key, object)
}

function endsInitialEvents(event: WatchEvent<ApiObject>): boolean {
  return event.type === 'BOOKMARK' && event.object.metadata.annotations?.[initialEventsEnd] === 'true'
}

const eventTypes: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])

function checkEvent<T extends ApiObject>(event: WatchEvent<T>): WatchEvent<T> {
  if (!eventTypes.has(event?.type)) throw new InformerError('BadEvent', 'a watch sent an invalid event')
  if (event.type !== 'BOOKMARK') check(event.object)
  else if (!event.object?.metadata?.resourceVersion) {
    throw new InformerError('BadEvent', 'a bookmark has no resourceVersion')
  }
  return event
}

/** Protects the store from responses that are not from an API server. */
function check(object: ApiObject): void {
  const metadata = object?.metadata
  if (!metadata?.name || !metadata.resourceVersion) {
    throw new InformerError('BadEvent', 'an object has no name or no resourceVersion')
  }
}
