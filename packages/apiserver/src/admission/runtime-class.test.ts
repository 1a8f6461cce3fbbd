import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import fc from 'fast-check'
import { mergeTolerations } from './runtime-class.ts'

/** Compares every toleration with every other: correct, but too slow for long lists. */
function compareAll(all: readonly JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = []
  for (const [index, toleration] of all.entries()) {
    if (merged.some(other => isCovered(toleration, other))) continue
    const rest = all.slice(index + 1)
    if (rest.some(other => !deepEqual(other, toleration) && isCovered(toleration, other))) continue
    merged.push(toleration)
  }
  return merged
}

function isCovered(toleration: JsonObject, by: JsonObject): boolean {
  if (deepEqual(toleration, by)) return true
  if ((toleration.key ?? '') !== (by.key ?? '') && (by.key || by.operator !== 'Exists')) return false
  if (by.effect && toleration.effect !== by.effect) return false
  if (by.effect === 'NoExecute' && by.tolerationSeconds !== undefined) {
    const { tolerationSeconds } = toleration
    if (tolerationSeconds === undefined || Number(tolerationSeconds) > Number(by.tolerationSeconds))
      return false
  }
  if (by.operator === 'Exists') return true
  return toleration.operator === 'Equal' && (toleration.value ?? '') === (by.value ?? '')
}

describe('tolerations of a Pod and of its runtime class', () => {
  it('are merged to those that no other one covers', () => {
    const toleration = fc.record(
      {
        key: fc.constantFrom('a', 'b'),
        operator: fc.constantFrom('Exists', 'Equal'),
        value: fc.constantFrom('x', 'y'),
        effect: fc.constantFrom('NoSchedule', 'NoExecute'),
        tolerationSeconds: fc.constantFrom(1, 2, 3),
      },
      { requiredKeys: ['operator'] },
    )
    fc.assert(
      fc.property(fc.array(toleration, { maxLength: 8 }), all => {
        assert.deepEqual(mergeTolerations(all), compareAll(all))
      }),
      { numRuns: 5_000 },
    )
  })

  it('are merged in linear time', () => {
    const many = Array.from({ length: 50_000 }, (_, index) => ({
      key: 'a',
      operator: 'Equal',
      effect: 'NoExecute',
      tolerationSeconds: 50_000 - index,
    }))
    assert.equal(mergeTolerations([...many.slice(1), many[0]!]).length, 1)
    assert.equal(mergeTolerations(many.map((one, index) => ({ ...one, value: `v${index}` }))).length, 50_000)
  })
})
