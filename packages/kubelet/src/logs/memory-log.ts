import { type Clock, encodeText } from '@coxswain/kit'
import type { LogOptions } from '../container-runtime.ts'
import { createLogFilter, formatLogLine } from './log-lines.ts'

/** The size of one file of a real log; beyond it the older half is dropped. */
const maxCharacters = 10 * 1024 * 1024

/** A container's log in memory. */
export class MemoryLog {
  readonly #clock: Clock
  #lines: string[] = []
  #characters = 0
  /** The number of lines that were dropped. */
  #dropped = 0
  #listeners: Set<() => void> | undefined
  #hasEnded = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** The number of lines that were ever printed. */
  get length(): number {
    return this.#dropped + this.#lines.length
  }

  /** The `index`-th line ever printed, or the oldest one that is kept. */
  lineAt(index: number): { readonly index: number; readonly line: string } | undefined {
    const at = Math.max(index, this.#dropped)
    const line = this.#lines[at - this.#dropped]
    return line === undefined ? undefined : { index: at, line }
  }

  print(stream: 'stdout' | 'stderr', text: string): void {
    const line = formatLogLine(this.#clock.now(), stream, text, false)
    this.#lines.push(line)
    this.#characters += line.length
    if (this.#characters > maxCharacters) this.#dropHalf()
    this.#notify()
  }

  /** Keeps the last `count` lines. */
  trim(count: number): void {
    for (; this.#lines.length > count; this.#dropped++) this.#characters -= this.#lines.shift()!.length
  }

  end(): void {
    this.#hasEnded = true
    this.#notify()
  }

  /** Calls back after each line, and at the end. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
    return () => void this.#listeners?.delete(listener)
  }

  #notify(): void {
    for (const listener of this.#listeners ?? []) listener()
  }

  #dropHalf(): void {
    let count = 0
    for (; this.#characters > maxCharacters / 2 && count < this.#lines.length - 1; count++)
      this.#characters -= this.#lines[count]!.length
    this.#lines = this.#lines.slice(count)
    this.#dropped += count
  }
}

/** The log, and with `follow` what is printed until its end. Empty for a missing log. */
export async function* readMemoryLog(
  log: MemoryLog | undefined,
  options: LogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (!log) return
  const { tailLines, signal, follow } = options
  const filter = createLogFilter(options)
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY
  let next = tailLines === undefined ? 0 : Math.max(0, log.length - tailLines)
  // Lines written during the read must not make `--tail=2` longer.
  const end = follow || tailLines === undefined ? Number.POSITIVE_INFINITY : log.length
  let wake: (() => void) | undefined
  const tell = () => wake?.()
  const stopListening = follow ? log.onChange(tell) : undefined
  signal.addEventListener('abort', tell)
  try {
    while (next < end) {
      const found = log.lineAt(next)
      if (!found) {
        if (!follow || log.hasEnded || signal.aborted) return
        await new Promise<void>(resolve => {
          wake = resolve
        })
        continue
      }
      next = found.index + 1
      const bytes = encodeText(filter(found.line.slice(0, -1))).subarray(0, left)
      left -= bytes.length
      if (bytes.length > 0) yield bytes
      if (left <= 0) return
    }
  } finally {
    signal.removeEventListener('abort', tell)
    stopListening?.()
  }
}
