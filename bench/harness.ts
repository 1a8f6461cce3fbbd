/**
 * Every benchmark has one form: each number is measured beside its reference in the same run, the two taking turns
 * round by round, and what is reported is the median with its spread. README.md shows how to write one.
 */

/** What a benchmark measures. The file `bench/NAME/index.ts` exports one as `bench`. */
export interface BenchDefinition {
  /** One line: what is measured, and on what. */
  readonly title: string
  /** Rounds that count; one more before them warms up. At least 5. @default 5 */
  readonly rounds?: number
  /** A function sets up what the cases share, and puts what has to be stopped on `stack`. */
  readonly cases: readonly BenchCase[] | ((stack: AsyncDisposableStack) => Promise<readonly BenchCase[]>)
}

export interface BenchCase {
  readonly name: string
  readonly unit: string
  /** One round: gives one number in `unit`. */
  readonly measure: () => number | Promise<number>
  /** What the number is compared with: the same work done by another, in the same unit. */
  readonly reference?: BenchReference
  readonly goal?: BenchGoal
}

export interface BenchReference {
  readonly name: string
  readonly measure: () => number | Promise<number>
}

/** `ratio` is our number divided by the reference's; `value` is our number alone. */
export interface BenchGoal {
  readonly of: 'ratio' | 'value'
  readonly atMost?: number
  readonly atLeast?: number
}

/** One line of the result, and one element of the JSON file. */
export interface Row {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly reference: number | null
  readonly referenceName: string | null
  readonly ratio: number | null
  readonly goal: string | null
  /** Whether the goal is met; null without a goal. */
  readonly holds: boolean | null
}

/** A row with the lowest and highest round of each side. */
export interface MeasuredRow extends Row {
  readonly spread: Spread
  readonly referenceSpread: Spread | null
}

export type Spread = readonly [lowest: number, highest: number]

const fewestRounds = 5

export async function runBench(definition: BenchDefinition): Promise<MeasuredRow[]> {
  const { rounds = fewestRounds } = definition
  if (rounds < fewestRounds) throw new Error(`a benchmark has at least ${fewestRounds} rounds, not ${rounds}`)
  await using stack = new AsyncDisposableStack()
  const cases = typeof definition.cases === 'function' ? await definition.cases(stack) : definition.cases
  const own = cases.map((): number[] => [])
  const others = cases.map((): number[] => [])
  for (let round = -1; round < rounds; round++) {
    for (const [index, each] of cases.entries()) {
      const sides = [
        { measure: each.measure, into: own[index]! },
        ...(each.reference ? [{ measure: each.reference.measure, into: others[index]! }] : []),
      ]
      if (round % 2 !== 0) sides.reverse() // so that neither side always runs in the wake of the other
      for (const { measure, into } of sides) {
        const value = await measure()
        if (!Number.isFinite(value)) throw new Error(`${each.name}: a round measured ${value}`)
        if (round >= 0) into.push(value)
      }
    }
  }
  return cases.map((each, index) => summarise(each, own[index]!, others[index]!))
}

function summarise(each: BenchCase, own: readonly number[], other: readonly number[]): MeasuredRow {
  const value = median(own)
  const reference = each.reference ? median(other) : null
  const ratio = reference === null ? null : value / reference
  const { goal } = each
  if (goal?.of === 'ratio' && ratio === null)
    throw new Error(`${each.name}: a goal for the ratio needs a reference`)
  return {
    name: each.name,
    value,
    unit: each.unit,
    reference,
    referenceName: each.reference?.name ?? null,
    ratio,
    goal: goal ? describeGoal(goal, each.unit) : null,
    holds: goal ? isMet(goal, goal.of === 'ratio' ? ratio! : value) : null,
    spread: spread(own),
    referenceSpread: each.reference ? spread(other) : null,
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const spread = (values: readonly number[]): Spread => [Math.min(...values), Math.max(...values)]

const isMet = (
  { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY }: BenchGoal,
  value: number,
) => value <= atMost && value >= atLeast

function describeGoal({ of, atMost, atLeast }: BenchGoal, unit: string): string {
  const suffix = of === 'ratio' ? 'x' : ` ${unit}`
  const bounds = [
    ...(atLeast === undefined ? [] : [`>= ${atLeast}${suffix}`]),
    ...(atMost === undefined ? [] : [`<= ${atMost}${suffix}`]),
  ]
  if (bounds.length === 0) throw new Error('a goal has a bound')
  return bounds.join(' and ')
}

/** The result for people. */
export function formatTable(title: string, rows: readonly MeasuredRow[]): string {
  const cells = rows.map(row => [
    row.name,
    `${format(row.value)} ${row.unit} (${format(row.spread[0])} to ${format(row.spread[1])})`,
    row.reference === null || row.referenceSpread === null
      ? '-'
      : `${row.referenceName}: ${format(row.reference)} ${row.unit} (${format(row.referenceSpread[0])} to ${format(row.referenceSpread[1])})`,
    row.ratio === null ? '-' : `${format(row.ratio)}x`,
    row.goal ?? '-',
    row.holds === null ? '-' : row.holds ? 'holds' : '**missed**',
  ])
  const line = (columns: readonly string[]) => `| ${columns.join(' | ')} |`
  const head = ['what', 'median (lowest to highest)', 'reference', 'ratio', 'goal', 'result']
  return [`## ${title}`, '', line(head), line(head.map(() => '---')), ...cells.map(line), ''].join('\n')
}

/** The result for programs: exactly the fields of {@link Row}. */
export function toJson(rows: readonly MeasuredRow[]): string {
  const plain = rows.map(({ spread: _, referenceSpread: __, ...row }): Row => row)
  return `${JSON.stringify(plain, undefined, 2)}\n`
}

/** Three significant digits, whole numbers whole. */
function format(value: number): string {
  return Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en-US')
    : String(Number(value.toPrecision(3)))
}
