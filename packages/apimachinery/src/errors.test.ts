import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { isMachineryError, MachineryError } from './errors.ts'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

describe('MachineryError', () => {
  it('has only codes that the README explains, and the README explains no others', () => {
    const declared = [...read('./errors.ts').matchAll(/^ {2}\| '(\w+)'/gm)].map(match => match[1])
    const section = read('../README.md').split('## Error codes')[1]!.split('\n## ')[0]!
    const documented = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(match => match[1])
    assert.ok(declared.length > 10)
    assert.deepEqual(documented.toSorted(), declared.toSorted())
  })

  it('is recognised by its brand, with or without a code', () => {
    const error = new MachineryError('BadKey', 'x', { cause: new Error('y') })
    assert.ok(isMachineryError(error))
    assert.ok(isMachineryError(error, 'BadKey'))
    assert.ok(!isMachineryError(error, 'BadTime'))
    assert.ok(!isMachineryError(new Error('x')) && !isMachineryError(undefined))
  })
})
