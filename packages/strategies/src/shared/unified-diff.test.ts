import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diffValues, isTooLongToCompare, unifiedDiff } from './unified-diff.ts'

describe('unifiedDiff', () => {
  it('says nothing about equal lines', () => {
    assert.equal(unifiedDiff(['a', 'b'], ['a', 'b']), '')
  })

  it('shows three lines around a change and counts from one', () => {
    const lines = ['1', '2', '3', '4', '5', '6', '7', '8', '9']
    const changed = lines.with(4, 'x')
    assert.equal(unifiedDiff(lines, changed), '@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n')
  })

  it('keeps changes that are far from each other apart', () => {
    const lines = Array.from({ length: 20 }, (_, i) => String(i))
    const diff = unifiedDiff(lines, lines.with(0, 'x').with(19, 'y'))
    assert.equal(diff.match(/^@@/gm)?.length, 2)
  })

  it('has an end for texts of many changes', () => {
    const lines = (rest: number) =>
      Array.from({ length: 50_000 }, (_, i) => (i % 2 === rest ? `same ${i % 997}` : `${rest} ${i}`))
    assert.match(unifiedDiff(lines(0), lines(1)), /^@@ -/)
  })

  it('names the line before an insertion into nothing', () => {
    assert.equal(unifiedDiff([], ['a']), '@@ -0,0 +1 @@\n+a\n')
  })
})

describe('diffValues', () => {
  it('prints values as Go prints them, one space deep and with escapes', () => {
    assert.equal(
      diffValues({ A: '<' }, { A: null }),
      '@@ -1,3 +1,3 @@\n {\n- "A": "\\u003c"\n+ "A": null\n }\n',
    )
    assert.match(diffValues({ A: 1 }, { A: 9223372036854775807n }), /\+ "A": 9223372036854775807\n/)
  })
})

describe('isTooLongToCompare', () => {
  it('says so of a million values, and of nothing that is read', () => {
    assert.equal(isTooLongToCompare({ volumes: Array.from({ length: 1_000_000 }, () => ({})) }), true)
    assert.equal(
      isTooLongToCompare({ containers: Array.from({ length: 100 }, () => ({ name: 'a' })) }),
      false,
    )
  })
})
