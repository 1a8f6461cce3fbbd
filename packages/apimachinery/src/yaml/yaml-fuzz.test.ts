import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { isMachineryError } from '../errors.ts'
import { readYamlDocuments, writeYaml } from './index.ts'

const runs = Number(process.env.TORTURE_RUNS ?? 1_500)
const seed = Number(process.env.TORTURE_SEED ?? 4)

describe(`YAML, on generated texts, seed ${seed}`, () => {
  const random = createSeededRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!

  const strings = [
    '',
    'a',
    'yes',
    'n',
    '~',
    'null',
    '0755',
    '1e3',
    '.5',
    '12:30',
    '- x',
    '# c',
    'a: b',
    ' pad ',
    'é\n\t"',
    "'",
    '{',
    '*a',
    '&a',
    '!t',
    '|',
    '>',
    '%',
    '@',
    '2024-01-01',
    '<<',
    '__proto__',
    '0x1F',
    '1_000',
    '\u2028',
    '-',
    '---',
  ]
  const scalars = [...strings, 0, -1, 1.5, 1e21, 9007199254740993n, true, false, null]

  function generate(depth: number): unknown {
    const kind = depth > 3 ? 2 : random.below(3)
    if (kind === 2) return pick(scalars)
    const count = random.below(4)
    if (kind === 1) return Array.from({ length: count }, () => generate(depth + 1))
    return Object.fromEntries(Array.from({ length: count }, () => [pick(strings), generate(depth + 1)]))
  }

  it('reads back what it wrote', () => {
    for (let i = 0; i < runs; i++) {
      const value = { root: generate(0) }
      const text = writeYaml(value)
      assert.deepEqual(readYamlDocuments(text), [{ value, problems: [] }], text)
    }
  })

  it('answers every damaged text with a value or a MachineryError', () => {
    const noise = [...'{}[]"\':,-?#&*!|>%@` \n\t<~0', '<<: ', '&a ', '*a', '- ', '\n  ', '---\n']
    for (let i = 0; i < 2 * runs; i++) {
      let text = writeYaml({ root: generate(0) })
      for (let changes = random.below(4); changes >= 0; changes--) {
        const at = random.below(text.length + 1)
        text = text.slice(0, at) + pick(noise) + text.slice(at + random.below(3))
      }
      try {
        readYamlDocuments(text)
      } catch (error) {
        assert.ok(isMachineryError(error), `${JSON.stringify(text)}: ${error}`)
      }
    }
    assert.deepEqual(Object.keys(Object.prototype), [])
  })
})
