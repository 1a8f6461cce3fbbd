import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseCronSchedule } from './cron-schedule.ts'
import { nextCronTime } from './next-time.ts'
import { formatInZone } from './time-zone.ts'

function next(text: string, after: string, zone?: string): string | undefined {
  const schedule = parseCronSchedule(text, zone)
  assert.ok(schedule.type !== 'problem', text)
  const time = nextCronTime(schedule, Date.parse(after))
  return time === undefined ? undefined : new Date(time).toISOString().replace('.000Z', 'Z')
}

describe('the next time of a schedule', () => {
  const cases: readonly [text: string, after: string, expected: string | undefined, zone?: string][] = [
    ['* * * * *', '2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'],
    ['* * * * *', '2026-01-01T00:00:59.5Z', '2026-01-01T00:01:00Z'],
    ['*/15 * * * *', '2026-01-01T00:46:00Z', '2026-01-01T01:00:00Z'],
    ['30 6-16/4 * * 1-5', '2026-01-02T14:30:00Z', '2026-01-05T06:30:00Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['59 23 31 2 *', '2026-01-01T00:00:00Z', undefined],
    ['0 0 1 * mon', '2026-01-01T00:00:00Z', '2026-01-05T00:00:00Z'],
    ['0 0 */10 * mon', '2026-01-01T00:00:00Z', '2026-01-05T00:00:00Z'],
    ['0 0 * * mon', '2026-01-01T00:00:00Z', '2026-01-05T00:00:00Z'],
    ['@yearly', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['@every 90s', '2026-01-01T00:00:10.7Z', '2026-01-01T00:01:40Z'],
    ['TZ=Europe/Berlin 30 9 * * *', '2026-01-01T00:00:00Z', '2026-01-01T08:30:00Z'],
    ['30 9 * * *', '2026-07-01T00:00:00Z', '2026-07-01T07:30:00Z', 'Europe/Berlin'],
    // Clocks are put forward from 2 to 3 on 29 March, and back from 3 to 2 on 25 October.
    ['30 2 * * *', '2026-03-28T12:00:00Z', '2026-03-30T00:30:00Z', 'Europe/Berlin'],
    ['30 2 * * *', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00Z', 'Europe/Berlin'],
    ['30 2 * * *', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', 'Europe/Berlin'],
    // Midnight does not exist in São Paulo on 4 November 2018.
    ['0 * * * *', '2018-11-04T02:30:00Z', '2018-11-04T03:00:00Z', 'America/Sao_Paulo'],
    ['30 0 * * *', '2018-11-03T12:00:00Z', '2018-11-05T02:30:00Z', 'America/Sao_Paulo'],
    ['0 12 * * *', '2026-01-01T00:00:00Z', '2026-01-01T06:15:00Z', 'Asia/Kathmandu'],
  ]
  for (const [text, after, expected, zone] of cases)
    it(`${text} after ${after}${zone ? ` in ${zone}` : ''} is ${expected}`, () => {
      assert.equal(next(text, after, zone), expected)
    })

  it('is written with the offset of its zone', () => {
    const time = Date.parse('2026-07-01T07:30:00Z')
    assert.equal(formatInZone('Europe/Berlin', time), '2026-07-01T09:30:00+02:00')
    assert.equal(formatInZone('America/St_Johns', time), '2026-07-01T05:00:00-02:30')
    assert.equal(formatInZone('UTC', time), '2026-07-01T07:30:00Z')
  })

  it('is not searched for when the schedule is invalid', () => {
    const problemOf = (text: string) => {
      const read = parseCronSchedule(text)
      return read.type === 'problem' ? read.problem : undefined
    }
    assert.match(problemOf('TZ=Nowhere/Land * * * * *')!, /^provided bad location Nowhere\/Land/)
    assert.match(problemOf('* * * * 7')!, /^end of range \(7\) above maximum/)
    assert.match(problemOf('@every soon')!, /^failed to parse duration/)
  })
})
