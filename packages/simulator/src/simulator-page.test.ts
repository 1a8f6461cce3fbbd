import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { faultTexts, oracleTexts } from './index.ts'

const page = readFileSync(new URL('../../../docs/simulator.md', import.meta.url), 'utf8')

describe('docs/simulator.md', () => {
  it('has every fault and every oracle in its order, and no others', () => {
    for (const [title, texts] of [
      ['The faults', faultTexts],
      ['The oracles', oracleTexts],
    ] as const) {
      const section = page.slice(page.indexOf(`## ${title}\n`)).split('\n## ')[0]!
      const rows = [...section.matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)].map(([, name, text]) => [
        name,
        text,
      ])
      assert.deepEqual(rows, Object.entries(texts))
    }
  })
})
