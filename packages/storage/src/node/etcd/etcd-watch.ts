import { createBackoff, type Env } from '@coxswain/kit'
import type { ServiceError } from '@grpc/grpc-js'
import { createClosed, createCompacted, createFutureRevision, StoreError } from '../../errors.ts'
import { validateWatch } from '../../internal/validate.ts'
import type { WatchLimits } from '../../internal/watch-hub.ts'
import type { Change, WatchBatch, WatchOptions } from '../../store.ts'
import type { Cluster, WatchStream } from './cluster.ts'
import {
  decodeWatch,
  type EtcdEvent,
  encodeProgressRequest,
  encodeWatchCreate,
  type WatchResponse,
} from './etcd-messages.ts'
import type { Keyspace } from './keyspace.ts'

/** What a watch needs of its store. */
export interface WatchHost {
  readonly cluster: Cluster
  readonly env: Env
  readonly keyspace: Keyspace
  readonly limits: WatchLimits
  /** The newest revision in any response. */
  readonly seen: number
  saw(revision: number): void
  present(): Promise<number>
  progressTrusted(): Promise<boolean>
  readonly closed: boolean
}

/** Received but not consumed: beyond either limit the stream is closed, and reopened when all has been consumed. */
const bufferedChanges = 2000
const bufferedBytes = 16 * 1024 * 1024

type Result = IteratorResult<WatchBatch, undefined>
const finished: Result = { done: true, value: undefined }

/** One watch. It outlives its streams: when one breaks, the next begins with the first revision not yet received. */
export class EtcdWatch implements AsyncIterator<WatchBatch, undefined> {
  readonly #host: WatchHost
  readonly #prefix: string
  readonly #options: WatchOptions
  readonly #steps: AsyncGenerator<WatchBatch, undefined, undefined>
  readonly progress: boolean
  #batches: WatchBatch[] = []
  #bufferedChanges = 0
  #bufferedBytes = 0
  /** The fragments of an incomplete response. */
  #parts: EtcdEvent[] = []
  #next = 0
  #delivered = 0
  #headStart = 0
  #stream: WatchStream | undefined
  #failure: StoreError | undefined
  #stopped = false
  #wake: (() => void) | undefined

  constructor(host: WatchHost, prefix: string, options: WatchOptions) {
    this.#host = host
    this.#prefix = prefix
    this.#options = options
    this.progress = options.progress ?? false
    this.#steps = this.#run()
  }

  next(): Promise<Result> {
    return this.#steps.next()
  }

  async return(): Promise<Result> {
    this.stop()
    await this.#steps.return(undefined)
    return finished
  }

  /** Ends the watch, with `error` if there is one. */
  stop(error?: StoreError): void {
    this.#stopped = true
    this.#failure ??= error
    this.#notify()
  }

  requestProgress(): void {
    if (this.progress) this.#stream?.write(encodeProgressRequest())
  }

  async *#run(): AsyncGenerator<WatchBatch, undefined, undefined> {
    const { signal } = this.#options
    if (signal?.aborted) return
    const onAbort = () => this.stop()
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      await this.#begin()
      const { clock, random } = this.#host.env
      const backoff = createBackoff({
        clock,
        random,
        initial: 50,
        cap: 2000,
        jitter: 0.5,
        resetAfter: 10_000,
      })
      for (let opened = 0; ; ) {
        if (this.#failure && (this.#stopped || this.#batches.length === 0)) throw this.#failure
        if (this.#stopped) return
        const batch = this.#batches.shift()
        if (batch) {
          if (this.#batches.length === 0) this.#bufferedChanges = this.#bufferedBytes = 0
          this.#delivered = batch.revision
          yield batch
          this.#assertNotSlow()
        } else if (this.#stream) {
          await new Promise<void>(resolve => {
            this.#wake = resolve
          })
        } else {
          if (opened++ > 0) await clock.sleep(backoff.next())
          await this.#open()
        }
      }
    } finally {
      signal?.removeEventListener('abort', onAbort)
      this.#dropStream()
    }
  }

  async #begin(): Promise<void> {
    if (this.#host.closed) throw createClosed()
    validateWatch(this.#options)
    const present = await this.#host.present()
    const { from = present + 1 } = this.#options
    if (from > present + 1) throw createFutureRevision(from, present)
    this.#next = from
    this.#delivered = from - 1
    this.#headStart = present - this.#delivered
  }

  #assertNotSlow(): void {
    const { limits, seen } = this.#host
    // Only a watch with pending batches can be behind: others got nothing because nothing concerned them.
    const lag = this.#batches.length > 0 || !this.#stream ? seen - this.#delivered : 0
    if (lag <= limits.maxLag + this.#headStart) return
    throw new StoreError(
      'SlowWatcher',
      `the watch lags ${lag} revisions behind, the limit is ${limits.maxLag}`,
    )
  }

  async #open(): Promise<void> {
    const { cluster, keyspace } = this.#host
    const trusted = this.progress && (await this.#host.progressTrusted())
    if (this.#stopped) return
    const { stream, endpoint } = cluster.watch()
    this.#stream = stream
    this.#parts = []
    stream.on('data', (message: Uint8Array) => {
      if (this.#stream === stream) this.#receive(decodeWatch(message))
    })
    const ended = (error?: ServiceError) => {
      if (this.#stream !== stream) return
      this.#stream = undefined
      cluster.leave(endpoint)
      cluster.check()
      this.#host.env.log.debug('a watch stream ended', { endpoint, error })
      this.#notify()
    }
    stream.on('error', ended)
    stream.on('end', () => ended())
    const { start: key, end: rangeEnd } = keyspace.span(this.#prefix)
    const previous = this.#options.previous ?? false
    stream.write(encodeWatchCreate({ key, rangeEnd, startRevision: this.#next, previous }))
    if (trusted) this.#requestProgress(stream)
  }

  #requestProgress(stream: WatchStream): void {
    this.#host.env.clock.after(this.#host.limits.progressInterval, () => {
      if (this.#stream !== stream) return
      stream.write(encodeProgressRequest())
      this.#requestProgress(stream)
    })
  }

  #receive(response: WatchResponse): void {
    this.#host.saw(response.revision)
    if (response.canceled) {
      this.#dropStream()
      if (response.compactRevision > 0) this.#failure = createCompacted(this.#next, response.compactRevision)
      // Whatever the reason (no leader, a stopping member), another stream may succeed.
      this.#notify()
      return
    }
    if (response.created) return
    if (response.events.length > 0 || this.#parts.length > 0) {
      for (const item of response.events) this.#parts.push(item)
      if (response.fragment) return
      const events = this.#parts
      this.#parts = []
      this.#take(events)
    } else if (this.progress && response.revision >= this.#next - 1) {
      // Only responses to a progress request have no events.
      this.#batches.push({ revision: response.revision, changes: [] })
      this.#next = response.revision + 1
    }
    this.#notify()
  }

  #take(events: readonly EtcdEvent[]): void {
    const fresh = events.filter(event => event.kv.modRevision >= this.#next)
    const last = fresh.at(-1)
    if (!last) return
    const changes: Change[] = []
    for (const event of fresh) {
      const change = this.#toChange(event)
      if (!change) {
        this.#failure = createCompacted(event.kv.modRevision)
        this.#dropStream()
        return
      }
      changes.push(change)
    }
    this.#next = last.kv.modRevision + 1
    this.#batches.push({ revision: last.kv.modRevision, changes })
    this.#bufferedChanges += changes.length
    for (const { kv, previous } of fresh)
      this.#bufferedBytes += kv.value.length + (previous?.value.length ?? 0)
    if (this.#bufferedChanges > bufferedChanges || this.#bufferedBytes > bufferedBytes) this.#dropStream()
  }

  /** Undefined when a previous value is wanted and existed, but the server has compacted it. */
  #toChange(event: EtcdEvent): Change | undefined {
    const { keyspace } = this.#host
    const { kv, previous } = event
    const wanted = this.#options.previous ?? false
    if (wanted && !previous && (event.type === 'delete' || kv.version > 1)) return undefined
    const before = wanted ? { previous: previous && keyspace.toKeyValue(previous) } : {}
    if (event.type === 'put') return { type: 'put', kv: keyspace.toKeyValue(kv), ...before }
    return { type: 'delete', key: keyspace.toKey(kv.key), revision: kv.modRevision, ...before }
  }

  #dropStream(): void {
    const stream = this.#stream
    this.#stream = undefined
    stream?.cancel()
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}
