import type { Entry } from './entry.ts'

const isBefore = <T>(a: Entry<T>, b: Entry<T>): boolean =>
  a.due < b.due || (a.due === b.due && a.sequence < b.sequence)

/** Entries that become ready later: a binary heap by `due`; each entry knows its index. */
export class Waiting<T> {
  readonly #heap: Entry<T>[] = []
  #sequence = 0

  get size(): number {
    return this.#heap.length
  }

  get first(): Entry<T> | undefined {
    return this.#heap[0]
  }

  push(entry: Entry<T>, due: number): void {
    entry.due = due
    entry.sequence = this.#sequence++
    this.#put(entry, this.#heap.length)
    this.#up(entry)
  }

  /** Moves a waiting entry to an earlier time. */
  hasten(entry: Entry<T>, due: number): void {
    entry.due = due
    this.#up(entry)
  }

  remove(entry: Entry<T>): void {
    const last = this.#heap.pop()!
    if (last !== entry) {
      this.#put(last, entry.heapIndex)
      this.#up(last)
      this.#down(last)
    }
    entry.heapIndex = -1
  }

  *[Symbol.iterator](): Generator<Entry<T>, void, undefined> {
    yield* this.#heap
  }

  #put(entry: Entry<T>, index: number): void {
    this.#heap[index] = entry
    entry.heapIndex = index
  }

  #up(entry: Entry<T>): void {
    while (entry.heapIndex > 0) {
      const index = entry.heapIndex
      const parent = this.#heap[(index - 1) >> 1]!
      if (!isBefore(entry, parent)) return
      this.#put(entry, parent.heapIndex)
      this.#put(parent, index)
    }
  }

  #down(entry: Entry<T>): void {
    for (;;) {
      const index = entry.heapIndex
      const left = this.#heap[2 * index + 1]
      if (!left) return
      const right = this.#heap[2 * index + 2]
      const child = right && isBefore(right, left) ? right : left
      if (!isBefore(child, entry)) return
      this.#put(entry, child.heapIndex)
      this.#put(child, index)
    }
  }
}
