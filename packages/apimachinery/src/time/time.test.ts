import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { durationToMilliseconds, formatDuration, parseDuration } from './duration.ts'
import {
  canonicalizeMicroTime,
  canonicalizeTime,
  formatMicroTime,
  formatTime,
  parseMicroTime,
  parseTime,
} from './time.ts'

describe('Time', () => {
  it('is written in UTC without a fraction', () => {
    assert.equal(formatTime(1_775_044_800_999), '2026-04-01T12:00:00Z')
    assert.equal(formatTime(-1), '1969-12-31T23:59:59Z')
    assert.equal(canonicalizeTime('2026-04-01T14:00:00.9+02:00'), '2026-04-01T12:00:00Z')
  })

  it('of year one is the zero time', () => {
    assert.equal(canonicalizeTime('0001-01-01T00:00:00Z'), null)
  })

  it('is parsed to the nanosecond', () => {
    assert.deepEqual(parseTime('1970-01-01T00:00:01.123456789Z'), {
      milliseconds: 1123,
      nanoseconds: 456_789,
    })
  })

  it('knows leap years', () => {
    assert.equal(canonicalizeTime('2024-02-29T00:00:00Z'), '2024-02-29T00:00:00Z')
    assert.throws(() => parseTime('2026-02-29T00:00:00Z'), {
      message: 'parsing time "2026-02-29T00:00:00Z": day out of range',
      code: 'BadTime',
    })
  })

  it('agrees with Date on every month of four centuries', () => {
    for (let month = 0; month < 4800; month++) {
      const text = formatTime(Date.UTC(1800, month, 1 + (month % 28), month % 24, month % 60, month % 59))
      assert.equal(parseTime(text).milliseconds, Date.parse(text))
    }
  })
})

describe('MicroTime', () => {
  it('has six digits, no more and no fewer', () => {
    assert.equal(formatMicroTime(1123, 456_789), '1970-01-01T00:00:01.123456Z')
    assert.equal(formatMicroTime(1123.5), '1970-01-01T00:00:01.123500Z')
    assert.equal(canonicalizeMicroTime('1970-01-01T00:00:01.000001Z'), '1970-01-01T00:00:01.000001Z')
    assert.throws(() => parseMicroTime('1970-01-01T00:00:01Z'), {
      message: /cannot parse "Z" as "\.000000"$/,
    })
  })
})

describe('durations', () => {
  it('are parsed and formatted as Go does', () => {
    const cases = {
      '1h30m': '1h30m0s',
      '1.5s': '1.5s',
      '1500ms': '1.5s',
      '-100us': '-100µs',
      '0': '0s',
      '90m': '1h30m0s',
    }
    for (const [text, canonical] of Object.entries(cases))
      assert.equal(formatDuration(parseDuration(text)), canonical)
    assert.equal(durationToMilliseconds(parseDuration('1m')), 60_000)
  })

  it('are rejected with a message that quotes them', () => {
    assert.throws(() => parseDuration('5'), { message: 'time: missing unit in duration "5"' })
    assert.throws(() => parseDuration('5d'), { message: 'time: unknown unit "d" in duration "5d"' })
    assert.throws(() => parseDuration(''), { message: 'time: invalid duration ""', code: 'BadDuration' })
  })
})
