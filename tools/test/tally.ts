/** Counts what passed and failed, and prints it: failures as they come, the sum at the end. */
export class Tally {
  readonly #write: (text: string) => void
  readonly #failed: string[] = []
  #passed = 0

  constructor(write: (text: string) => void = text => void process.stdout.write(text)) {
    this.#write = write
  }

  get failed(): number {
    return this.#failed.length
  }

  /** Times `work` under a heading. What it throws counts as one failure. */
  async stage(name: string, work: () => Promise<unknown>): Promise<void> {
    const started = performance.now()
    const [passed, failed] = [this.#passed, this.#failed.length]
    try {
      await work()
    } catch (error) {
      this.fail(name, error instanceof Error ? error.message : String(error))
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    const counts = `${this.#passed - passed} passed, ${this.#failed.length - failed} failed`
    this.#write(`${this.#failed.length === failed ? 'ok  ' : 'FAIL'} ${name}: ${counts} (${seconds} s)\n`)
  }

  pass(count = 1): void {
    this.#passed += count
  }

  fail(name: string, message: string): void {
    this.#failed.push(name)
    this.#write(`\nFAIL ${name}\n${message.trimEnd().replace(/^/gm, '     ')}\n\n`)
  }

  note(text: string): void {
    this.#write(`     ${text}\n`)
  }

  /** Prints the last line and gives the exit code. */
  finish(): number {
    if (this.#failed.length > 0) this.#write(`\nfailed:\n${this.#failed.map(name => `  ${name}\n`).join('')}`)
    this.#write(`\n${this.#passed} passed, ${this.#failed.length} failed\n`)
    return this.#failed.length > 0 ? 1 : 0
  }
}
