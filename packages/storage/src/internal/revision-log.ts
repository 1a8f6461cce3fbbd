import type { Change, KeyValue } from '../store.ts'

/** One durable transaction: what a revision changed. */
export interface Commit {
  readonly revision: number
  /** With the previous values. */
  readonly changes: readonly Change[]
  /** When it became durable, in milliseconds of the clock. */
  readonly time: number
}

/** What is kept so that reads and watches can go back: the newest `revisions`, and beyond them what the other two allow. */
export interface HistoryWindow {
  /** @default 10,000 */
  readonly revisions: number
  /** In milliseconds. @default five minutes */
  readonly duration: number
  /** Keys and values, what stood before included. @default 128 MB */
  readonly bytes: number
}

export const defaultHistoryWindow: HistoryWindow = {
  revisions: 10_000,
  duration: 300_000,
  bytes: 128 * 1024 * 1024,
}

/** Consecutive commits, found by revision in constant time. */
export class RevisionLog {
  /** The commit of revision r is at `#start + r - #first`; what is before `#start` is garbage. */
  #commits: (Commit | undefined)[] = []
  #start = 0
  #first: number
  #bytes = 0

  /** `next` is the revision of the first commit to come. */
  constructor(next: number) {
    this.#first = next
  }

  /** The oldest revision held, or the next to come. */
  get first(): number {
    return this.#first
  }

  /** The newest revision held; `first - 1` when empty. */
  get last(): number {
    return this.#first + this.#commits.length - this.#start - 1
  }

  get size(): number {
    return this.#commits.length - this.#start
  }

  get bytes(): number {
    return this.#bytes
  }

  at(revision: number): Commit | undefined {
    return revision < this.#first ? undefined : this.#commits[this.#start + revision - this.#first]
  }

  push(commit: Commit): void {
    this.#commits.push(commit)
    this.#bytes += sizeOfCommit(commit)
  }

  shift(): Commit | undefined {
    const commit = this.#commits[this.#start]
    if (!commit) return undefined
    this.#commits[this.#start++] = undefined
    this.#first++
    this.#bytes -= sizeOfCommit(commit)
    if (this.#start > 1024 && this.#start * 2 > this.#commits.length) {
      this.#commits = this.#commits.slice(this.#start)
      this.#start = 0
    }
    return commit
  }

  /** Whether the oldest commit has fallen out of `window`. */
  exceeds(window: HistoryWindow, now: number): boolean {
    if (this.size <= window.revisions) return false
    return this.#bytes > window.bytes || now - this.at(this.#first)!.time > window.duration
  }
}

function sizeOfCommit(commit: Commit): number {
  let size = 64
  for (const change of commit.changes) {
    size += sizeOf(change.type === 'put' ? change.kv : undefined) + sizeOf(change.previous) + 64
  }
  return size
}

function sizeOf(kv: KeyValue | undefined): number {
  return kv ? kv.key.length + kv.value.length : 0
}
