/** Lines that are equal in two texts: at `before` in one and at `after` in the other. */
export interface LineMatch {
  readonly before: number
  readonly after: number
}

/** The most cells of the table: files of a project are far smaller. */
const mostCells = 16_000_000

/** A longest common subsequence of lines, in order. Texts that are too long to compare have only their equal ends in common. */
export function matchLines(before: readonly string[], after: readonly string[]): LineMatch[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  const rest = Math.min(before.length, after.length) - start
  while (end < rest && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const head = Array.from({ length: start }, (_, index) => ({ before: index, after: index }))
  const tail = Array.from({ length: end }, (_, index) => ({
    before: before.length - end + index,
    after: after.length - end + index,
  }))
  const middle = matchMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end))
  return [
    ...head,
    ...middle.map(each => ({ before: each.before + start, after: each.after + start })),
    ...tail,
  ]
}

function matchMiddle(before: readonly string[], after: readonly string[]): LineMatch[] {
  const [rows, columns] = [before.length + 1, after.length + 1]
  if (rows * columns > mostCells) return []
  /** At (i, j): the length of the longest common subsequence of before[i..] and after[j..]. */
  const lengths = new Uint32Array(rows * columns)
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * columns + j] =
        before[i] === after[j]
          ? lengths[(i + 1) * columns + j + 1]! + 1
          : Math.max(lengths[(i + 1) * columns + j]!, lengths[i * columns + j + 1]!)
  const matches: LineMatch[] = []
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    if (before[i] === after[j]) matches.push({ before: i++, after: j++ })
    else if (lengths[(i + 1) * columns + j]! >= lengths[i * columns + j + 1]!) i++
    else j++
  }
  return matches
}
