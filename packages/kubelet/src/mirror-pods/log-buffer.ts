import type { Clock } from '@coxswain/kit'
import type { LogOptions } from '../container-runtime.ts'
import { MemoryLog, readMemoryLog } from '../logs/memory-log.ts'

/** The number of newest lines that are kept. */
const maxLines = 2_000
/** The longest line that is kept. */
const maxLength = 4_096

/** The newest lines of a log that never ends, in memory. Read with the options of `kubectl logs`. */
export class LogBuffer {
  readonly #log: MemoryLog

  constructor(clock: Clock) {
    this.#log = new MemoryLog(clock)
  }

  /** Adds one line. */
  append(text: string): void {
    this.#log.print('stderr', text.length > maxLength ? `${text.slice(0, maxLength)}...` : text)
    this.#log.trim(maxLines)
  }

  /** With `follow` it continues until `signal` aborts. */
  read(options: LogOptions): AsyncIterable<Uint8Array> {
    return readMemoryLog(this.#log, { ...options, follow: options.follow && !options.signal.aborted })
  }
}
