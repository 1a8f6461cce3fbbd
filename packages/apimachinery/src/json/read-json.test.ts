import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '../errors.ts'
import { type JsonDocument, maxJsonBytes, type ReadJsonOptions, readJson } from './read-json.ts'

const encoder = new TextEncoder()

function read(text: string, options?: ReadJsonOptions): JsonDocument {
  return readJson(encoder.encode(text), options)
}

describe('readJson', () => {
  it('reads plain documents', () => {
    const value = { a: [1, -2, true, null, 'é\n"'], b: { c: {} }, d: [] }
    assert.deepEqual(read(JSON.stringify(value, null, 2)), { value, duplicates: [] })
  })

  it('reports repeated members by path and lets the last one win', () => {
    const document = read('{"spec":{"a":1,"a":2,"list":[{},{"x":1,"x":1,"x":3}]},"spec":{"b":1}}')
    assert.deepEqual(document.duplicates, ['spec.a', 'spec.list[1].x', 'spec'])
    assert.deepEqual(document.value, { spec: { b: 1 } })
  })

  it('sees a repeated key through escapes', () => {
    assert.deepEqual(read('{"a":1,"\\u0061":2}').duplicates, ['a'])
  })

  it('merges duplicate objects when asked to, and reports only duplicate members', () => {
    const bytes = new TextEncoder().encode(
      '{"m":{"a":1,"l":[1],"o":{"x":1}},"m":{"b":2,"l":[2],"o":{"y":2}}}',
    )
    const document = readJson(bytes, { mergeRepeated: true })
    assert.deepEqual(document.value, { m: { a: 1, l: [2], o: { x: 1, y: 2 }, b: 2 } })
    assert.deepEqual(document.duplicates, ['m'])
  })

  it('reports at most a hundred repeated members', () => {
    const members = Array.from({ length: 150 }, (_, i) => `"k${i}":0,"k${i}":1`)
    assert.equal(read(`{${members.join()}}`).duplicates.length, 100)
  })

  it('reports a deeply nested key that is repeated many times once, in linear time', () => {
    const text = `${'{"a":'.repeat(5_000)}{${'"b":1,'.repeat(5_000)}"b":1}${'}'.repeat(5_000)}`
    assert.deepEqual(read(text).duplicates, [`${'a.'.repeat(5_000)}b`])
  })

  it('keeps whole numbers beyond 2^53 while they fit int64', () => {
    const { value } = read('[9007199254740991,9007199254740993,-9223372036854775808,9223372036854775807]')
    assert.deepEqual(value, [
      9007199254740991,
      9007199254740993n,
      -9223372036854775808n,
      9223372036854775807n,
    ])
  })

  it('rounds whole numbers beyond int64 to a double, and keeps their spelling', () => {
    const { value, literals } = read('{"n":9223372036854775808}')
    assert.deepEqual(value, { n: 2 ** 63 })
    assert.equal(literals?.get(value as object)?.get('n'), '9223372036854775808')
  })

  it('keeps the spelling of numbers with a point or an exponent', () => {
    const { value, literals } = read('{"a":1.0,"b":[7,1e3],"c":5}')
    const { b } = value as { b: number[] }
    assert.deepEqual(value, { a: 1, b: [7, 1000], c: 5 })
    assert.equal(literals?.get(value as object)?.get('a'), '1.0')
    assert.equal(literals?.get(value as object)?.get('c'), undefined)
    assert.equal(literals?.get(b)?.get(1), '1e3')
    assert.equal(read('{"a":1.0}', { literals: false }).literals, undefined)
  })

  it('rejects numbers beyond the range of a double, unless the text has a later syntax error', () => {
    assertBad('[1e400]', 'json: cannot unmarshal number 1e400 into Go value of type float64')
    assertBad('[1e400,]', "invalid character ']' looking for beginning of value")
  })

  it('treats __proto__ and constructor as ordinary data', () => {
    for (const text of [
      '{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}',
      '{"__proto__":{"x":1.5}}',
    ]) {
      const value = read(text).value as Record<string, unknown>
      assert.ok(Object.hasOwn(value, '__proto__'))
      assert.equal(Object.getPrototypeOf(value), Object.prototype)
    }
    assert.deepEqual(read('{"__proto__":1,"__proto__":2}').duplicates, ['__proto__'])
    assert.equal(({} as Record<string, unknown>).x, undefined)
  })

  it('replaces every invalid byte and unpaired surrogate by U+FFFD', () => {
    const bytes = Uint8Array.of(0x22, 0x61, 0xe2, 0x82, 0xff, 0xc3, 0xa9, 0x22)
    assert.equal(readJson(bytes).value, 'a\uFFFD\uFFFD\uFFFDé')
    assert.equal(read('"\\ud800x\\ud83d\\ude00"').value, '\uFFFDx\u{1F600}')
    assert.equal(read('"\uFFFD"').value, '\uFFFD')
  })

  it('accepts 10,000 levels and rejects one more', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    let depth = 0
    for (let value = read(nested(10_000)).value; Array.isArray(value); value = value[0]) depth++
    assert.equal(depth, 10_000)
    assertBad(nested(10_001), "invalid character '[' exceeded max depth")
    assertBad('{"a":'.repeat(10_001), "invalid character '{' exceeded max depth")
  })

  it('rejects more than three mebibytes', () => {
    const text = `"${'a'.repeat(maxJsonBytes)}"`
    assert.throws(
      () => read(text),
      error => isMachineryError(error, 'JsonTooLarge'),
    )
    assert.throws(() => read('[1,2]', { maxBytes: 4 }), { message: 'limit is 4' })
  })

  const bad: Record<string, string> = {
    '': 'unexpected end of JSON input',
    '{"a": 1': 'unexpected end of JSON input',
    '"abc': 'unexpected end of JSON input',
    tru: 'unexpected end of JSON input',
    '{} x': "invalid character 'x' after top-level value",
    '[1,]': "invalid character ']' looking for beginning of value",
    '{"a":1,}': "invalid character '}' looking for beginning of object key string",
    '{a:1}': "invalid character 'a' looking for beginning of object key string",
    '{"a" 1}': "invalid character '1' after object key",
    '{"a":1 "b"}': `invalid character '"' after object key:value pair`,
    '[1 2]': "invalid character '2' after array element",
    '[01]': "invalid character '1' after array element",
    '[-]': "invalid character ']' in numeric literal",
    '[1.]': "invalid character ']' after decimal point in numeric literal",
    '[1e]': "invalid character ']' in exponent of numeric literal",
    '[nul]': "invalid character ']' in literal null (expecting 'l')",
    '"\\x"': "invalid character 'x' in string escape code",
    '"\\u12g4"': "invalid character 'g' in \\u hexadecimal character escape",
    '"a\nb"': "invalid character '\\n' in string literal",
    "'a'": "invalid character '\\'' looking for beginning of value",
    '[ä]': "invalid character 'Ã' looking for beginning of value",
    '\uFEFF{}': "invalid character 'ï' looking for beginning of value",
  }
  for (const [text, message] of Object.entries(bad)) {
    it(`reports ${JSON.stringify(text)} in Go's words`, () => assertBad(text, message))
  }
})

function assertBad(text: string, message: string): void {
  assert.throws(
    () => read(text),
    error => {
      assert.ok(isMachineryError(error, 'BadJson'))
      assert.equal(error.message, message)
      return true
    },
  )
}
