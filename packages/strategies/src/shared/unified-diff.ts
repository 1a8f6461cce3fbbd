import { escapeHtml } from '@coxswain/apimachinery/go'

/** Two texts line by line, as `diff -u` shows them: the longest common runs stay, three lines of them around a change. */

const context = 3
/** In long texts, very frequent lines do not count as common. */
const longText = 200

type Opcode = readonly [
  tag: 'equal' | 'replace' | 'delete' | 'insert',
  from1: number,
  to1: number,
  from2: number,
  to2: number,
]
/** Steps of the search for common runs, about 50 ms. What is not searched by then is shown as replaced. */
const maxSteps = 500_000

type Block = readonly [at1: number, at2: number, length: number]

/** Values in values that are still printed to be compared. */
const mostValues = 20_000

/** Whether a value is too large for its difference to be useful. Looks no further than it has to. */
export function isTooLongToCompare(value: unknown): boolean {
  let count = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (++count > mostValues) return true
    if (typeof next !== 'object' || next === null) continue
    for (const member of Object.values(next)) {
      waiting.push(member)
      if (waiting.length > mostValues) return true
    }
  }
  return false
}

/** What changed between two values, as a unified diff of their JSON with one space of indentation; empty when nothing. */
export function diffValues(old: unknown, value: unknown): string {
  return unifiedDiff(printLines(old), printLines(value))
}

/** The compiler does not know it yet. */
const raw = JSON as unknown as { rawJSON(text: string): unknown }

function printLines(value: unknown): string[] {
  const digits = (_key: string, member: unknown) =>
    typeof member === 'bigint' ? raw.rawJSON(member.toString()) : member
  return escapeHtml(JSON.stringify(value, digits, 1)).split('\n')
}

export function unifiedDiff(before: readonly string[], after: readonly string[]): string {
  let text = ''
  for (const group of groups(opcodes(before, after))) {
    const first = group[0]!
    const last = group.at(-1)!
    text += `@@ -${range(first[1], last[2])} +${range(first[3], last[4])} @@\n`
    for (const [tag, from1, to1, from2, to2] of group) {
      if (tag === 'equal') text += show(' ', before.slice(from1, to1))
      else text += show('-', before.slice(from1, to1)) + show('+', after.slice(from2, to2))
    }
  }
  return text
}

const show = (sign: string, part: readonly string[]): string => part.map(line => `${sign}${line}\n`).join('')

function range(start: number, stop: number): string {
  const length = stop - start
  if (length === 1) return String(start + 1)
  return `${length === 0 ? start : start + 1},${length}`
}

/** Changes with the lines around them; equal parts that are longer separate two groups. */
function groups(codes: Opcode[]): Opcode[][] {
  if (codes.every(([tag]) => tag === 'equal')) return []
  const [tag, from1, to1, from2, to2] = codes[0]!
  if (tag === 'equal')
    codes[0] = [tag, Math.max(from1, to1 - context), to1, Math.max(from2, to2 - context), to2]
  const end = codes.at(-1)!
  if (end[0] === 'equal') {
    const [, at1, stop1, at2, stop2] = end
    codes[codes.length - 1] = [
      'equal',
      at1,
      Math.min(stop1, at1 + context),
      at2,
      Math.min(stop2, at2 + context),
    ]
  }
  const result: Opcode[][] = []
  let group: Opcode[] = []
  for (const code of codes) {
    const [kind, at1, stop1, at2, stop2] = code
    if (kind === 'equal' && stop1 - at1 > 2 * context) {
      group.push(['equal', at1, at1 + context, at2, at2 + context])
      result.push(group)
      group = [['equal', stop1 - context, stop1, stop2 - context, stop2]]
    } else group.push(code)
  }
  if (group.length > 1 || group[0]?.[0] !== 'equal') result.push(group)
  return result
}

function opcodes(before: readonly string[], after: readonly string[]): Opcode[] {
  const codes: Opcode[] = []
  let at1 = 0
  let at2 = 0
  for (const [start1, start2, length] of matchingBlocks(before, after)) {
    if (at1 < start1 && at2 < start2) codes.push(['replace', at1, start1, at2, start2])
    else if (at1 < start1) codes.push(['delete', at1, start1, at2, start2])
    else if (at2 < start2) codes.push(['insert', at1, start1, at2, start2])
    at1 = start1 + length
    at2 = start2 + length
    if (length > 0) codes.push(['equal', start1, at1, start2, at2])
  }
  return codes
}

/** Common runs in order, no two adjacent; an empty one at the end. */
function matchingBlocks(before: readonly string[], after: readonly string[]): Block[] {
  const places = placesOf(after)
  const found: Block[] = []
  const budget = { steps: maxSteps }
  const match = (from1: number, to1: number, from2: number, to2: number): void => {
    if (budget.steps <= 0) return
    const block = longestMatch(before, after, places, { range: [from1, to1, from2, to2], budget })
    const [at1, at2, length] = block
    if (length === 0) return
    if (from1 < at1 && from2 < at2) match(from1, at1, from2, at2)
    found.push(block)
    if (at1 + length < to1 && at2 + length < to2) match(at1 + length, to1, at2 + length, to2)
  }
  match(0, before.length, 0, after.length)
  const joined: Block[] = []
  for (const [at1, at2, length] of found) {
    const previous = joined.at(-1)
    if (previous && previous[0] + previous[2] === at1 && previous[1] + previous[2] === at2)
      joined[joined.length - 1] = [previous[0], previous[1], previous[2] + length]
    else joined.push([at1, at2, length])
  }
  return [...joined, [before.length, after.length, 0]]
}

function placesOf(after: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>()
  for (const [index, line] of after.entries()) {
    const known = places.get(line)
    if (known) known.push(index)
    else places.set(line, [index])
  }
  if (after.length < longText) return places
  const limit = Math.floor(after.length / 100) + 1
  return new Map([...places].filter(([, at]) => at.length <= limit))
}

function longestMatch(
  before: readonly string[],
  after: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  search: {
    readonly range: readonly [from1: number, to1: number, from2: number, to2: number]
    readonly budget: { steps: number }
  },
): Block {
  const { budget } = search
  const [from1, to1, from2, to2] = search.range
  let at1 = from1
  let at2 = from2
  let length = 0
  let runs = new Map<number, number>()
  for (let i = from1; i < to1 && budget.steps > 0; i++) {
    const next = new Map<number, number>()
    budget.steps--
    for (const j of places.get(before[i]!) ?? []) {
      budget.steps--
      if (j < from2) continue
      if (j >= to2) break
      const run = (runs.get(j - 1) ?? 0) + 1
      next.set(j, run)
      if (run > length) {
        at1 = i - run + 1
        at2 = j - run + 1
        length = run
      }
    }
    runs = next
  }
  while (at1 > from1 && at2 > from2 && before[at1 - 1] === after[at2 - 1]) {
    at1--
    at2--
    length++
  }
  while (at1 + length < to1 && at2 + length < to2 && before[at1 + length] === after[at2 + length]) length++
  return [at1, at2, length]
}
