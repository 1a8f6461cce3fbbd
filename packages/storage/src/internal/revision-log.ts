import type { Change, KeyValue } from '../store.ts'

/** One durable transaction: the changes of a revision. */
export interface Commit {
  readonly revision: number
  /** With the previous values. */
  readonly changes: readonly Change[]
  /** When it became durable, in milliseconds of the clock. */
  readonly time: number
}

/** How much history reads and watches can use: the newest `revisions`, and older ones within the other two limits. */
export interface HistoryWindow {
  /** @default 10,000 */
  readonly revisions: number
  /** In milliseconds. @default five minutes */
  readonly duration: number
  /** Size of keys and values, previous values included. @default 128 MB */
  readonly bytes: number
}

export const defaultHistoryWindow: HistoryWindow = {
  revisions: 10_000,
  duration: 300_000,
  bytes: 128 * 1024 * 1024,
}

/** Consecutive commits, indexed by revision in constant time. */
export class RevisionLog {
  /** The commit of revision r is at `#start + r - #first`; entries before `#start` are garbage. */
  #commits: (Commit | undefined)[] = []
  #start = 0
  #first: number
  #bytes = 0

  /** `next` is the revision of the first commit to be added. */
  constructor(next: number) {
    this.#first = next
  }

  /** The oldest revision in the log, or the next one. */
  get first(): number {
    return this.#first
  }

  /** The newest revision in the log; `first - 1` when empty. */
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

  /** Whether the oldest commit is outside `window`. */
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
