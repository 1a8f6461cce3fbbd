import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addIndexes,
  countCommon,
  countIndexes,
  firstFree,
  formatIndexes,
  hasIndex,
  parseIndexes,
} from './indexes.ts'
import { matchSuccessPolicy } from './success-policy.ts'

describe('completion indexes', () => {
  it('are written as intervals, two in a row as two', () => {
    for (const text of ['', '0', '0,1', '0-2', '1,3-5,7,8,10'])
      assert.equal(formatIndexes(parseIndexes(text, 100)), text)
  })

  it('are read up to the completions of the job; invalid parts are skipped', () => {
    assert.equal(formatIndexes(parseIndexes('0-9', 4)), '0-3')
    assert.equal(formatIndexes(parseIndexes('1,x,3-', 100)), '1')
    assert.equal(formatIndexes(parseIndexes('5,6', 5)), '')
    assert.equal(formatIndexes(parseIndexes('0-1,2,4', 100)), '0-2,4')
  })

  it('are added, counted and found', () => {
    const indexes = addIndexes(parseIndexes('1,3-5', 100), [2, 9, 2])
    assert.equal(formatIndexes(indexes), '1-5,9')
    assert.equal(countIndexes(indexes), 6)
    assert.ok(hasIndex(indexes, 4) && !hasIndex(indexes, 6))
    assert.equal(countCommon(indexes, parseIndexes('0-2,8-20', 100)), 3)
  })

  it('are free from the lowest on', () => {
    assert.deepEqual(firstFree(parseIndexes('0,2-4,8', 10), 3, 10), [1, 5, 6])
    assert.deepEqual(firstFree(parseIndexes('0,2-4,8', 10), 100, 10), [1, 5, 6, 7, 9])
    assert.deepEqual(firstFree([], 2, 1), [0])
    assert.deepEqual(firstFree(parseIndexes('0-9', 10), 1, 10), [])
  })
})

describe('a success policy', () => {
  const met = (rules: Parameters<typeof matchSuccessPolicy>[0], succeeded: string) =>
    matchSuccessPolicy(rules, 10, parseIndexes(succeeded, 10))

  it('is met by the first matching rule', () => {
    const policy = { rules: [{ succeededIndexes: '0-2', succeededCount: 2 }, { succeededIndexes: '9' }] }
    assert.equal(met(policy, '0'), undefined)
    assert.equal(met(policy, '0,2'), 'Matched rules at index 0')
    assert.equal(met(policy, '9'), 'Matched rules at index 1')
    assert.equal(met({ rules: [{ succeededCount: 3 }] }, '1-3'), 'Matched rules at index 0')
  })

  it('is not met without succeeded indexes', () => {
    assert.equal(met({ rules: [{ succeededCount: 0 }] }, ''), undefined)
    assert.equal(met(undefined, '0-9'), undefined)
  })
})
