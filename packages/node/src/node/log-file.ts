import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { AsyncQueue } from '@coxswain/kit'
import { createLogFilter, formatLogLine } from '../agent/log-lines.ts'
import type { LogOptions } from '../container-runtime.ts'

/** As the kubelet has it. */
const maxBytes = 10 * 1024 * 1024
const maxFiles = 5
/** A line that does not end is cut into pieces of so many characters. */
const maxLine = 16 * 1024

/** Lines go to the file at once, in the order they came; who follows is told of each after it has been written. */
export class LogFile {
  readonly #path: string
  readonly #now: () => number
  readonly #followers = new Set<AsyncQueue<string>>()
  readonly #rests = new Map<string, { text: string; readonly decoder: TextDecoder }>()
  #file: number
  #size: number
  #ended = false

  constructor(path: string, now: () => number) {
    mkdirSync(dirname(path), { recursive: true })
    this.#path = path
    this.#now = now
    this.#file = openSync(path, 'a')
    this.#size = fstatSync(this.#file).size
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
    for (const line of lines) this.#append(stream, line, false)
    while (rest.text.length > maxLine) {
      this.#append(stream, rest.text.slice(0, maxLine), true)
      rest.text = rest.text.slice(maxLine)
    }
  }

  /** What was begun is written, and followers see the end. */
  end(): void {
    if (this.#ended) return
    for (const [stream, { text }] of this.#rests) if (text !== '') this.#append(stream, text, true)
    this.#ended = true
    closeSync(this.#file)
    for (const follower of this.#followers) follower.end()
  }

  /** Lines from now on, until the end. */
  follow(): AsyncQueue<string> {
    const queue = new AsyncQueue<string>()
    if (this.#ended) queue.end()
    else this.#followers.add(queue)
    return queue
  }

  unfollow(queue: AsyncQueue<string>): void {
    this.#followers.delete(queue)
    queue.end()
  }

  #append(stream: string, content: string, partial: boolean): void {
    const line = formatLogLine(this.#now(), stream, content, partial)
    if (this.#size > maxBytes) this.#rotate()
    this.#size += writeSync(this.#file, line)
    for (const follower of this.#followers) follower.push(line)
  }

  #rotate(): void {
    closeSync(this.#file)
    rmSync(`${this.#path}.${maxFiles - 1}`, { force: true })
    for (let index = maxFiles - 2; index >= 1; index--) {
      if (existsSync(`${this.#path}.${index}`))
        renameSync(`${this.#path}.${index}`, `${this.#path}.${index + 1}`)
    }
    renameSync(this.#path, `${this.#path}.1`)
    this.#file = openSync(this.#path, 'a')
    this.#size = 0
  }
}

/** What is in the files of a log, and with `follow` what is written to `live` until it ends. */
export async function* readLogFile(
  path: string,
  live: LogFile | undefined,
  options: LogOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signal, tailLines, limitBytes = Number.POSITIVE_INFINITY } = options
  // Both in one step: what is not in the files as they are now will be told.
  const queue = options.follow ? live?.follow() : undefined
  const files = openAll(path)
  const leave = () => queue?.end()
  signal.addEventListener('abort', leave)
  const encoder = new TextEncoder()
  const print = createLogFilter(options)
  let left = limitBytes
  const cut = (text: string): Uint8Array => {
    const bytes = encoder.encode(text).subarray(0, left)
    left -= bytes.length
    return bytes
  }
  try {
    if (tailLines === undefined) {
      for (const line of linesOf(files)) {
        const text = print(line)
        if (text !== '') yield cut(text)
        if (left <= 0 || signal.aborted) return
      }
    } else {
      let kept: string[] = []
      for (const line of linesOf(files)) {
        const text = print(line)
        if (text !== '') kept.push(text)
        if (kept.length > 2 * tailLines + 1000) kept = kept.slice(-tailLines)
      }
      if (tailLines > 0) for (const text of kept.slice(-tailLines)) yield cut(text)
    }
    if (!queue) return
    for await (const line of queue) {
      const text = print(line.slice(0, -1))
      if (text !== '') yield cut(text)
      if (left <= 0) return
    }
  } finally {
    signal.removeEventListener('abort', leave)
    if (queue) live?.unfollow(queue)
    for (const { file } of files) closeSync(file)
  }
}

interface OpenFile {
  readonly file: number
  readonly size: number
}

/** Oldest first. */
function openAll(path: string): OpenFile[] {
  const paths = Array.from({ length: maxFiles - 1 }, (_, index) => `${path}.${maxFiles - 1 - index}`)
  return [...paths, path].filter(existsSync).map(name => {
    const file = openSync(name, 'r')
    return { file, size: fstatSync(file).size }
  })
}

function* linesOf(files: readonly OpenFile[]): Generator<string> {
  const buffer = Buffer.alloc(64 * 1024)
  for (const { file, size } of files) {
    const decoder = new TextDecoder()
    let rest = ''
    for (let at = 0; at < size; ) {
      const count = readSync(file, buffer, 0, Math.min(buffer.length, size - at), at)
      if (count === 0) break
      at += count
      const lines = (rest + decoder.decode(buffer.subarray(0, count), { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  }
}
