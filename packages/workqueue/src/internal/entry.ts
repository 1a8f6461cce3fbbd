/**
 * The state of one item. It exists while the item is waiting, ready or being processed; otherwise the queue keeps nothing.
 */
export interface Entry<T> {
  readonly item: T
  /** The item is to be processed (again). While `inFlight` it is in no list: `done` adds it. */
  wanted: boolean
  /** A worker has the item and has not called `done`. */
  inFlight: boolean
  /** Of the next processing: the highest since the last `get`. */
  priority: number
  /** Of the processing in flight. */
  givenPriority: number
  /** When the item became wanted. Meaningful while `wanted`. */
  addedAt: number
  /** When a worker got it. Meaningful while `inFlight`. */
  startedAt: number
  /** When the item is to become wanted. Meaningful while `heapIndex >= 0`. */
  due: number
  /** The order in which entries came to wait for the same `due`. */
  sequence: number
  /** The place in the heap of waiting entries; -1 when it does not wait. */
  heapIndex: number
  /** The list of ready entries that it is in. Undefined exactly when it is not ready. */
  list: EntryList<T> | undefined
  previous: Entry<T> | undefined
  next: Entry<T> | undefined
}

export function createEntry<T>(item: T): Entry<T> {
  return {
    item,
    wanted: false,
    inFlight: false,
    priority: 0,
    givenPriority: 0,
    addedAt: 0,
    startedAt: 0,
    due: 0,
    sequence: 0,
    heapIndex: -1,
    list: undefined,
    previous: undefined,
    next: undefined,
  }
}

/** First in, first out, linked through the entries themselves: no allocation, and removal in constant time. */
export class EntryList<T> {
  #first: Entry<T> | undefined
  #last: Entry<T> | undefined

  get first(): Entry<T> | undefined {
    return this.#first
  }

  push(entry: Entry<T>): void {
    entry.list = this
    entry.previous = this.#last
    entry.next = undefined
    if (this.#last) this.#last.next = entry
    else this.#first = entry
    this.#last = entry
  }

  remove(entry: Entry<T>): void {
    if (entry.previous) entry.previous.next = entry.next
    else this.#first = entry.next
    if (entry.next) entry.next.previous = entry.previous
    else this.#last = entry.previous
    entry.list = undefined
    entry.previous = undefined
    entry.next = undefined
  }
}
