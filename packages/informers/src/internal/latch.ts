/** An event that happens once. */
export class Latch {
  #waiters: (() => void)[] | undefined = []

  get isSet(): boolean {
    return this.#waiters === undefined
  }

  set(): void {
    const waiters = this.#waiters
    this.#waiters = undefined
    for (const resolve of waiters ?? []) resolve()
  }

  /** Resolves when it has happened or `signal` aborts; never rejects. */
  wait(signal: AbortSignal): Promise<void> {
    const waiters = this.#waiters
    if (!waiters || signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const finish = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        const index = waiters.indexOf(finish)
        if (index >= 0) waiters.splice(index, 1)
        resolve()
      }
      waiters.push(finish)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
