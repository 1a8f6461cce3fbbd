/**
 * Hostile inputs: pieces of the grammar in any order, up to 100 kB. Parsers return or throw an error
 * of their own, parse what they formatted, and take no longer than 50 ms. TORTURE_RUNS and TORTURE_SEED make it longer.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom, type Random } from '@coxswain/kit'
import { isMachineryError } from './errors.ts'
import { Quantity } from './quantity/quantity.ts'
import { parseFieldSelector } from './selectors/field-selector.ts'
import { parseLabelSelector } from './selectors/label-selector.ts'
import { formatDuration, parseDuration } from './time/duration.ts'
import { canonicalizeTime } from './time/time.ts'
import { parseCIDR, parseIP } from './validation/ip-text.ts'
import { isQualifiedName, isValidLabelValue } from './validation/names.ts'

const runs = Number(process.env.TORTURE_RUNS ?? 300)
const seed = Number(process.env.TORTURE_SEED ?? 1)
const maxLength = 100_000
const budget = 50

const pieces = [
  ...[
    'a',
    'b',
    'app',
    'example.com/x',
    'in',
    'notin',
    ' in ',
    ' notin ',
    '(',
    ')',
    ',',
    '=',
    '==',
    '!=',
    '!',
    '>',
    '<',
  ],
  ...[
    '0',
    '1',
    '9',
    '000',
    '999',
    '.',
    '-',
    '+',
    'e',
    'E',
    'Ki',
    'Ei',
    'm',
    'n',
    'k',
    'e9',
    'e-9',
    'e2147483647',
  ],
  ...['\\', '\\,', '\\=', ' ', '\t', '\0', '"', 'é', '😀', '\ud800', '__proto__', 'constructor'],
  ...['2026-01-01T00:00:00Z', 'T', 'Z', ':', '::', '1h', '.5s', 'ms', '/', '/24', '10.0.0.1', 'ffff', '%'],
]

/** Parses; returns the formatted value, to be parsed again, or undefined. */
type Reader = (text: string) => string | undefined

const readers: Readonly<Record<string, Reader>> = {
  'label selectors': text => parseLabelSelector(text).toString(),
  'field selectors': text => parseFieldSelector(text).toString(),
  quantities: text => {
    const quantity = Quantity.parse(text)
    assert.equal(quantity.compare(quantity), 0)
    assert.equal(quantity.negate().sign, quantity.sign === 0 ? 0 : -quantity.sign)
    assert.equal(typeof quantity.value, 'bigint')
    quantity.toString()
    return undefined // suffixes that upstream has not are lost in the text
  },
  durations: text => formatDuration(parseDuration(text)),
  times: text => canonicalizeTime(text) ?? undefined,
  names: text => {
    isQualifiedName(text)
    isValidLabelValue(text)
    parseIP(text)
    parseCIDR(text)
    return undefined
  },
}

function input(random: Random): string {
  const length = random.below(20) === 0 ? maxLength : random.below(40) + 1
  // Few different pieces make long runs of the same.
  const palette = Array.from({ length: random.below(5) + 1 }, () => pieces[random.below(pieces.length)]!)
  let text = ''
  while (text.length < length) {
    const piece = palette[random.below(palette.length)]!
    text += random.below(4) === 0 ? piece.repeat(Math.ceil(random.next() * (length / piece.length))) : piece
  }
  return text.slice(0, length)
}

/** The processor time of the fastest of a few tries: the machine may be busy. */
function milliseconds(run: () => void): number {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 6 && best > budget; i++) {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

function attempt(reader: Reader, text: string): string | undefined {
  try {
    return reader(text)
  } catch (error) {
    if (!isMachineryError(error)) throw error
    return undefined
  }
}

describe('hostile inputs', () => {
  for (const [name, reader] of Object.entries(readers)) {
    it(`do not break the parsers of ${name}`, () => {
      const prototype = Object.getOwnPropertyNames(Object.prototype)
      const random = createSeededRandom(seed)
      for (let run = 0; run < runs; run++) {
        const text = input(random)
        const about = (): string => `seed ${seed}, run ${run}: ${JSON.stringify(text).slice(0, 200)}`
        const written = attempt(reader, text)
        if (written !== undefined) assert.equal(reader(written), written, about())
        if (text.length < maxLength) continue
        const time = milliseconds(() => attempt(reader, text))
        assert.ok(time <= budget, `${Math.round(time)} ms, ${about()}`)
      }
      assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), prototype)
    })
  }
})
