import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatAge, formatHumanDuration } from './human-duration.ts'

describe('formatHumanDuration', () => {
  const second = 1000
  const minute = 60 * second
  const hour = 60 * minute
  const day = 24 * hour
  const cases: readonly (readonly [number, string])[] = [
    [-5 * second, '<invalid>'],
    [-500, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [3 * minute + 12 * second, '3m12s'],
    [10 * minute + 30 * second, '10m'],
    [179 * minute, '179m'],
    [3 * hour + 5 * minute, '3h5m'],
    [8 * hour + 5 * minute, '8h'],
    [47 * hour, '47h'],
    [2 * day + 3 * hour, '2d3h'],
    [8 * day, '8d'],
    [700 * day, '700d'],
    [2 * 365 * day + 5 * day, '2y5d'],
    [9 * 365 * day, '9y'],
  ]
  for (const [ms, expected] of cases)
    it(`prints ${ms} ms as ${expected}`, () => assert.equal(formatHumanDuration(ms), expected))

  it('prints an unknown age without a time', () => {
    assert.equal(formatAge(undefined, 0), '<unknown>')
    assert.equal(formatAge('1970-01-01T00:00:00Z', 5000), '5s')
  })
})
