/**
 * Rules that the repository does not keep everywhere yet: what breaks them is counted, the counts are committed in `ratchet/NAME.json`, and
 * they only fall. `npm run check -- --lower` writes counts that have fallen; one that has risen fails.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check, Finding } from './finding.ts'

/** One place that breaks the rule. */
export interface Occurrence {
  /** What is counted together: a word, the name of a function, the fingerprint of lines. */
  readonly key: string
  readonly file: string
  readonly line: number
  /** Says more than the rule. */
  readonly message?: string
}

export interface RatchetOptions {
  readonly name: string
  readonly rule: string
  /** Keys of one group may take each other's place (a function is renamed, a file moves); the sum of a group never rises. @default all are one group */
  readonly groupOf?: (key: string) => string
  find(root: string): Promise<readonly Occurrence[]>
}

export interface Ratchet extends Check {
  /** Commits the counts where they have fallen, or where there were none. Gives the sum. */
  lower(root: string): Promise<number>
}

type Counts = Readonly<Record<string, number>>

/** How many places of a key are named when there are more of it. */
const mostNamed = 5

export function createRatchet({ name, rule, groupOf = () => '', find }: RatchetOptions): Ratchet {
  const path = `tools/checks/ratchet/${name}.json`
  return {
    name,
    async run(root) {
      const found = await find(root)
      const now = countOf(found)
      const committed = (await readCounts(root, path)) ?? {}
      const sums = sumsOf(now, groupOf)
      const limits = sumsOf(committed, groupOf)
      const findings: Finding[] = []
      for (const [key, places] of Map.groupBy(found, each => each.key)) {
        const allowed = committed[key] ?? 0
        if (places.length <= allowed || sums[groupOf(key)]! <= (limits[groupOf(key)] ?? 0)) continue
        const count = allowed === 0 ? '' : ` (${places.length} of ${key}, and ${path} has ${allowed})`
        for (const { file, line, message } of places.slice(0, mostNamed))
          findings.push({ file, line, message: `${key}: ${message ?? rule}${count}` })
      }
      const fallen = Object.keys(limits).filter(group => (sums[group] ?? 0) < limits[group]!)
      if (fallen.length > 0) {
        const what = fallen.map(group => `${group} ${sums[group] ?? 0} of ${limits[group]}`.trim()).join(', ')
        findings.push({ file: path, message: `there are fewer now: npm run check -- --lower (${what})` })
      }
      return findings
    },
    async lower(root) {
      const now = countOf(await find(root))
      const committed = await readCounts(root, path)
      const sums = sumsOf(now, groupOf)
      const limits = committed && sumsOf(committed, groupOf)
      const hasRisen = (key: string) =>
        (sums[groupOf(key)] ?? 0) > (limits?.[groupOf(key)] ?? Number.POSITIVE_INFINITY)
      const kept = [
        ...Object.entries(now).filter(([key]) => !limits || (groupOf(key) in limits && !hasRisen(key))),
        ...Object.entries(committed ?? {}).filter(([key]) => hasRisen(key)),
      ].sort(([a], [b]) => (a < b ? -1 : 1))
      await writeFile(join(root, path), `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`)
      return kept.reduce((sum, [, count]) => sum + count, 0)
    },
  }
}

async function readCounts(root: string, path: string): Promise<Counts | undefined> {
  const text = await readFile(join(root, path), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as Counts)
}

function countOf(found: readonly Occurrence[]): Record<string, number> {
  const counts: Record<string, number> = Object.create(null)
  for (const { key } of found) counts[key] = (counts[key] ?? 0) + 1
  return counts
}

function sumsOf(counts: Counts, groupOf: (key: string) => string): Record<string, number> {
  const sums: Record<string, number> = Object.create(null)
  for (const [key, count] of Object.entries(counts)) sums[groupOf(key)] = (sums[groupOf(key)] ?? 0) + count
  return sums
}
