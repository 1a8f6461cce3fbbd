import { spawn } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import type { TerminalSize } from '../container-runtime.ts'
import { findDescendants } from './process-registry.ts'

/** The size of a terminal usually comes first; waiting for it is limited to this. */
const firstWait = 100
/** A terminal is allocated shortly after the program that allocates it has started. */
const tries = 10
const retryAfter = 50

/** The sizes of a terminal: the first one for its start, the others for resizes. */
export class TerminalSizes {
  readonly #iterator: AsyncIterator<TerminalSize>
  #next: Promise<IteratorResult<TerminalSize>>

  constructor(sizes: AsyncIterable<TerminalSize>) {
    this.#iterator = sizes[Symbol.asyncIterator]()
    this.#next = this.#iterator.next()
    this.#next.catch(() => {}) // the client has disconnected
  }

  /** Undefined when it does not arrive soon. */
  async first(): Promise<TerminalSize | undefined> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>(resolve => {
      timer = setTimeout(() => resolve(undefined), firstWait)
    })
    const first = await Promise.race([this.#next, late])
    clearTimeout(timer)
    if (!first || first.done) return undefined
    this.#advance()
    return first.value
  }

  /** Applies each size to the terminal of the process `pid`, until there are no more. */
  async apply(pid: number): Promise<void> {
    for (;;) {
      const { done, value } = await this.#next
      if (done) return
      this.#advance()
      await resizeTerminal(pid, value)
    }
  }

  #advance(): void {
    this.#next = this.#iterator.next()
    this.#next.catch(() => {}) // the client has disconnected
  }
}

/** The foreground process group gets SIGWINCH. Needs /proc. */
async function resizeTerminal(pid: number, { width, height }: TerminalSize): Promise<void> {
  for (let count = 0; count < tries; count++) {
    const terminal = terminalOf(pid)
    if (terminal !== undefined) {
      await new Promise<void>(resolve => {
        const args = ['-F', terminal, 'rows', String(height), 'cols', String(width)]
        const stty = spawn('stty', args, { stdio: 'ignore' })
        stty.on('error', () => resolve())
        stty.on('exit', () => resolve())
      })
      return
    }
    await new Promise(resolve => setTimeout(resolve, retryAfter))
  }
}

/** The terminal of the program that script(1) runs, which is `pid` or a descendant; its ancestors have another one, if any. */
function terminalOf(pid: number): string | undefined {
  for (const child of findDescendants(pid).keys()) {
    try {
      const terminal = readlinkSync(`/proc/${child}/fd/0`)
      // The link is opened, not its target path: the terminal may be in another mount namespace.
      if (/^\/dev\/pts\/|^\/\d+$/.test(terminal)) return `/proc/${child}/fd/0`
    } catch {
      // it has ended
    }
  }
  return undefined
}
