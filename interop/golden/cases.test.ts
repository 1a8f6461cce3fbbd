import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { GoldenCase } from './case.ts'
import { GoldenClient } from './client.ts'
import { isSame, type Verdict } from './compare.ts'
import { loadCases, Replayer } from './replay.ts'
import { startGoldenServer } from './server.ts'

const workers = 8

/** Cases that are known to differ, by the reason: see README.md. */
const known: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('./known-differences.json', import.meta.url), 'utf8'),
)

describe('the recorded answers of kube-apiserver 1.36.4', () => {
  it('are our answers, except for those that are known to differ', async () => {
    await using server = await startGoldenServer()
    await using client = new GoldenClient(server.kubeconfig)
    await client.prepare()
    const replayer = new Replayer(client)
    const cases = await loadCases()
    const verdicts = new Map<GoldenCase, Verdict>()
    const queue = cases.filter(({ serial }) => !serial)
    const work = async () => {
      for (let golden = queue.shift(); golden; golden = queue.shift())
        verdicts.set(golden, await replayer.replay(golden))
    }
    await Promise.all(Array.from({ length: workers }, work))
    for (const golden of cases.filter(({ serial }) => serial))
      verdicts.set(golden, await replayer.replay(golden))

    const expected = new Set(Object.values(known).flat())
    const counts = { same: 0, message: 0, warnings: 0 }
    const surprises: string[] = []
    const better: string[] = []
    for (const golden of cases) {
      const verdict = verdicts.get(golden)!
      if (isSame(verdict)) counts.same++
      if (verdict.message) counts.message++
      if (verdict.warnings) counts.warnings++
      if (isSame(verdict) && expected.has(golden.id)) better.push(golden.id)
      if (isSame(verdict) || expected.has(golden.id)) continue
      // Once more, alone: what depends on the load of the machine is no difference.
      const again = await replayer.replay(golden)
      if (!isSame(again)) surprises.push(`${golden.id}: ${again.difference}`)
    }
    console.log(
      `${counts.same} of ${cases.length} the same, ${counts.message} messages, ${counts.warnings} warnings`,
    )
    if (better.length > 0)
      console.log(
        `no longer different, take them off the list: ${better.length}\n${better.slice(0, 20).join('\n')}`,
      )
    assert.deepEqual(surprises, [])
  })
})
