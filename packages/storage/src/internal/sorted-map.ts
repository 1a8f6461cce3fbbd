/** The maximum number of entries per chunk; a larger one is split. */
const chunkLimit = 512

/**
 * A map sorted by key, as a list of sorted chunks: both searches are binary, an insertion moves at most one chunk.
 * Counting a span takes time proportional to its number of chunks, so a million keys are counted in microseconds.
 */
export class SortedMap<V extends { readonly key: string }> {
  #chunks: V[][] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: string): V | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)]
    if (!chunk) return undefined
    const found = chunk[lowerBound(chunk, key)]
    return found?.key === key ? found : undefined
  }

  /** Adds `entry`, or replaces the one with its key. */
  set(entry: V): void {
    if (this.#chunks.length === 0) {
      this.#chunks.push([entry])
      this.#size = 1
      return
    }
    const index = this.#chunkOf(entry.key)
    const chunk = this.#chunks[index]!
    const at = lowerBound(chunk, entry.key)
    if (chunk[at]?.key === entry.key) {
      chunk[at] = entry
      return
    }
    chunk.splice(at, 0, entry)
    this.#size++
    if (chunk.length > chunkLimit) {
      // Keys often arrive in order: leaving the left chunk nearly full keeps the list dense.
      const middle = at === chunk.length - 1 ? chunkLimit - 16 : chunkLimit >> 1
      this.#chunks.splice(index + 1, 0, chunk.splice(middle))
    }
  }

  delete(key: string): boolean {
    const index = this.#chunkOf(key)
    const chunk = this.#chunks[index]
    if (!chunk) return false
    const at = lowerBound(chunk, key)
    if (chunk[at]?.key !== key) return false
    chunk.splice(at, 1)
    this.#size--
    if (chunk.length === 0) this.#chunks.splice(index, 1)
    return true
  }

  /** Visits entries from `start` on, in order, as long as `visit` returns true. */
  scan(start: string, visit: (entry: V) => boolean): void {
    let index = this.#chunkOf(start)
    let at = lowerBound(this.#chunks[index] ?? [], start)
    for (; index < this.#chunks.length; index++, at = 0) {
      const chunk = this.#chunks[index]!
      for (; at < chunk.length; at++) if (!visit(chunk[at]!)) return
    }
  }

  /** The number of entries with start <= key < end; without `end`, of all that follow. */
  count(start: string, end?: string): number {
    return (end === undefined ? this.#size : this.#rank(end)) - this.#rank(start)
  }

  /** The number of entries before `key`. */
  #rank(key: string): number {
    const index = this.#chunkOf(key)
    let rank = lowerBound(this.#chunks[index] ?? [], key)
    for (let i = 0; i < index; i++) rank += this.#chunks[i]!.length
    return rank
  }

  /** The chunk of `key`: the last that starts at or before it, or the first. */
  #chunkOf(key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#chunks[middle]![0]!.key <= key) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }
}

function lowerBound(chunk: readonly { readonly key: string }[], key: string): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (chunk[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The first key after all that start with `prefix`; undefined when there is none. Keys are ASCII. */
export function prefixEnd(prefix: string): string | undefined {
  if (prefix === '') return undefined
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}
