import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { encodeText } from '@coxswain/kit'
import type { LogOptions } from '../container-runtime.ts'
import { createLogFilter } from '../logs/log-lines.ts'
import { type LogFile, maxFiles } from './log-file.ts'

const blockBytes = 64 * 1024
const newline = 10

/**
 * The content of a log's files, oldest first, and with `follow` what is written to `live` until it ends. Nothing is buffered in
 * memory for a slow reader: one that falls behind the container by all the files continues with the
 * oldest that exists.
 */
export async function* readLogFile(
  path: string,
  live: LogFile | undefined,
  options: LogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signal, tailLines, follow, limitBytes = Number.POSITIVE_INFINITY } = options
  using cursor = new LogCursor(path, live)
  if (tailLines !== undefined) cursor.seekTail(tailLines)
  const writes = follow && live ? new WriteNotifier(live, signal) : undefined
  const print = createLogFilter(options)
  let left = limitBytes
  // Lines written during the read must not make `--tail=2` longer.
  let linesLeft = follow ? Number.POSITIVE_INFINITY : (tailLines ?? Number.POSITIVE_INFINITY)
  try {
    while (!signal.aborted && linesLeft > 0) {
      const lines = cursor.read()?.slice(0, linesLeft)
      if (!lines) {
        if (!writes || !(await writes.wait())) return
        continue
      }
      linesLeft -= lines.length
      const text = lines.map(print).join('')
      // Yields to other tasks: there may be megabytes, and a reader that takes them all.
      await setImmediate()
      if (text === '') continue
      const bytes = encodeText(text).subarray(0, left)
      left -= bytes.length
      yield bytes
      if (left <= 0) return
    }
  } finally {
    writes?.leave()
  }
}

/** Wakes a reader after writes that it has not read yet. */
class WriteNotifier {
  readonly #live: LogFile
  readonly #signal: AbortSignal
  readonly #leave: () => void
  #isNew = true
  #wake: (() => void) | undefined

  constructor(live: LogFile, signal: AbortSignal) {
    this.#live = live
    this.#signal = signal
    const notify = () => {
      this.#isNew = true
      this.#wake?.()
    }
    const stopListening = live.onChange(notify)
    signal.addEventListener('abort', notify)
    this.#leave = () => {
      stopListening()
      signal.removeEventListener('abort', notify)
    }
  }

  /** Waits for more, once everything has been read; false when there will be none. */
  async wait(): Promise<boolean> {
    if (!this.#isNew) {
      if (this.#live.hasEnded) return false
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    this.#isNew = false
    return !this.#signal.aborted
  }

  leave(): void {
    this.#leave()
  }
}

/** A position in the files of a log, which may be rotated at any time. At most one file is open. */
class LogCursor implements Disposable {
  readonly #path: string
  readonly #live: LogFile | undefined
  readonly #buffer = Buffer.alloc(blockBytes)
  #file: number | undefined
  /** The current file, by the rotation that created it; files older than the live log's first are negative. */
  #rotation: number
  #offset = 0
  /** The beginning of a line whose end has not been read yet. */
  #rest: Buffer = Buffer.alloc(0)

  constructor(path: string, live: LogFile | undefined) {
    this.#path = path
    this.#live = live
    this.#rotation = this.#oldest()
  }

  /** Moves to before the last `count` lines of the log. */
  seekTail(count: number): void {
    const newest = this.#newest()
    let missing = count
    for (let rotation = newest; rotation >= this.#oldest(); rotation--) {
      this.#open(rotation)
      if (this.#file === undefined) continue
      const { size } = fstatSync(this.#file)
      this.#offset = size
      if (count === 0) return
      const start = this.#findStart(this.#file, size, missing)
      this.#offset = start.offset
      missing = start.missing
      if (missing === 0) return
    }
  }

  /** The next whole lines; undefined when there are none now. */
  read(): string[] | undefined {
    for (;;) {
      if (this.#file === undefined) this.#open(Math.max(this.#rotation, this.#oldest()))
      const count =
        this.#file === undefined ? 0 : readSync(this.#file, this.#buffer, 0, blockBytes, this.#offset)
      if (count > 0) {
        this.#offset += count
        const lines = this.#cut(this.#buffer.subarray(0, count))
        if (lines.length > 0) return lines
        continue
      }
      if (this.#rotation >= this.#newest()) return undefined
      this.#open(Math.max(this.#rotation + 1, this.#oldest()))
    }
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #cut(bytes: Buffer): string[] {
    const end = bytes.lastIndexOf(newline)
    if (end === -1) {
      this.#rest = Buffer.concat([this.#rest, bytes])
      return []
    }
    const text = Buffer.concat([this.#rest, bytes.subarray(0, end)]).toString('utf8')
    this.#rest = Buffer.from(bytes.subarray(end + 1))
    return text.split('\n')
  }

  #newest(): number {
    return this.#live?.rotations ?? 0
  }

  #oldest(): number {
    const newest = this.#newest()
    let rotation = newest
    while (newest - rotation < maxFiles - 1 && existsSync(this.#nameOf(rotation - 1))) rotation--
    return rotation
  }

  #nameOf(rotation: number): string {
    const suffix = this.#newest() - rotation
    return suffix === 0 ? this.#path : `${this.#path}.${suffix}`
  }

  #open(rotation: number): void {
    this[Symbol.dispose]()
    this.#rotation = rotation
    this.#offset = 0
    this.#rest = Buffer.alloc(0)
    const name = this.#nameOf(rotation)
    if (existsSync(name)) this.#file = openSync(name, 'r')
  }

  /** Where the last `count` lines of a file begin, and how many it lacks. */
  #findStart(
    file: number,
    size: number,
    count: number,
  ): { readonly offset: number; readonly missing: number } {
    let missing = count
    let isLast = true
    for (let end = size; end > 0; ) {
      const begin = Math.max(0, end - blockBytes)
      const length = readSync(file, this.#buffer, 0, end - begin, begin)
      for (let at = length - 1; at >= 0; at--) {
        if (this.#buffer[at] !== newline) continue
        // The newline at the end of the last line does not begin another.
        if (isLast) isLast = false
        else if (--missing === 0) return { offset: begin + at + 1, missing }
      }
      end = begin
    }
    return { offset: 0, missing: size > 0 ? missing - 1 : missing }
  }
}
