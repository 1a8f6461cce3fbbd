import { matchLines } from './line-matches.ts'

const context = 3

/** A unified diff of two texts, as `diff -u` prints it; empty when they are equal. */
export function diffTexts(path: string, before: string, after: string): string {
  if (before === after) return ''
  const [old, current] = [before.split('\n'), after.split('\n')]
  const lines = [...describeLines(old, current)]
  const near = (index: number) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ sign }) => sign !== ' ')
  const kept = lines.map((line, index) => ({ ...line, isKept: near(index) }))
  const output = [`--- a/${path}`, `+++ b/${path}`]
  for (let start = 0; start < kept.length; start++) {
    if (!kept[start]!.isKept) continue
    let end = start
    while (kept[end]?.isKept) end++
    const hunk = kept.slice(start, end)
    const count = (skipped: string) => hunk.filter(({ sign }) => sign !== skipped).length
    const { old: from, current: to } = hunk[0]!
    output.push(`@@ -${from + 1},${count('+')} +${to + 1},${count('-')} @@`)
    for (const { sign, text } of hunk) output.push(`${sign}${text}`)
    start = end
  }
  return `${output.join('\n')}\n`
}

interface DiffLine {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
  /** The positions in both texts before this line. */
  readonly old: number
  readonly current: number
}

function* describeLines(before: readonly string[], after: readonly string[]): Generator<DiffLine> {
  let [old, current] = [0, 0]
  for (const match of [...matchLines(before, after), { before: before.length, after: after.length }]) {
    while (old < match.before) yield { sign: '-', text: before[old]!, old: old++, current }
    while (current < match.after) yield { sign: '+', text: after[current]!, old, current: current++ }
    if (old < before.length) yield { sign: ' ', text: before[old]!, old: old++, current: current++ }
  }
}
