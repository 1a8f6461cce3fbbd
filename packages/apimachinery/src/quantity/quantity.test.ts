import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { canonicalizeQuantity, isQuantity, parseQuantity, Quantity } from './quantity.ts'

const q = (text: string): Quantity => Quantity.parse(text)

describe('Quantity', () => {
  it('prints without fractions, with the largest suffix of its form', () => {
    const cases = {
      '1.5Gi': '1536Mi',
      '1000m': '1',
      '1500m': '1500m',
      '0.1': '100m',
      '1e3': '1e3',
      '12000000': '12M',
    }
    for (const [text, canonical] of Object.entries(cases)) assert.equal(canonicalizeQuantity(text), canonical)
  })

  it('compares across forms', () => {
    assert.ok(q('1').equals(q('1000m')))
    assert.equal(q('1Ki').compare(q('1k')), 1)
    assert.equal(q('-1').compare(q('1n')), -1)
  })

  it('adds exactly and keeps the form of the first non-zero term', () => {
    assert.equal(q('100m').add(q('0.2')).toString(), '300m')
    assert.equal(q('1Gi').subtract(q('512Mi')).toString(), '512Mi')
    assert.equal(q('0').add(q('1Gi')).toString(), '1Gi')
    assert.equal(q('9223372036854775807').add(q('1')).toString(), '9223372036854775808')
  })

  it('is not changed by arithmetic', () => {
    const a = q('1')
    a.add(q('1'))
    a.negate()
    a.roundUp(3)
    assert.equal(a.toString(), '1')
  })

  it('rounds up to a whole number or thousandths', () => {
    assert.equal(q('1.0001').value, 2n)
    assert.equal(q('0.0001').milliValue, 1n)
    assert.equal(q('2500m').roundUp(0).toString(), '3')
    assert.equal(q('1.5').asInt64(), undefined)
    assert.equal(q('2k').asInt64(), 2000n)
    assert.equal(q('250m').toNumber(), 0.25)
  })

  it('reads numbers and strings with spaces around, as objects have them', () => {
    assert.equal(parseQuantity(3).toString(), '3')
    assert.equal(parseQuantity(0.5).toString(), '500m')
    assert.equal(parseQuantity(' 5 ').toString(), '5')
    assert.throws(() => Quantity.parse(' 5 '), { code: 'BadQuantity' })
  })

  it('stands in JSON as its text', () => {
    assert.equal(JSON.stringify({ cpu: Quantity.of(250, { scale: -3 }) }), '{"cpu":"250m"}')
  })

  it('reports why it rejects a text', () => {
    assert.throws(() => q('1Zi'), {
      message: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    })
    assert.throws(() => q('1mm'), { message: "unable to parse quantity's suffix" })
    assert.throws(() => q('Ei'), { message: 'unable to parse numeric part of quantity' })
  })

  it('works with quantities of another copy of the package', async () => {
    const copyOf: string = './quantity.ts?copy'
    const copy = (await import(copyOf)) as { Quantity: typeof Quantity }
    const other = copy.Quantity.parse('1')
    assert.ok(isQuantity(other))
    assert.equal(q('1').add(other).toString(), '2')
  })

  it('stays fast for huge exponents and many digits', () => {
    const huge = q('1e2000000000')
    assert.equal(huge.compare(q('1e1999999999')), 1)
    assert.equal(huge.negate().compare(q('0')), -1)
    assert.equal(q(`${'9'.repeat(30)}e-2000000000`).toString(), '1e-9')
    assert.throws(() => huge.add(q('1')), { code: 'BadQuantity' })
    const long = `1${'0'.repeat(100_000)}`
    assert.ok(q(long).toString().length < 100_002)
    assert.equal(q(`0.${'0'.repeat(100_000)}1`).toString(), '1n')
  })
})
