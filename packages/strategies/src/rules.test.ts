import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, it } from 'node:test'

const readsJson =
  /import \{[^}]*\b(?:objectOf|listOf|textOf|recordOf|stringsOf)\b[^}]*\} from '[./]*shared\/reading\.ts'/

describe('rules', () => {
  it('are written over the types of their kinds: none reads untyped JSON', () => {
    const folder = new URL('.', import.meta.url)
    const found = globSync('*/**/*.ts', { cwd: folder })
      .filter(path => !path.startsWith('shared/') && !path.endsWith('.test.ts'))
      .filter(path => readsJson.test(readFileSync(new URL(path, folder), 'utf8')))
    assert.deepEqual(found, [])
  })

  it('are cast to the untyped form in one place', () => {
    const folder = new URL('.', import.meta.url)
    const found = globSync('**/*.ts', { cwd: folder }).filter(
      path =>
        !path.endsWith('.test.ts') &&
        /\bas (?:unknown as )?Strategy\b/.test(readFileSync(new URL(path, folder), 'utf8')),
    )
    assert.deepEqual(found, ['define-strategy.ts'])
  })

  it('have a file for each kind, with its name', () => {
    const folder = new URL('.', import.meta.url)
    for (const path of globSync('*/**/*.ts', { cwd: folder })) {
      const text = readFileSync(new URL(path, folder), 'utf8')
      const kinds = Array.from(text.matchAll(/^export const (\w+)Strategy: Strategy =/gm), ([, kind = '']) =>
        kind.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase(),
      )
      if (kinds.length > 0) assert.deepEqual(kinds, [basename(path, '.ts')])
    }
  })
})
