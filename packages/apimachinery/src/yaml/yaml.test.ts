import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '../errors.ts'
import { readYaml, readYamlDocuments, writeYaml, writeYamlDocuments } from './index.ts'

function value(text: string): unknown {
  return readYaml(text)?.value
}

describe('readYaml', () => {
  const scalars: Record<string, unknown> = {
    yes: true,
    Off: false,
    y: true,
    N: false,
    true: true,
    '~': null,
    '0755': 493,
    '0o17': 15,
    '0x1F': 31,
    '0b11': 3,
    '-0b11': -3,
    '1_000': 1000,
    '+7': 7,
    '08': 8,
    '1e3': 1000,
    '.5': 0.5,
    '9007199254740993': 9007199254740993n,
    '12:30:45': '12:30:45',
    '2024-01-02': '2024-01-02',
    '2024-01-02T03:04:05Z': '2024-01-02T03:04:05Z',
    '"yes"': 'yes',
    "'1'": '1',
    '1.2.3': '1.2.3',
    yEs: 'yEs',
    '1__x': '1__x',
  }
  for (const [text, expected] of Object.entries(scalars)) {
    it(`reads ${text} as kubectl does`, () => assert.deepEqual(value(`a: ${text}`), { a: expected }))
  }

  it('turns keys into strings', () => {
    assert.deepEqual(value('1: a\ntrue: b\n0x10: c'), { 1: 'a', true: 'b', 16: 'c' })
    assertBad('null: a', /unsupported map key/)
    assertBad('? [a]\n: b', /unsupported map key/)
  })

  it('reports duplicate keys with their line, and lets the last one win', () => {
    const document = readYaml('spec:\n  a: 1\n  a: 2\n')
    assert.deepEqual(document?.value, { spec: { a: 2 } })
    assert.deepEqual(document?.problems, ['yaml: unmarshal errors:\n  line 3: key "a" already set in map'])
  })

  it('reports all duplicate keys by the line of their value, inner ones first', () => {
    const text = 'a: 1\nb:\n  c: 2\n  "c": 3\na:\n  - {q: 1, q: 2}\n  - x: {}\n    x: *y\n'
    assert.deepEqual(readYaml(text.replace('*y', '5'))?.problems, [
      'yaml: unmarshal errors:\n  line 4: key "c" already set in map\n  line 6: key "q" already set in map\n' +
        '  line 8: key "x" already set in map\n  line 6: key "a" already set in map',
    ])
    const many = readYaml(Array.from({ length: 5000 }, (_, i) => `k${i % 10}: 1`).join('\n'))
    assert.equal(many?.problems[0]?.split('\n').length, 101)
  })

  it('merges with <<, and explicit keys win', () => {
    assert.deepEqual(value('base: &b {p: 1, q: 2}\nc:\n  <<: *b\n  q: 3\n'), {
      base: { p: 1, q: 2 },
      c: { p: 1, q: 3 },
    })
    assert.deepEqual(readYaml('base: &b {p: 1}\nc:\n  <<: *b\n  p: 3\n')?.problems, [])
  })

  it('expands aliases', () => {
    const { a, b } = value('a: &x [1]\nb: *x\n') as { a: unknown[]; b: unknown[] }
    assert.deepEqual(b, [1])
    assert.notEqual(a, b)
  })

  it('rejects alias bombs, too many aliases and values that contain themselves', () => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]']
    for (let i = 1; i < 10; i++)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join()}]`,
      )
    assertBad(lines.join('\n'), /excessive aliasing/)
    assertBad(`a: &a x\nb: [${Array(1_001).fill('*a').join()}]`, /maxAliases/)
    assertBad('a: &a [*a]', /contains itself|unidentified alias/)
  })

  it('keeps __proto__ as data', () => {
    const object = value('__proto__:\n  x: 1\n') as object
    assert.ok(Object.hasOwn(object, '__proto__'))
    assert.equal(Object.getPrototypeOf(object), Object.prototype)
  })

  it('reads JSON exactly', () => {
    const document = readYaml('{"a": 9223372036854775807, "a": 1, "on": "x"}')
    assert.deepEqual(document, {
      value: { a: 1, on: 'x' },
      problems: ['yaml: unmarshal errors:\n  line 1: key "a" already set in map'],
    })
  })

  it('names the line of an error', () => {
    assertBad('a: 1\nb: [\n', /^error converting YAML to JSON: yaml: line \d+: /)
    assertBad('a: .nan', /^json: unsupported value: NaN$/)
  })

  it('rejects texts that are too large or too deep', () => {
    assert.throws(
      () => readYaml('a: b', { maxBytes: 3 }),
      error => isMachineryError(error, 'JsonTooLarge'),
    )
    assertBad(`a: ${'['.repeat(2_000)}`, /maxDepth/)
    assert.ok(readYaml(`a: ${'['.repeat(900)}${']'.repeat(900)}`))
  })
})

describe('readYamlDocuments', () => {
  it('skips empty documents', () => {
    const documents = readYamlDocuments('---\n# nothing\n---\na: 1\n---\n---\nb: 2\n...\n')
    assert.deepEqual(
      documents.map(document => document.value),
      [{ a: 1 }, { b: 2 }],
    )
    assert.equal(readYaml(''), undefined)
  })
})

describe('writeYaml', () => {
  it('quotes what would be read as something else', () => {
    const object = {
      a: 'yes',
      b: '0755',
      c: 'plain',
      d: '',
      e: null,
      f: '1:30',
      g: 9007199254740993n,
      h: ['x', { z: 1 }],
    }
    const text = writeYaml(object)
    assert.deepEqual(value(text), object)
    assert.match(text, /^h:\n- x\n- z: 1$/m)
    assert.match(text, /^g: 9007199254740993$/m)
  })

  it('separates documents', () => {
    assert.equal(writeYamlDocuments([{ a: 1 }, { b: 2 }]), '---\na: 1\n---\nb: 2\n')
  })
})

function assertBad(text: string, message: RegExp): void {
  assert.throws(
    () => readYaml(text),
    error => isMachineryError(error, 'BadYaml') && message.test(error.message),
    text,
  )
}
