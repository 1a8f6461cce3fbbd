/**
 * `node interop/golden/record-differences.ts KUBECONFIG`: replays all cases against a server and writes those that differ
 * to known-differences.json, keeping the reasons of those listed before. New ones get the reason "unexplained".
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { GoldenClient } from './client.ts'
import { isSame } from './compare.ts'
import { loadCases, Replayer } from './replay.ts'

const file = new URL('./known-differences.json', import.meta.url)
const before: Record<string, string[]> = JSON.parse(readFileSync(file, 'utf8'))
const reasons = new Map(
  Object.entries(before).flatMap(([reason, ids]) => ids.map(id => [id, reason] as const)),
)

await using client = new GoldenClient(process.argv[2]!)
await client.prepare()
const replayer = new Replayer(client)
const found: Record<string, string[]> = {}
const cases = await loadCases()
const queue = [...cases.filter(({ serial }) => !serial)]
const judge = async (golden: (typeof cases)[number]) => {
  const verdict = await replayer.replay(golden)
  if (isSame(verdict)) return
  const reason = reasons.get(golden.id) ?? explain(golden.id, golden.response.status)
  found[reason] = [...(found[reason] ?? []), golden.id]
}
const work = async () => {
  for (let golden = queue.shift(); golden; golden = queue.shift()) await judge(golden)
}
await Promise.all(Array.from({ length: 8 }, work))
for (const golden of cases.filter(({ serial }) => serial)) await judge(golden)
for (const ids of Object.values(found)) ids.sort()
const sorted = Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(sorted, null, 1)}\n`)
console.log(
  Object.entries(sorted)
    .map(([reason, ids]) => `${ids.length} ${reason}`)
    .join('\n'),
)

/** The cause given for a difference until it has been reviewed. */
function explain(id: string, status: number): string {
  if (status === 500) return 'a mistake of the client that upstream answers with 500 gets a 4xx'
  if (id.startsWith('access/') || id.includes('/enforcement')) return 'needs RBAC, webhooks or policies'
  if (id.startsWith('golden.example.com/gadgets')) return 'needs the CEL rules of custom resources'
  return 'unexplained'
}
