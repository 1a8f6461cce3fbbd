import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { intValue, isPercentage, scaledValueFromIntOrPercent } from './int-or-string.ts'

describe('IntOrString', () => {
  it('counts as 0 when it is a name', () => {
    assert.equal(intValue('http'), 0)
    assert.equal(intValue('80'), 80)
  })

  it('scales percentages, rounding as requested', () => {
    assert.equal(scaledValueFromIntOrPercent('25%', 10, 'up'), 3)
    assert.equal(scaledValueFromIntOrPercent('25%', 10, 'down'), 2)
    assert.equal(scaledValueFromIntOrPercent(4, 10, 'down'), 4)
    assert.ok(isPercentage('25%'))
    assert.ok(!isPercentage('25'))
    assert.ok(!isPercentage('x%'))
  })

  it('that is neither number nor percentage is rejected', () => {
    assert.throws(() => scaledValueFromIntOrPercent('http', 10, 'up'), {
      message: 'invalid value for IntOrString: invalid type: string is not a percentage',
      code: 'BadIntOrString',
    })
  })
})
