import type { Env } from '@coxswain/kit'
import { createExponentialLimiter, WorkQueue } from '@coxswain/workqueue'
import type { CacheEvent, CacheWatcher } from './resource-cache.ts'
import type { WatchCache } from './watch-cache.ts'

/** What a control loop needs of the server. */
export interface ControlLoopPorts {
  readonly env: Env
  readonly cache: WatchCache
}

export interface ControlLoopOptions {
  /** For logs. */
  readonly name: string
  /** Storage prefixes of the objects whose changes trigger it. */
  readonly prefixes: readonly string[]
  /** The keys that a change enqueues. @default the name of the changed object */
  readonly keysOf?: (event: CacheEvent) => Iterable<string>
  /** The keys enqueued at start. @default the names of all objects under `prefixes` */
  readonly initialKeys?: () => Iterable<string>
  /**
   * Reconciles one key; again after so many milliseconds when it returns a number. When it throws, the error is logged and the key
   * is retried.
   */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<void> | Promise<number | undefined>
  /** How many keys are reconciled at once. @default 1 */
  readonly workers?: number
}

/** The delay after the first failure of a key; doubles with each further one. */
const retry = { base: 100, cap: 60_000 }

/**
 * How the server reconciles its own objects: a change enqueues keys, a key is never reconciled twice at a time, and
 * a failure is logged and retried with back-off until it succeeds. A failure never ends the loop.
 */
export class ControlLoop {
  readonly #ports: ControlLoopPorts
  readonly #options: ControlLoopOptions
  readonly #queue: WorkQueue<string>

  constructor(ports: ControlLoopPorts, options: ControlLoopOptions) {
    this.#ports = ports
    this.#options = options
    this.#queue = new WorkQueue<string>({
      clock: ports.env.clock,
      rateLimiter: createExponentialLimiter(retry),
    })
  }

  /** Enqueues a key. */
  add(key: string): void {
    this.#queue.add(key)
  }

  /** Resolves once `signal` aborts or the server ends its watches. */
  async run(signal: AbortSignal): Promise<void> {
    const { prefixes, keysOf = nameOf } = this.#options
    const caches = prefixes.map(prefix => this.#ports.cache.resource(prefix))
    const watcher: CacheWatcher = {
      namespace: '',
      onEvent: event => {
        for (const key of keysOf(event)) this.add(key)
      },
      onEnd: () => this.#queue.shutDown(),
    }
    for (const cache of caches) cache.addWatcher(watcher)
    const { initialKeys = () => caches.flatMap(cache => cache.list().map(({ name }) => name)) } =
      this.#options
    for (const key of initialKeys()) this.add(key)
    try {
      await Promise.all(Array.from({ length: this.#options.workers ?? 1 }, () => this.#work(signal)))
    } finally {
      this.#queue.shutDown()
      for (const cache of caches) cache.removeWatcher(watcher)
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const key = await this.#queue.get(signal)
      if (key === undefined || signal.aborted) return
      await this.#process(key, signal)
    }
  }

  async #process(key: string, signal: AbortSignal): Promise<void> {
    try {
      const after = await this.#options.reconcile(key, signal)
      this.#queue.forget(key)
      if (typeof after === 'number') this.#queue.add(key, { after })
    } catch (error) {
      // When this server stops, the next one continues.
      if (signal.aborted) return
      const retryAfterMs = this.#queue.addRateLimited(key)
      this.#ports.env.log.error('reconcile failed', { loop: this.#options.name, key, retryAfterMs, error })
    } finally {
      this.#queue.done(key)
    }
  }
}

const nameOf = ({ object }: CacheEvent): readonly string[] => [object.name]
