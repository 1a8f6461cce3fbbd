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
  /** Whether every key has a count of its own, or only their sum matters (a function may be renamed). @default 'sum' */
  readonly counts?: 'each' | 'sum'
  find(root: string): Promise<readonly Occurrence[]>
}

export interface Ratchet extends Check {
  /** Commits the counts where they have fallen, or where there were none. Gives the sum. */
  lower(root: string): Promise<number>
}

type Counts = Readonly<Record<string, number>>

export function createRatchet({ name, rule, counts = 'sum', find }: RatchetOptions): Ratchet {
  const path = `tools/checks/ratchet/${name}.json`
  const lowerCommand = 'npm run check -- --lower'
  return {
    name,
    async run(root) {
      const found = await find(root)
      const now = countOf(found)
      const committed = (await readCounts(root, path)) ?? {}
      const findings: Finding[] = []
      const hasRisen = counts === 'each' || sumOf(now) > sumOf(committed)
      for (const { key, file, line, message } of hasRisen ? found : []) {
        const allowed = committed[key] ?? 0
        if (now[key]! <= allowed) continue
        const count = allowed === 0 ? '' : ` (${now[key]} of ${key}, and ${path} has ${allowed})`
        findings.push({ file, line, message: `${key}: ${message ?? rule}${count}` })
      }
      const fallen =
        counts === 'each'
          ? Object.keys(committed).filter(key => (now[key] ?? 0) < committed[key]!)
          : sumOf(now) < sumOf(committed)
            ? [`${sumOf(now)} of ${sumOf(committed)}`]
            : []
      if (fallen.length > 0)
        findings.push({ file: path, message: `there are fewer now: ${lowerCommand} (${fallen.join(', ')})` })
      return findings
    },
    async lower(root) {
      const now = countOf(await find(root))
      const committed = await readCounts(root, path)
      if (committed && counts === 'sum' && sumOf(now) > sumOf(committed)) return sumOf(committed)
      const kept = Object.entries(now).map(
        ([key, count]) =>
          [key, committed && counts === 'each' ? Math.min(count, committed[key] ?? 0) : count] as const,
      )
      const text = JSON.stringify(
        Object.fromEntries(kept.filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1))),
        undefined,
        2,
      )
      await writeFile(join(root, path), `${text}\n`)
      return sumOf(Object.fromEntries(kept))
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

const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)
