interface Match {
  readonly a: number
  readonly b: number
  readonly size: number
}

/** Lines of `a` between `a0` and `a1` that became those of `b` between `b0` and `b1`. */
interface Change {
  readonly isEqual: boolean
  readonly a0: number
  readonly a1: number
  readonly b0: number
  readonly b1: number
}

const context = 3

/** What changed between two values, as a unified diff of their JSON with one space of indentation; empty when nothing. */
export function diffValues(old: unknown, value: unknown): string {
  return unifiedDiff(printLines(old), printLines(value))
}

function printLines(value: unknown): string[] {
  const escapeChar = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, 1)
    .replace(/[<>&\u2028\u2029]/g, escapeChar)
    .split('\n')
}

export function unifiedDiff(a: readonly string[], b: readonly string[]): string {
  let out = ''
  for (const group of groupChanges(findChanges(a, b))) {
    const first = group[0]!
    const last = group.at(-1)!
    out += `@@ -${printRange(first.a0, last.a1)} +${printRange(first.b0, last.b1)} @@\n`
    for (const { isEqual, a0, a1, b0, b1 } of group) {
      for (const line of a.slice(a0, a1)) out += `${isEqual ? ' ' : '-'}${line}\n`
      if (!isEqual) for (const line of b.slice(b0, b1)) out += `+${line}\n`
    }
  }
  return out
}

function printRange(start: number, end: number): string {
  const length = end - start
  if (length === 1) return String(start + 1)
  return `${length === 0 ? start : start + 1},${length}`
}

/** The longest run of equal lines, the first of several. */
function longestMatch(a: readonly string[], b: readonly string[], within: Omit<Change, 'isEqual'>): Match {
  let best: Match = { a: within.a0, b: within.b0, size: 0 }
  let lengths = new Map<number, number>()
  for (let i = within.a0; i < within.a1; i++) {
    const next = new Map<number, number>()
    for (let j = within.b0; j < within.b1; j++) {
      if (a[i] !== b[j]) continue
      const size = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, size)
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size }
    }
    lengths = next
  }
  return best
}

function findMatches(a: readonly string[], b: readonly string[], within: Omit<Change, 'isEqual'>): Match[] {
  const match = longestMatch(a, b, within)
  if (match.size === 0) return []
  const { a0, a1, b0, b1 } = within
  return [
    ...findMatches(a, b, { a0, a1: match.a, b0, b1: match.b }),
    match,
    ...findMatches(a, b, { a0: match.a + match.size, a1, b0: match.b + match.size, b1 }),
  ]
}

function findChanges(a: readonly string[], b: readonly string[]): Change[] {
  const changes: Change[] = []
  let at = { a: 0, b: 0 }
  const end = { a: a.length, b: b.length, size: 0 }
  for (const match of [...findMatches(a, b, { a0: 0, a1: a.length, b0: 0, b1: b.length }), end]) {
    if (at.a < match.a || at.b < match.b)
      changes.push({ isEqual: false, a0: at.a, a1: match.a, b0: at.b, b1: match.b })
    at = { a: match.a + match.size, b: match.b + match.size }
    if (match.size === 0) continue
    const before = changes.at(-1)
    if (before?.isEqual) changes[changes.length - 1] = { ...before, a1: at.a, b1: at.b }
    else changes.push({ isEqual: true, a0: match.a, a1: at.a, b0: match.b, b1: at.b })
  }
  return changes
}

/** Changes that are near each other, with the lines around them. */
function groupChanges(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = []
  let group: Change[] = []
  for (const [index, change] of changes.entries()) {
    if (!change.isEqual) {
      group.push(change)
      continue
    }
    const { a0, a1, b0, b1 } = change
    const isFirst = index === 0
    const isLast = index === changes.length - 1
    if (!isFirst && !isLast && a1 - a0 <= 2 * context) {
      group.push(change)
      continue
    }
    if (!isFirst) {
      const size = Math.min(context, a1 - a0)
      group.push({ isEqual: true, a0, a1: a0 + size, b0, b1: b0 + size })
      groups.push(group)
    }
    const size = Math.min(context, a1 - a0)
    group = isLast ? [] : [{ isEqual: true, a0: a1 - size, a1, b0: b1 - size, b1 }]
  }
  if (group.some(({ isEqual }) => !isEqual)) groups.push(group)
  return groups
}
