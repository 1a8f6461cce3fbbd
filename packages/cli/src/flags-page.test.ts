import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { createProgram } from './main.ts'

const page = readFileSync(new URL('../../../docs/flags.md', import.meta.url), 'utf8')

describe('docs/flags.md', () => {
  it('has a line for every flag of run, dev, up and simulate, with its description, and no others', async () => {
    for (const name of ['run', 'dev', 'up', 'simulate']) {
      const start = page.indexOf(`## coxswain ${name}\n`)
      assert.ok(start >= 0, name)
      const section = page.slice(start).split('\n## ')[0]!
      const listed = [...section.matchAll(/^\| `(--[a-z0-9-]+)[^`]*` \| (.*) \|$/gm)].map(
        ([, flag, what]) => [flag, what],
      )
      const { options } = (await createProgram(name)).commands.find(command => command.name() === name)!
      const known = options.map(({ long, description }) => [long, description.replaceAll('|', '\\|')])
      assert.deepEqual(listed, known)
    }
  })
})
