import type { ApiList, ApiObject } from '@coxswain/apimachinery/meta'
import {
  newInternalError,
  newInvalid,
  newResourceExpired,
  newTooLargeResourceVersion,
  newTooManyRequests,
} from '@coxswain/apimachinery/status'
import { type Env, untilAborted } from '@coxswain/kit'
import type { ListerWatcher, ListQuery, WatchEvent, WatchQuery } from '../lister-watcher.ts'

export interface Pod extends ApiObject {
  spec: { value: number }
}

interface Change {
  readonly revision: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Pod
}

/** The probability of each fault, from 0 to 1, whenever it could happen. */
export interface Faults {
  /** A list or watch request fails: 429, 500, or no answer at all. */
  readonly request: number
  /** A watch breaks before an event. */
  readonly drop: number
  /** A watch is ended by the server before an event. */
  readonly end: number
  /** A watch goes silent before an event. */
  readonly silence: number
  /** An event is invalid. */
  readonly garbage: number
  /** A watch reports in-stream that its history is compacted. */
  readonly expire: number
  /** Past events are sent again. */
  readonly replay: number
  /** History is compacted to the present when a change is made. */
  readonly compact: number
  /** The longest delay of a request, in milliseconds. */
  readonly latency: number
}

const noFaults: Faults = {
  request: 0,
  drop: 0,
  end: 0,
  silence: 0,
  garbage: 0,
  expire: 0,
  replay: 0,
  compact: 0,
  latency: 0,
}

/** Requests per second that no client with back-off sends, even if some are pages. */
const stormSize = 20

export interface FakeCollectionOptions {
  readonly env: Env
  readonly faults?: Partial<Faults>
  /** `no`: answers 422, as servers between 1.19 and 1.26. `ignored`: treats it as an ordinary watch. @default 'yes' */
  readonly watchList?: 'yes' | 'no' | 'ignored'
  /** @default true */
  readonly bookmarks?: boolean
}

/** A collection of a server: objects, a history that can be compacted, and every way to misbehave. */
export class FakeCollection implements ListerWatcher<Pod> {
  readonly objects: Map<string, Pod> = new Map()
  readonly requests: { readonly time: number; readonly verb: 'list' | 'watch'; readonly query: unknown }[] =
    []
  openWatches = 0
  /** Whether it sends a bookmark every minute. */
  bookmarks: boolean
  /** Every request is answered with an error. */
  down = false
  /** How often there were more requests within a second than a client with back-off can send. */
  storms = 0
  #env: Env
  #options: FakeCollectionOptions
  #faults: Faults
  #revision = 100
  #compacted = 0
  #history: Change[] = []
  #wake = new Set<() => void>()
  #snapshots = new Map<string, { readonly revision: number; readonly rest: Pod[] }>()

  constructor(options: FakeCollectionOptions) {
    this.#env = options.env
    this.#options = options
    this.bookmarks = options.bookmarks ?? true
    this.#faults = { ...noFaults, ...options.faults }
  }

  get revision(): number {
    return this.#revision
  }

  heal(): void {
    this.#faults = noFaults
    this.#notify()
  }

  /** Creates or updates. */
  put(name: string, value: number): void {
    const existing = this.objects.get(name)
    const revision = ++this.#revision
    const object: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: 'default',
        name,
        uid: existing?.metadata.uid ?? `uid-${revision}`,
        resourceVersion: String(revision),
        creationTimestamp: '2030-01-01T00:00:00Z',
        managedFields: [{ manager: 'test' }],
      },
      spec: { value },
    }
    this.objects.set(name, object)
    this.#record({ revision, type: existing ? 'MODIFIED' : 'ADDED', object })
  }

  remove(name: string): void {
    const existing = this.objects.get(name)
    if (!existing) return
    const revision = ++this.#revision
    this.objects.delete(name)
    const object = { ...existing, metadata: { ...existing.metadata, resourceVersion: String(revision) } }
    this.#record({ revision, type: 'DELETED', object })
  }

  /** Something else in the server changed: the revision moves on. */
  tick(): void {
    this.#revision++
  }

  /** Compacts the history up to now; watches that are behind break. */
  compact(): void {
    this.#compacted = this.#revision
    this.#history = []
    this.#snapshots.clear()
    this.#notify()
  }

  /** As after a restart with an empty store: another history, with new revisions. */
  reset(): void {
    this.objects.clear()
    this.#revision = 1
    this.#compacted = 0
    this.#history = []
    this.#notify()
  }

  async list(query: ListQuery, signal: AbortSignal): Promise<ApiList<Pod>> {
    this.requests.push({ time: this.#env.clock.now(), verb: 'list', query })
    await this.#arrive(signal)
    if (Number(query.resourceVersion) > this.#revision)
      throw newTooLargeResourceVersion(Number(query.resourceVersion), this.#revision, 1)
    let from: { revision: number; rest: Pod[] }
    if (query.continue) {
      const snapshot = this.#snapshots.get(query.continue)
      if (!snapshot) throw newResourceExpired('the continue token is too old')
      from = snapshot
    } else from = { revision: this.#revision, rest: [...this.objects.values()] }
    const limit = query.limit ?? Number.POSITIVE_INFINITY
    const items = from.rest.slice(0, limit).map(copy)
    const rest = from.rest.slice(limit)
    const token = rest.length > 0 ? `${from.revision}/${rest.length}` : undefined
    if (token) this.#snapshots.set(token, { revision: from.revision, rest })
    const metadata = { resourceVersion: String(from.revision), ...(token && { continue: token }) }
    return { apiVersion: 'v1', kind: 'PodList', metadata, items }
  }

  async *watch(query: WatchQuery, signal: AbortSignal): AsyncGenerator<WatchEvent<Pod>, void, undefined> {
    this.requests.push({ time: this.#env.clock.now(), verb: 'watch', query })
    this.openWatches++
    try {
      await this.#arrive(signal)
      yield* this.#stream(query, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      this.openWatches--
    }
  }

  async *#stream(query: WatchQuery, signal: AbortSignal): AsyncGenerator<WatchEvent<Pod>, void, undefined> {
    const { watchList = 'yes' } = this.#options
    if (query.sendInitialEvents && watchList === 'no') {
      throw newInvalid({ group: '', kind: 'ListOptions' }, '', [])
    }
    let at = Number(query.resourceVersion || this.#revision)
    if (at > this.#revision) throw newTooLargeResourceVersion(at, this.#revision, 1)
    if (query.sendInitialEvents || query.resourceVersion === '' || query.resourceVersion === '0') {
      at = this.#revision
      for (const object of [...this.objects.values()]) {
        if (!(yield* this.#pass({ type: 'ADDED', object }, signal))) return
      }
      if (query.sendInitialEvents && watchList === 'yes')
        yield bookmark(at, { 'k8s.io/initial-events-end': 'true' })
    }
    const { clock } = this.#env
    const end = clock.monotonic() + query.timeoutSeconds * 1000
    let nextBookmark = clock.monotonic() + 60_000
    for (;;) {
      if (at < this.#compacted || at > this.#revision) throw newResourceExpired('too old resource version')
      const change = this.#history.find(entry => entry.revision > at)
      if (change) {
        at = change.revision
        if (!(yield* this.#pass(change, signal))) return
        continue
      }
      if (clock.monotonic() >= end) return
      if (this.bookmarks && clock.monotonic() >= nextBookmark) {
        nextBookmark += 60_000
        at = this.#revision
        yield bookmark(at)
        continue
      }
      await this.#change(Math.min(end, this.bookmarks ? nextBookmark : end) - clock.monotonic(), signal)
    }
  }

  /** Sends the event, or injects a fault. False if the watch is to end. */
  async *#pass(
    change: Omit<Change, 'revision'>,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<Pod>, boolean, undefined> {
    const { random } = this.#env
    switch (this.#pick(random.next())) {
      case 'drop':
        throw new Error('connection reset')
      case 'end':
        return false
      case 'silence':
        await this.#change(Number.POSITIVE_INFINITY, signal, true)
        return false
      case 'garbage':
        yield { type: 'ADDED', object: {} } as WatchEvent<Pod>
        break
      case 'expire':
        throw newResourceExpired('too old resource version')
      case 'replay': {
        const revision = Number(change.object.metadata.resourceVersion)
        const before = this.#history.filter(entry => entry.revision < revision)
        const past = before[random.below(Math.max(1, before.length))]
        if (past && this.#isPresent(past.object.metadata.name, revision)) {
          yield { type: past.type, object: copy(past.object) }
        }
      }
    }
    yield { type: change.type, object: copy(change.object) }
    return true
  }

  #pick(dice: number): keyof Faults | undefined {
    let limit = 0
    for (const fault of ['drop', 'end', 'silence', 'garbage', 'expire', 'replay'] as const) {
      limit += this.#faults[fault]
      if (dice < limit) return fault
    }
    return undefined
  }

  /** Whether a client that has seen everything before `revision` knows an object of this name. */
  #isPresent(name: string, revision: number): boolean {
    const last = this.#history.findLast(
      entry => entry.revision < revision && entry.object.metadata.name === name,
    )
    return last !== undefined && last.type !== 'DELETED'
  }

  async #arrive(signal: AbortSignal): Promise<void> {
    const { clock, random, scheduler } = this.#env
    const { latency, request } = this.#faults
    const recent = this.requests.at(-stormSize)
    if (recent && clock.now() - recent.time < 1_000) {
      this.storms++
      await this.#change(Number.POSITIVE_INFINITY, signal, true)
    }
    if (latency > 0) await clock.sleep(random.below(latency), { signal })
    else await untilAborted(scheduler.step('request'), signal)
    if (!this.down && random.next() >= request) return
    switch (random.below(this.down ? 2 : 3)) {
      case 0:
        throw newInternalError(new Error('etcd is unhappy'))
      case 1:
        throw newTooManyRequests('slow down', 1)
      default:
        await this.#change(Number.POSITIVE_INFINITY, signal, true)
    }
  }

  #record(change: Change): void {
    this.#history.push(change)
    if (this.#env.random.next() < this.#faults.compact) this.compact()
    this.#notify()
  }

  #notify(): void {
    for (const wake of [...this.#wake]) wake()
  }

  /** Resolves after a change or `within` milliseconds; rejects when `signal` aborts, which a silent one waits for. */
  #change(within: number, signal: AbortSignal, silent = false): Promise<void> {
    const woken = new Promise<void>(resolve => {
      const finish = (): void => {
        this.#wake.delete(finish)
        timer?.cancel()
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const timer = Number.isFinite(within) ? this.#env.clock.after(within, finish) : undefined
      if (!silent) this.#wake.add(finish)
      signal.addEventListener('abort', finish, { once: true })
    })
    return woken.then(() => {
      if (signal.aborted) throw signal.reason
    })
  }
}

function bookmark(revision: number, annotations?: Record<string, string>): WatchEvent<Pod> {
  const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) }
  return { type: 'BOOKMARK', object: { metadata } }
}

function copy(object: Pod): Pod {
  return structuredClone(object)
}
