import type { Random } from '@coxswain/kit'
import { answerTime, type TimeQuestion } from '../../../packages/apimachinery/src/oracle/times.ts'
import { chance, defineSuite, pick, type Suite } from '../suite.ts'

const two = (value: number): string => String(value).padStart(2, '0')

function time(random: Random): string {
  const year = pick(random, ['2026', '1999', '0001', '2000', '1900', '0099', '9999'])
  const wild = chance(random, 15)
  const number = (bound: number, from = 0): string => two(from + random.below(wild ? bound + 6 : bound))
  const fraction = pick(random, [
    '',
    '',
    '.5',
    '.123456',
    '.000000',
    '.123456789',
    ',25',
    '.',
    '.1234567890123',
  ])
  const zone = pick(random, ['Z', 'Z', 'Z', '+02:00', '-11:30', 'z', '', '+25:00', '+0200', '+01:61', ' Z'])
  return `${year}-${number(12, 1)}-${number(28, 1)}T${number(24)}:${number(60)}:${number(60)}${fraction}${zone}`
}

function duration(random: Random): string {
  const units = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h', 's', 'm', 'd', '', 'sec', 'H', 'é']
  const terms = Array.from({ length: random.below(3) + 1 }, () => {
    const whole = pick(random, [
      '0',
      '1',
      '90',
      '1500',
      '',
      '007',
      '9223372036',
      '9223372036854775807',
      '9223372036854775808',
    ])
    const fraction = pick(random, ['', '', '', '.5', '.', '.000000001', '.333333333333333333333'])
    return whole + fraction + pick(random, chance(random, 90) ? units.slice(0, 10) : units)
  })
  return pick(random, ['', '', '', '-', '+', '--']) + terms.join(chance(random, 97) ? '' : ' ')
}

// One character more, less or other.
function damaged(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  const char = pick(random, ['', '-', '"', '\\', 'T', ' ', '0', 'x', 'é', '\t', '9'])
  return text.slice(0, at) + char + text.slice(at + random.below(2))
}

function question(random: Random): TimeQuestion {
  const text = chance(random, 55) ? time(random) : duration(random)
  return { text: chance(random, 25) ? damaged(random, text) : text }
}

export const timeSuite: Suite = defineSuite<TimeQuestion>({
  name: 'times',
  command: 'times',
  fixture: 'packages/apimachinery/fixtures/times.json.gz',
  count: 2000,
  generate: (random, count) => Array.from({ length: count }, () => question(random)),
  answer: answerTime,
})
