import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { stateOf } from './file-state.ts'

/** Editors write a file in several steps: what comes within so many milliseconds is one change. */
const quietTime = 15
/** Folders that are watched. */
const mostFolders = 1_000

export interface Change {
  readonly file: string
  /** When it was seen. */
  readonly at: number
}

/** The files that operators are made of. Folders are watched: editors put a new file in the place of the old one. */
export class WatchedFiles {
  readonly #folders = new Map<string, FSWatcher>()
  /** What each file was like when it was seen last. */
  readonly #states = new Map<string, string>()
  #next = Promise.withResolvers<Change>()
  #timer: NodeJS.Timeout | undefined

  /** `state` is that of the file when it was loaded: one that was saved since then has changed. */
  add(file: string, state: string): void {
    this.#states.set(file, state)
    const folder = dirname(file)
    if (!this.#folders.has(folder) && this.#folders.size < mostFolders) this.#watch(folder)
    this.#look(folder, basename(file))
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

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => this.#look(folder, name))
      watcher.on('error', () => {}) // the folder was removed
      this.#folders.set(folder, watcher)
    } catch {
      // It cannot be watched: the others are.
    }
  }

  #look(folder: string, name: string | null): void {
    const at = performance.now()
    for (const [file, before] of this.#states) {
      if (dirname(file) !== folder || (name !== null && basename(file) !== name)) continue
      const state = stateOf(file)
      if (state === before || state === '') continue // not changed, or about to be written anew
      this.#states.set(file, state)
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#next.resolve({ file, at }), quietTime)
    }
  }
}
