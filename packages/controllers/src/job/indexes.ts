/** From `first` to `last`, inclusive. */
interface Interval {
  readonly first: number
  readonly last: number
}

/** Completion indexes as in a Job's status, `0-3,5`: sorted intervals that neither touch nor overlap. */
export type Indexes = readonly Interval[]

export const noIndexes: Indexes = []

/** Parses `0-3,5`. Skips invalid parts and indexes that are not below `completions`. */
export function parseIndexes(text: string | undefined, completions: number): Indexes {
  const read: Interval[] = []
  for (const part of (text ?? '').split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part)
    if (!match) continue
    const first = Number(match[1])
    const last = Math.min(Number(match[2] ?? match[1]), completions - 1)
    if (first <= last) read.push({ first, last })
  }
  return uniteIntervals(read)
}

export function formatIndexes(indexes: Indexes): string {
  return indexes
    .map(({ first, last }) => {
      if (first === last) return `${first}`
      return `${first}${last === first + 1 ? ',' : '-'}${last}`
    })
    .join(',')
}

export function countIndexes(indexes: Indexes): number {
  return indexes.reduce((count, { first, last }) => count + last - first + 1, 0)
}

export function hasIndex(indexes: Indexes, index: number): boolean {
  return indexes.some(({ first, last }) => first <= index && index <= last)
}

export function addIndexes(indexes: Indexes, more: Iterable<number>): Indexes {
  return uniteIntervals([...indexes, ...Array.from(more, index => ({ first: index, last: index }))])
}

export function uniteIndexes(...all: readonly Indexes[]): Indexes {
  return uniteIntervals(all.flat())
}

/** The number of indexes in both. */
export function countCommon(a: Indexes, b: Indexes): number {
  let count = 0
  for (const one of a) {
    for (const other of b)
      count += Math.max(0, Math.min(one.last, other.last) - Math.max(one.first, other.first) + 1)
  }
  return count
}

/** The lowest `count` indexes below `completions` that are not in `taken`. */
export function firstFree(taken: Indexes, count: number, completions: number): number[] {
  const free: number[] = []
  let candidate = 0
  for (const { first, last } of [...taken, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && free.length < count; candidate++) free.push(candidate)
    candidate = Math.max(candidate, last + 1)
  }
  return free
}

function uniteIntervals(intervals: readonly Interval[]): Indexes {
  const united: { first: number; last: number }[] = []
  for (const { first, last } of [...intervals].sort((a, b) => a.first - b.first)) {
    const previous = united.at(-1)
    if (previous && first <= previous.last + 1) previous.last = Math.max(previous.last, last)
    else united.push({ first, last })
  }
  return united
}
