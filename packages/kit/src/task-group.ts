import { createAbortError, isAbort } from './abort.ts'

/**
 * Tasks that run and stop together. The first failure aborts the others; `join` rejects with it once all have stopped. A task
 * that ends because the group was aborted does not count as failed.
 */
export class TaskGroup implements AsyncDisposable {
  readonly #controller = new AbortController()
  readonly #running = new Set<Promise<void>>()
  readonly #parent: AbortSignal | undefined
  readonly #onParentAbort = () => this.#controller.abort(this.#parent?.reason)
  #failure: { readonly error: unknown } | undefined
  /** The failure was reported by `join`. */
  #reported = false

  /** Aborts with `parent`, if given. */
  constructor(parent?: AbortSignal) {
    this.#parent = parent
    this.#link()
  }

  /** Aborted as soon as the group is to stop. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Starts `task`. Its synchronous part runs at once. */
  spawn(task: (signal: AbortSignal) => Promise<void> | void): void {
    this.#link()
    const run = (async () => {
      try {
        await task(this.signal)
      } catch (error) {
        if (isAbort(error, this.signal) && this.signal.aborted) return
        this.#failure ??= { error }
        this.abort(error)
      }
    })()
    this.#running.add(run)
    run.finally(() => this.#running.delete(run))
  }

  /** Asks every task to stop. */
  abort(reason: unknown = createAbortError()): void {
    this.#controller.abort(reason)
  }

  /** Resolves when every task has stopped, those spawned meanwhile included; rejects with the first failure. */
  async join(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
    this.#parent?.removeEventListener('abort', this.#onParentAbort)
    if (!this.#failure) return
    this.#reported = true
    throw this.#failure.error
  }

  /** Aborts and joins. Does not throw a failure again that `join` has reported. */
  async [Symbol.asyncDispose](): Promise<void> {
    const reported = this.#reported
    this.abort()
    await this.join().catch(error => {
      if (!reported) throw error
    })
  }

  /** Follows the parent, from now until the group has been joined: a long-lived parent keeps no finished groups. */
  #link(): void {
    if (this.#parent?.aborted) this.#onParentAbort()
    else this.#parent?.addEventListener('abort', this.#onParentAbort, { once: true })
  }
}
