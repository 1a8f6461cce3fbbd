import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeText, encodeText, VirtualWorld } from '@coxswain/kit'
import { isStream, readBody } from '@coxswain/wire'
import { Turns } from '../cache/slices.ts'
import { indentedBody } from './indented-json.ts'

const turns = new Turns(new VirtualWorld().clock)
const values: readonly unknown[] = [
  {},
  [],
  null,
  'a "text" with {brackets}, [commas]: and \\ backslashes \\" \n',
  { a: 1, b: [], c: {}, d: [{}, [], [[]], { e: true }], 'f:{': 'ü€😀', g: -1.5e10 },
]

describe('indentedBody', () => {
  it('indents as Go does and drops the newline', async () => {
    for (const value of values) {
      const body = encodeText(`${JSON.stringify(value)}\n`)
      assert.equal(decodeText(await readBody(indentedBody(body, turns))), JSON.stringify(value, null, 2))
    }
  })

  it('does so wherever chunks end', async () => {
    for (const value of values) {
      const bytes = encodeText(JSON.stringify(value))
      for (let i = 0; i <= bytes.length; i++) {
        const body = [bytes.subarray(0, i), bytes.subarray(i)]
        assert.equal(decodeText(await readBody(indentedBody(body, turns))), JSON.stringify(value, null, 2))
      }
    }
  })

  it('streams large output', async () => {
    const depth = 5_000
    const body = indentedBody(encodeText('['.repeat(depth) + ']'.repeat(depth)), turns)
    assert.ok(isStream(body))
    let longest = 0
    let length = 0
    for await (const chunk of body) {
      longest = Math.max(longest, chunk.length)
      length += chunk.length
    }
    assert.ok(longest <= 64 * 1024)
    assert.ok(length > depth * depth)
  })
})
