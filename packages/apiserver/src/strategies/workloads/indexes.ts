/** Indexes of an indexed job as text, `1,3-5,7`: intervals in increasing order, below the number of completions. */

type Interval = readonly [first: number, last: number]

/** How many indexes there are, or what is wrong with the text. */
export function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0
  let total = 0
  let previous: number | undefined
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions)
    if (typeof interval === 'string') return interval
    const [first, last] = interval
    if (previous !== undefined && previous >= first)
      return `non-increasing order, previous: ${previous}, current: ${first}`
    total += last - first + 1
    previous = last
  }
  return total
}

function parseInterval(text: string, completions: number): Interval | string {
  const parts = text.split('-')
  if (parts.length > 2) {
    return `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`
  }
  const numbers: number[] = []
  for (const part of parts) {
    if (!/^[+]?[0-9]+$/.test(part))
      return `cannot convert string to integer for index: ${JSON.stringify(part)}`
    if (Number(part) >= completions) return `too large index: ${JSON.stringify(part)}`
    numbers.push(Number(part))
  }
  const [first = 0, last] = numbers
  if (last === undefined) return [first, first]
  return first < last ? [first, last] : `non-increasing order, previous: ${first}, current: ${last}`
}

/** The first index that is in both, if any; parts that make no sense do not count. */
export function findOverlap(one: string, other: string, completions: number): number | undefined {
  const intervals = (text: string): Interval[] =>
    text
      .split(',')
      .map(part => parseInterval(part, completions))
      .filter((interval): interval is Interval => typeof interval !== 'string')
  if (one === '' || other === '') return undefined
  const others = intervals(other).sort(([from], [otherFrom]) => from - otherFrom)
  let at = 0
  for (const [first, last] of intervals(one).sort(([from], [otherFrom]) => from - otherFrom)) {
    while (at < others.length && others[at]![1] < first) at++
    const hit = others[at]
    if (hit && hit[0] <= last) return Math.max(first, hit[0])
  }
  return undefined
}
