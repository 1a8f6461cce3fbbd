import { type ChildProcess, spawn } from 'node:child_process'
import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { CommandError } from '../exit.ts'
import { childVariable, isReport } from './watch-child.ts'

/** Editors write a file in several steps: events within this many milliseconds are one change. */
const quietTime = 15
/** The most watched directories. */
const mostFolders = 1_000

/**
 * Runs operators in a child process, and restarts them in another one whenever one of their files is saved. The next
 * process has already loaded the framework when it is needed. Resolves when a signal has stopped them.
 */
export async function runWatch(): Promise<void> {
  const files = new WatchedFiles()
  let standby = new Generation(files)
  try {
    for (;;) {
      const present = standby
      present.go()
      standby = new Generation(files)
      const stopped = nextSignal()
      const changed = files.nextChange()
      const reason = await Promise.race([stopped.signal, changed.then(() => undefined)])
      stopped.forget()
      const code = await present.stop()
      if (reason !== undefined) {
        if (code !== 0) throw new CommandError(`the operator process exited with code ${code}`)
        return
      }
      const { file, at } = await changed
      standby.onReady = () => {
        const took = Math.round(performance.now() - at)
        process.stderr.write(`coxswain: ${relative(process.cwd(), file)} changed, restarted in ${took} ms\n`)
      }
    }
  } finally {
    standby.discard()
    files.close()
  }
}

/** One child process: it waits for its turn, runs operators, and exits. */
class Generation {
  /** Called when the caches have synced. */
  onReady: () => void = () => {}
  readonly #child: ChildProcess
  readonly #exited: Promise<number>
  #isStopping = false

  constructor(files: WatchedFiles) {
    const args = [...process.execArgv, ...process.argv.slice(1)]
    const child = spawn(process.execPath, args, {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, [childVariable]: '1' },
      // A signal from the terminal is handled by this process, which passes it on once.
      detached: true,
    })
    this.#child = child
    child.on('message', message => {
      if (!isReport(message)) return
      if ('loaded' in message) files.add(message.loaded)
      else this.onReady()
    })
    this.#exited = new Promise(resolve => {
      child.on('error', () => resolve(1))
      child.on('exit', code => {
        if (!this.#isStopping && code !== 0) process.stderr.write('coxswain: waiting for a change\n')
        resolve(code ?? 1)
      })
    })
  }

  go(): void {
    this.#child.send('go', () => {}) // a child that has died is handled by 'exit'
  }

  /** Resolves with the exit code. */
  async stop(): Promise<number> {
    this.#isStopping = true
    this.#child.kill('SIGTERM')
    return await this.#exited
  }

  discard(): void {
    this.#isStopping = true
    this.#child.kill('SIGKILL')
  }
}

interface Change {
  readonly file: string
  /** When it was detected. */
  readonly at: number
}

/** The source files of operators. Directories are watched: editors replace a file with a new one. */
class WatchedFiles {
  readonly #folders = new Map<string, FSWatcher>()
  /** The last known state of each file. */
  readonly #states = new Map<string, string>()
  #next = Promise.withResolvers<Change>()
  #timer: NodeJS.Timeout | undefined

  add(file: string): void {
    this.#states.set(file, stateOf(file))
    const folder = dirname(file)
    if (this.#folders.has(folder) || this.#folders.size >= mostFolders) return
    try {
      const watcher = watch(folder, (_, name) => this.#look(folder, name))
      watcher.on('error', () => {}) // the directory was removed
      this.#folders.set(folder, watcher)
    } catch {
      // It cannot be watched: the others are.
    }
  }

  /** Resolves at the next change of a file. */
  nextChange(): Promise<Change> {
    this.#next = Promise.withResolvers()
    return this.#next.promise
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#folders.values()) watcher.close()
  }

  #look(folder: string, name: string | null): void {
    const at = performance.now()
    for (const [file, before] of this.#states) {
      if (dirname(file) !== folder || (name !== null && basename(file) !== name)) continue
      const state = stateOf(file)
      if (state === before || state === '') continue // not changed, or about to be rewritten
      this.#states.set(file, state)
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#next.resolve({ file, at }), quietTime)
    }
  }
}

/** Empty for a missing file. */
function stateOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return ''
  }
}

function nextSignal(): { readonly signal: Promise<NodeJS.Signals>; forget(): void } {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  process.once('SIGINT', resolve).once('SIGTERM', resolve)
  return { signal: promise, forget: () => void process.off('SIGINT', resolve).off('SIGTERM', resolve) }
}
