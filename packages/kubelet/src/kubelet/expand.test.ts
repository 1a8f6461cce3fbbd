import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLogFilter, formatLogLine } from '../logs/log-lines.ts'
import { BackOff, formatSeconds } from './back-off.ts'
import { expand } from './expand.ts'

describe('expand', () => {
  it('expands variables once, and leaves unknown ones', () => {
    const values: Record<string, string> = { A: '1', B: '$(A)', EMPTY: '' }
    const cases = {
      '$(A)': '1',
      'x$(A)y$(A)': 'x1y1',
      '$(B)': '$(A)',
      '$(EMPTY)': '',
      '$(UNSET)': '$(UNSET)',
      '$$(A)': '$(A)',
      '$$$(A)': '$1',
      '$A {A} $': '$A {A} $',
      '$(A': '$(A',
      '': '',
    }
    for (const [text, expected] of Object.entries(cases))
      assert.equal(
        expand(text, name => values[name]),
        expected,
        text,
      )
  })
})

describe('BackOff', () => {
  it('does not wait at first, then 10 s doubling to 300 s, and not after ten minutes without failure', () => {
    const backOff = new BackOff()
    const delays: (number | undefined)[] = []
    let now = 0
    for (let i = 0; i < 8; i++) {
      const delay = backOff.current('a', now, now)
      delays.push(delay)
      now += delay ?? 0
      backOff.next('a', now)
    }
    assert.deepEqual(delays, [undefined, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
    assert.equal(backOff.current('a', now + 700_000, now + 700_000), undefined)
    assert.equal(formatSeconds(80_000), '1m20s')
    assert.equal(formatSeconds(10_000), '10s')
  })
})

describe('createLogFilter', () => {
  it('puts timestamps on whole lines, not partial ones, and drops lines that are too old or of the other stream', () => {
    const lines = [
      formatLogLine(1_000, 'stdout', 'old', false),
      formatLogLine(5_000, 'stdout', 'begun ', true),
      formatLogLine(6_000, 'stdout', 'ended', false),
      formatLogLine(7_000, 'stderr', 'error', false),
    ].map(line => line.slice(0, -1))
    const filter = createLogFilter({ timestamps: true, since: 2_000, stream: 'Stdout' })
    assert.equal(lines.map(filter).join(''), '1970-01-01T00:00:05.000000000Z begun ended\n')
    assert.equal(createLogFilter({ timestamps: false })('no such format'), '')
  })
})
