import type { Clock } from '@coxswain/kit'
import type { LogOptions } from '../container-runtime.ts'
import { MemoryLog, readMemoryLog } from '../logs/memory-log.ts'

/** Lines that are kept: the newest. */
const maxLines = 2_000
/** Characters of a line that are kept. */
const maxLength = 4_096

/** The newest lines of a log that never ends, in memory. Reading is as `kubectl logs` wants it. */
export class LogBuffer {
  readonly #log: MemoryLog

  constructor(clock: Clock) {
    this.#log = new MemoryLog(clock)
  }

  /** One line. */
  append(text: string): void {
    this.#log.print('stderr', text.length > maxLength ? `${text.slice(0, maxLength)}...` : text)
    this.#log.trim(maxLines)
  }

  /** With `follow` it goes on until `signal` aborts. */
  read(options: LogOptions): AsyncIterable<Uint8Array> {
    return readMemoryLog(this.#log, { ...options, follow: options.follow && !options.signal.aborted })
  }
}
