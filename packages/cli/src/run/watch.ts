import { type ChildProcess, spawn } from 'node:child_process'
import { relative } from 'node:path'
import { aborted } from '@coxswain/kit'
import { abortOnSignals } from '@coxswain/kit/node'
import type { ServingWebhooks } from '@coxswain/runtime'
import { CommandError } from '../exit.ts'
import { refuseAbsent } from '../host/operator-files.ts'
import { childVariable, ownCommand, replaceSignal } from '../parent.ts'
import { type Go, isReport } from './watch-child.ts'
import { WatchedFiles } from './watched-files.ts'

/** How long operators get to stop: more than their manager needs. */
const stopLimit = 45_000

/** `coxswain run --watch`: until a signal stops it. */
export async function runWatch(files: readonly string[]): Promise<void> {
  refuseAbsent(files)
  using stop = abortOnSignals()
  await watchOperators({ signal: stop.signal })
}

export interface WatchOptions {
  readonly signal: AbortSignal
  /** Called when the caches of operators are filled for the first time, with the names of the definitions they have installed. */
  readonly onReady?: (installed: readonly string[]) => void
}

/**
 * Runs operators in a process of their own, which has the arguments of this one, and again in another one whenever a file that
 * they are made of is saved. The next process has loaded the framework already when it is needed. Resolves when the
 * signal has stopped them.
 */
export async function watchOperators({ signal, onReady = () => {} }: WatchOptions): Promise<void> {
  const stopped = aborted(signal)
  const files = new WatchedFiles()
  let present = new Generation(files)
  let standby = new Generation(files)
  const discard = (): void => {
    present.discard()
    standby.discard()
  }
  process.once('exit', discard)
  let isFirst = true
  let tellChange = (): void => {}
  let serving: ServingWebhooks | undefined
  try {
    for (;;) {
      present.onReady = installed => {
        tellChange()
        if (isFirst) onReady(installed)
        isFirst = false
      }
      const changed = files.nextChange()
      present.go(serving)
      const change = await Promise.race([changed, stopped])
      const code = await present.stop(change && !signal.aborted ? replaceSignal : 'SIGTERM')
      serving = present.serving ?? serving
      if (signal.aborted && code !== 0) throw new CommandError(`the operators ended with code ${code}`)
      if (signal.aborted || !change) return
      tellChange = () => {
        const took = Math.round(performance.now() - change.at)
        const name = relative(process.cwd(), change.file)
        process.stderr.write(`coxswain: ${name} changed, restarted in ${took} ms\n`)
      }
      present = standby
      standby = new Generation(files)
    }
  } finally {
    process.off('exit', discard)
    discard()
    files.close()
  }
}

/** One child process: it waits for its turn, runs operators, and exits. */
class Generation {
  /** Called when the caches are filled. */
  onReady: (installed: readonly string[]) => void = () => {}
  /** Its webhooks, for the next one. */
  serving: ServingWebhooks | undefined
  readonly #child: ChildProcess
  readonly #exited: Promise<number>
  #isStopping = false

  constructor(files: WatchedFiles) {
    const [program, ...own] = ownCommand()
    const child = spawn(program, [...own, ...process.argv.slice(2)], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, [childVariable]: '1' },
      // A signal from the terminal is handled by this process, which passes it on once.
      detached: true,
    })
    this.#child = child
    child.on('message', message => {
      if (!isReport(message)) return
      if ('loaded' in message) files.add(message.loaded, message.state)
      else if ('serving' in message) this.serving = message.serving
      else if (!this.#isStopping) this.onReady(message.installed)
    })
    this.#exited = new Promise(resolve => {
      child.on('error', () => resolve(1))
      child.on('exit', (code, name) => {
        if (this.#isStopping) return resolve(code ?? (name === 'SIGTERM' || name === replaceSignal ? 0 : 1))
        process.stderr.write('coxswain: waiting for a change\n')
        resolve(0) // it has said why
      })
    })
  }

  go(inherited: ServingWebhooks | undefined): void {
    const message: Go = { ...(inherited && { inherited }) }
    this.#child.send(message, () => {}) // a child that has died is handled by 'exit'
  }

  /** Resolves with the exit code; 0 for one that had ended already. */
  async stop(by: 'SIGTERM' | typeof replaceSignal): Promise<number> {
    this.#isStopping = true
    this.#child.kill(by)
    const limit = setTimeout(() => {
      process.stderr.write(`coxswain: the operators did not stop within ${stopLimit} ms and were killed\n`)
      this.discard()
    }, stopLimit)
    return await this.#exited.finally(() => clearTimeout(limit))
  }

  discard(): void {
    this.#isStopping = true
    this.#child.kill('SIGKILL')
  }
}
