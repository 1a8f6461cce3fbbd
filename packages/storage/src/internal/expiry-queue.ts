/** A key that expires at `due` (clock time, milliseconds) unless it is written before. */
export interface Expiry {
  readonly key: string
  readonly modRevision: number
  readonly due: number
}

/** Expiries by due time: a binary heap. An expiry whose key was written since is dropped when it is due. */
export class ExpiryQueue {
  #heap: Expiry[] = []

  get size(): number {
    return this.#heap.length
  }

  /** When the first one is due. */
  get next(): number | undefined {
    return this.#heap[0]?.due
  }

  push(expiry: Expiry): void {
    const heap = this.#heap
    heap.push(expiry)
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1
      if (heap[parent]!.due <= heap[at]!.due) break
      swap(heap, at, parent)
      at = parent
    }
  }

  /** Removes and returns the first one if it is due at `now`. */
  popDue(now: number): Expiry | undefined {
    const heap = this.#heap
    const first = heap[0]
    if (!first || first.due > now) return undefined
    const last = heap.pop()!
    if (heap.length > 0) {
      heap[0] = last
      siftDown(heap)
    }
    return first
  }

  /** Drops the expiries that do not satisfy `isCurrent`. */
  prune(isCurrent: (expiry: Expiry) => boolean): void {
    const current = this.#heap.filter(isCurrent)
    this.#heap = []
    for (const expiry of current) this.push(expiry)
  }
}

function siftDown(heap: Expiry[]): void {
  for (let at = 0; ; ) {
    const left = 2 * at + 1
    if (left >= heap.length) return
    const right = left + 1
    const child = right < heap.length && heap[right]!.due < heap[left]!.due ? right : left
    if (heap[at]!.due <= heap[child]!.due) return
    swap(heap, at, child)
    at = child
  }
}

function swap(heap: Expiry[], a: number, b: number): void {
  const held = heap[a]!
  heap[a] = heap[b]!
  heap[b] = held
}
