import { matchLines } from './line-matches.ts'

/** The three versions of a text. */
export interface MergeInput {
  readonly base: string
  readonly yours: string
  readonly theirs: string
}

/** What the conflict markers say. */
export interface MergeLabels {
  readonly yours: string
  readonly theirs: string
}

/** The result of a merge. */
export interface MergedText {
  readonly text: string
  readonly conflicts: number
}

/** A three-way merge by lines, with git's conflict markers where both sides changed the same lines differently. */
export function mergeTexts({ base, yours, theirs }: MergeInput, labels: MergeLabels): MergedText {
  const [b, y, t] = [base, yours, theirs].map(text => text.split('\n')) as [string[], string[], string[]]
  const inYours = new Map(matchLines(b, y).map(({ before, after }) => [before, after]))
  const inTheirs = new Map(matchLines(b, t).map(({ before, after }) => [before, after]))
  let merged: string[] = []
  let conflicts = 0
  const at = { base: 0, yours: 0, theirs: 0 }
  const flush = (to: typeof at) => {
    const part = {
      base: b.slice(at.base, to.base),
      yours: y.slice(at.yours, to.yours),
      theirs: t.slice(at.theirs, to.theirs),
    }
    const { lines, isConflict } = mergePart(part, labels)
    merged = merged.concat(lines)
    if (isConflict) conflicts++
    Object.assign(at, to)
  }
  for (const [line, text] of b.entries()) {
    const [yoursAt, theirsAt] = [inYours.get(line), inTheirs.get(line)]
    if (yoursAt === undefined || theirsAt === undefined) continue
    flush({ base: line, yours: yoursAt, theirs: theirsAt })
    merged.push(text)
    Object.assign(at, { base: line + 1, yours: yoursAt + 1, theirs: theirsAt + 1 })
  }
  flush({ base: b.length, yours: y.length, theirs: t.length })
  return { text: merged.join('\n'), conflicts }
}

interface Part {
  readonly base: readonly string[]
  readonly yours: readonly string[]
  readonly theirs: readonly string[]
}

function mergePart(
  { base, yours, theirs }: Part,
  labels: MergeLabels,
): { lines: readonly string[]; isConflict: boolean } {
  const isSame = (one: readonly string[], other: readonly string[]) =>
    one.length === other.length && one.every((line, index) => line === other[index])
  if (isSame(yours, theirs) || isSame(base, theirs)) return { lines: yours, isConflict: false }
  if (isSame(base, yours)) return { lines: theirs, isConflict: false }
  const lines = [`<<<<<<< ${labels.yours}`, ...yours, '=======', ...theirs, `>>>>>>> ${labels.theirs}`]
  return { lines, isConflict: true }
}
