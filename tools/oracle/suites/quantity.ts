import type { Random } from '@coxswain/kit'
import { answerQuantity, type QuantityQuestion } from '../../../packages/apimachinery/src/oracle/quantity.ts'
import { chance, defineSuite, pick, type Suite } from '../suite.ts'

const suffixes = [
  ['', '', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E'],
  ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'],
  ['e3', 'E6', 'e-3', 'e+9', 'e0', 'e-9', 'e-12', 'e18', 'e2', 'E-1', 'e21'],
]
const odd = [
  'K',
  'ki',
  'mi',
  'i',
  'e',
  'ee3',
  'mm',
  'e1.5',
  ' ',
  'Zi',
  'e99999999999999999999',
  'e4294967296',
  '%',
]
const borders = [
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '9223372036854775807m',
  '8Ei',
  '7.9999999999Ei',
  '9007199254740993',
  '0.000000000999',
  '1n',
  '0.1n',
  '999999999999999999',
  '1000000000000000000',
  '1023',
  '1024',
  '-1024',
  '0.5Ki',
  '0.0009765625Ki',
  '.',
  '-',
  '+',
  'Ki',
  'Ei',
  '.5',
  '5.',
  '0',
  '-0',
  '+0.00',
  '00012',
  '1e3',
  '1000E',
  '1.500',
  '1.000',
  '0.001',
  '12e2147483647',
  '1.5e-2147483648',
]

function digits(random: Random, max: number): string {
  let text = ''
  const length = random.below(max) + 1
  for (let i = 0; i < length; i++) text += chance(random, 30) ? '0' : String(random.below(10))
  return text
}

function quantity(random: Random): string {
  if (chance(random, 8)) return pick(random, borders)
  const sign = pick(random, ['', '', '', '', '-', '+'])
  const long = chance(random, 15)
  let number = digits(random, long ? 30 : 6)
  if (chance(random, 35)) number += `.${digits(random, long ? 20 : 4)}`
  if (chance(random, 3)) number = pick(random, ['', '1.2.3', '1,000', ' 1', '１', '1_0'])
  const suffix = chance(random, 7) ? pick(random, odd) : pick(random, pick(random, suffixes))
  return sign + number + suffix
}

// Sums of amounts whose exponents are billions apart would keep upstream busy forever.
const isHuge = (text: string): boolean => /[eE][-+]?\d{4,}$/.test(text)

function question(random: Random): QuantityQuestion {
  const a = quantity(random)
  const b = quantity(random)
  const scale = pick(random, [-9, -6, -3, 0, 0, 3, 6, 9])
  const factor = pick(random, [
    '0',
    '1',
    '2',
    '-3',
    '10',
    '1000',
    '9223372036854775807',
    '-9223372036854775808',
  ])
  return { a, ...(!isHuge(a) && !isHuge(b) && { b }), ...(!isHuge(a) && { factor }), scale }
}

export const quantitySuite: Suite = defineSuite<QuantityQuestion>({
  name: 'quantity',
  command: 'quantity',
  fixture: 'packages/apimachinery/fixtures/quantity.json.gz',
  count: 4000,
  generate: (random, count) => Array.from({ length: count }, () => question(random)),
  answer: answerQuantity,
})
