/** Real milliseconds after which a world that waits to be driven is reported. */
const patience = 5_000

/** Enough of Node.js to detect that nothing is left to run; elsewhere only time is used. */
interface Program {
  on(event: 'beforeExit', listener: () => void): void
  off(event: 'beforeExit', listener: () => void): void
}

const program = (globalThis as { process?: Partial<Program> }).process

/** The worlds that wait now: one listener for all of them, registered only while there are any. */
const waiting = new Set<UndrivenWatch>()
const onExit = (): void => {
  for (const watch of waiting) watch.tell()
}

/**
 * Reports once, on standard error, that work waits in a world that is not driven, so that awaiting it would hang forever. Reports
 * after five seconds, or when the program has nothing else left to run.
 */
export class UndrivenWatch {
  readonly #describe: () => string
  #timer: ReturnType<typeof setTimeout> | undefined
  #hasTold = false

  /** `describe` names what waits. */
  constructor(describe: () => string) {
    this.#describe = describe
  }

  /** Something waits. */
  arm(): void {
    if (this.#timer !== undefined || this.#hasTold) return
    this.#timer = setTimeout(() => this.tell(), patience)
    const timer = this.#timer as { unref?(): void }
    timer.unref?.()
    if (waiting.size === 0) program?.on?.('beforeExit', onExit)
    waiting.add(this)
  }

  /** The world is driven. */
  disarm(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    waiting.delete(this)
    if (waiting.size === 0) program?.off?.('beforeExit', onExit)
  }

  tell(): void {
    const what = this.#describe()
    this.disarm()
    this.#hasTold = true
    console.error(
      `A VirtualWorld waits to be driven: ${what}. Its promises settle only while it is driven: await cluster.run(promise) or world.run(promise), or call settle() or advance(ms).`,
    )
  }
}
