import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { formatLogLine } from '../logs/log-lines.ts'

/** The kubelet's defaults. */
const maxBytes = 10 * 1024 * 1024
export const maxFiles = 5
/** A line without end is split into partial lines of this many characters. */
const maxLine = 16 * 1024

/**
 * The log of a container, in up to five files of 10 MiB, each ending with a whole line:
 *
 *   0.log.4  0.log.3  0.log.2  0.log.1  0.log
 *   oldest                              written to
 *
 * Lines are written at once, in order, and are never split across files. Followers read the files.
 */
export class LogFile {
  readonly #path: string
  readonly #now: () => number
  readonly #rests = new Map<string, { text: string; readonly decoder: TextDecoder }>()
  readonly #listeners = new Set<() => void>()
  #file: number
  #size: number
  #rotations = 0
  #ended = false

  constructor(path: string, now: () => number) {
    mkdirSync(dirname(path), { recursive: true })
    this.#path = path
    this.#now = now
    this.#file = openSync(path, 'a', 0o640)
    this.#size = fstatSync(this.#file).size
  }

  get hasEnded(): boolean {
    return this.#ended
  }

  /** The number of rotations: the file of rotation `n` has the suffix `rotations - n`. */
  get rotations(): number {
    return this.#rotations
  }

  write(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    if (this.#ended) return
    let rest = this.#rests.get(stream)
    if (!rest) {
      rest = { text: '', decoder: new TextDecoder() }
      this.#rests.set(stream, rest)
    }
    const lines = (rest.text + rest.decoder.decode(chunk, { stream: true })).split('\n')
    rest.text = lines.pop() ?? ''
    const now = this.#now()
    let text = ''
    for (const line of lines) text += formatPieces(now, stream, line)
    while (rest.text.length > maxLine) {
      text += formatLogLine(now, stream, rest.text.slice(0, maxLine), true)
      rest.text = rest.text.slice(maxLine)
    }
    if (text !== '') this.#append(text)
  }

  /** Writes partial lines, and followers see the end. */
  end(): void {
    if (this.#ended) return
    for (const [stream, { text }] of this.#rests)
      if (text !== '') this.#append(formatLogLine(this.#now(), stream, text, true))
    this.#ended = true
    try {
      closeSync(this.#file)
    } catch {
      // a rotation has closed it and failed to open another
    }
    this.#notify()
  }

  /** Calls back after each write, and at the end. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Lines that a full disk does not take are lost; the container continues. */
  #append(lines: string): void {
    try {
      if (this.#size > maxBytes) this.#rotate()
      this.#size += writeSync(this.#file, lines)
    } catch {
      return
    }
    this.#notify()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }

  #rotate(): void {
    closeSync(this.#file)
    rmSync(`${this.#path}.${maxFiles - 1}`, { force: true })
    for (let index = maxFiles - 2; index >= 1; index--) {
      if (existsSync(`${this.#path}.${index}`))
        renameSync(`${this.#path}.${index}`, `${this.#path}.${index + 1}`)
    }
    renameSync(this.#path, `${this.#path}.1`)
    this.#file = openSync(this.#path, 'a', 0o640)
    this.#size = 0
    this.#rotations++
  }
}

function formatPieces(now: number, stream: string, line: string): string {
  let text = ''
  let at = 0
  for (; line.length - at > maxLine; at += maxLine)
    text += formatLogLine(now, stream, line.slice(at, at + maxLine), true)
  return text + formatLogLine(now, stream, at === 0 ? line : line.slice(at), false)
}
