import { AsyncQueue, type Clock } from '@coxswain/kit'
import type { LogOptions } from '../container-runtime.ts'
import { createLogFilter, formatLogLine } from './log-lines.ts'

/** A container's log where there are no files. */
export class MemoryLog {
  readonly lines: string[] = []
  readonly #clock: Clock
  #followers: Set<AsyncQueue<string>> | undefined
  #hasEnded = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  print(stream: 'stdout' | 'stderr', text: string): void {
    const line = formatLogLine(this.#clock.now(), stream, text, false)
    this.lines.push(line)
    for (const follower of this.#followers ?? []) follower.push(line)
  }

  end(): void {
    this.#hasEnded = true
    for (const follower of this.#followers ?? []) follower.end()
  }

  /** Lines from now on; undefined when there will be none. Ending the queue is the follower's way out. */
  follow(): AsyncQueue<string> | undefined {
    if (this.#hasEnded) return undefined
    const queue = new AsyncQueue<string>()
    this.#followers ??= new Set()
    this.#followers.add(queue)
    return queue
  }

  unfollow(queue: AsyncQueue<string>): void {
    this.#followers?.delete(queue)
  }
}

/** What was printed, and with `follow` what is until the end. Nothing for a log that there is not. */
export async function* readMemoryLog(
  log: MemoryLog | undefined,
  options: LogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (!log) return
  const { tailLines, signal, follow } = options
  const queue = follow ? log.follow() : undefined
  const leave = () => queue?.end()
  signal.addEventListener('abort', leave)
  const filter = createLogFilter(options)
  const texts = log.lines.map(line => filter(line.slice(0, -1))).filter(text => text !== '')
  const encoder = new TextEncoder()
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY
  const cut = (text: string) => {
    const bytes = encoder.encode(text).subarray(0, left)
    left -= bytes.length
    return bytes
  }
  try {
    const first = tailLines === undefined ? 0 : Math.max(0, texts.length - tailLines)
    for (const text of texts.slice(first)) {
      yield cut(text)
      if (left <= 0) return
    }
    for await (const line of queue ?? []) {
      const text = filter(line.slice(0, -1))
      if (text !== '') yield cut(text)
      if (left <= 0) return
    }
  } finally {
    signal.removeEventListener('abort', leave)
    if (queue) log.unfollow(queue)
  }
}
