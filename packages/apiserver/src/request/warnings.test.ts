import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Warnings } from './warnings.ts'

const linesOf = (...texts: string[]) => {
  const warnings = new Warnings()
  warnings.pushAll(texts)
  return warnings.toHeaders()
}

describe('warnings', () => {
  it('appear once each, in order, without control characters', () => {
    assert.deepEqual(linesOf('b', 'a "x"\n', '', 'b'), ['299 - "b"', '299 - "a \\"x\\""'])
  })

  it('are truncated when all of them together are too long', () => {
    assert.deepEqual(linesOf('é'.repeat(4096)), [`299 - "${'é'.repeat(4096)}"`])
    assert.deepEqual(linesOf('😀'.repeat(4097)), [`299 - "${'😀'.repeat(256)}"`])
    assert.equal(linesOf(...Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(300))).length, 16)
  })

  it('are not generated any more when the headers are full', () => {
    let asked = 0
    function* endless(): Generator<string> {
      for (;;) yield `warning ${asked++}`
    }
    const warnings = new Warnings()
    warnings.pushAll(endless())
    assert.ok(asked < 500)
    assert.equal(warnings.isFull, true)
    const { length } = warnings
    warnings.push('one more')
    assert.equal(warnings.length, length)
  })
})
