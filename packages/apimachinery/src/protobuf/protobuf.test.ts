import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BackwardWriter, ProtobufReader } from '@coxswain/kit/protobuf'
import fc from 'fast-check'
import { isMachineryError } from '../errors.ts'
import { createProtobufCodec } from './codec.ts'
import type { ElementType, FieldType, Message, ScalarType } from './message.ts'
import { formatMicroTime, formatTime, parseInstant } from './time.ts'

const scalar = (name: ScalarType, pointer = false): ElementType => ({ form: 'scalar', scalar: name, pointer })

const point: Message = {
  name: 'Point',
  fields: [
    { json: 'x', number: 1, type: scalar('int32'), omit: 'never' },
    { json: 'label', number: 2, type: scalar('string'), omit: 'empty' },
  ],
}

function field(json: string, number: number, type: FieldType): Message['fields'][number] {
  return { json, number, type, omit: 'empty' }
}

const shape: Message = {
  name: 'Shape',
  fields: [
    field('text', 1, scalar('string')),
    field('maybe', 2, scalar('string', true)),
    field('big', 3, scalar('int64')),
    field('ratio', 4, scalar('float64', true)),
    field('data', 5, scalar('bytes')),
    field('numbers', 6, { form: 'list', element: scalar('int64') }),
    field('names', 7, { form: 'map', element: scalar('string') }),
    field('extra', 8, { form: 'map', element: { form: 'wrapped', element: scalar('string') } }),
    field('', 9, { form: 'message', message: () => point, pointer: false }),
    field('center', 10, { form: 'message', message: () => point, pointer: true }),
    field('points', 11, { form: 'list', element: { form: 'message', message: () => point, pointer: false } }),
    field('flag', 400, scalar('bool')),
  ],
}

const codec = createProtobufCodec({
  find: (apiVersion, kind) => (apiVersion === 'test/v1' && kind === 'Shape' ? shape : undefined),
})
const head = { apiVersion: 'test/v1', kind: 'Shape' }

describe('protobuf of a message', () => {
  it('round-trips, whatever its values', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 })
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(value => {
      const number = Number(value)
      return Number.isSafeInteger(number) ? number : value
    })
    const places = fc.record({ x: fc.integer(), label: fc.string({ minLength: 1 }) })
    const shapes = fc.record(
      {
        text: fc.string({ minLength: 1 }),
        maybe: text,
        big: int64.filter(value => value !== 0),
        ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
        data: fc.uint8Array({ minLength: 1 }).map(bytes => Buffer.from(bytes).toString('base64')),
        numbers: fc.array(int64, { minLength: 1 }),
        names: fc.dictionary(text, text, { minKeys: 1 }),
        extra: fc.dictionary(text, fc.array(text), { minKeys: 1 }),
        x: fc.integer(),
        center: places,
        points: fc.array(places, { minLength: 1 }),
        flag: fc.constant(true),
      },
      { requiredKeys: ['x'] },
    )
    fc.assert(
      fc.property(shapes, value => {
        const object = { ...head, ...value }
        const plain = JSON.stringify(codec.decode(codec.encode(object)), sortKeys)
        assert.equal(plain, JSON.stringify(object, sortKeys))
      }),
      { numRuns: 300, seed: 1 },
    )
  })

  it('has maps in the order of their keys, so that equal objects have equal bytes', () => {
    const one = codec.encode({ ...head, names: { b: '1', a: '2', '\u{1f6a2}': '3', '\uffff': '4' } })
    const two = codec.encode({ ...head, names: { '\uffff': '4', '\u{1f6a2}': '3', a: '2', b: '1' } })
    assert.deepEqual(one, two)
    assert.deepEqual(Object.keys(codec.decode(one).names as object), ['a', 'b', '\uffff', '\u{1f6a2}'])
  })

  it('accepts numbers packed and one by one, and the last of several values', () => {
    const raw = [0x32, 3, 1, 2, 3, 0x30, 4, 0x0a, 1, 0x61, 0x0a, 0]
    const bytes = Uint8Array.of(0x6b, 0x38, 0x73, 0, 0x12, raw.length, ...raw)
    assert.deepEqual(codec.decode(bytes, head), { ...head, numbers: [1, 2, 3, 4], x: 0 })
  })

  it('never reaches a prototype', () => {
    const names = JSON.parse('{"__proto__": "x", "constructor": "y"}') as object
    const decoded = codec.decode(codec.encode({ ...head, names })).names as object
    assert.deepEqual(Object.keys(decoded), ['__proto__', 'constructor'])
    assert.equal(Object.getPrototypeOf(decoded), Object.prototype)
    assert.equal(
      codec.decode(
        codec.encode(
          Object.create(
            { text: 'inherited', ...head },
            {
              apiVersion: { value: 'test/v1', enumerable: true },
              kind: { value: 'Shape', enumerable: true },
            },
          ),
        ),
      ).text,
      undefined,
    )
  })

  it('of malformed bytes is an error with a code, and takes no time', () => {
    const good = codec.encode({ ...head, text: 'a', numbers: [1, -1], names: { a: 'b' }, center: { x: 1 } })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(good.length - 5), fc.nat(255)), { maxLength: 4 }), changes => {
        const bytes = good.slice()
        for (const [at, value] of changes) bytes[at + 4] = value
        try {
          codec.decode(bytes)
        } catch (error) {
          assert.ok(isMachineryError(error, 'BadProtobuf'), String(error))
        }
      }),
      { numRuns: 2_000, seed: 1 },
    )
  })
})

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return Object.is(value, -0) ? '-0' : value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

describe('protobuf numbers', () => {
  it('keep 64 bits', () => {
    for (const value of [
      0,
      1,
      127,
      128,
      2 ** 31,
      2 ** 53 - 1,
      2n ** 53n,
      2n ** 63n - 1n,
      -1,
      -(2 ** 40),
      -(2n ** 63n),
    ]) {
      const writer = new BackwardWriter()
      writer.int64(value)
      assert.equal(new ProtobufReader(writer.finish()).int64(), value)
    }
  })

  it('of more than ten bytes are rejected', () => {
    const bytes = new Uint8Array(11).fill(0x80)
    assert.throws(() => new ProtobufReader(bytes).int64(), /integer overflow/)
    assert.throws(() => new ProtobufReader(bytes).varint(), /integer overflow/)
  })
})

describe('times', () => {
  it('keep seconds and, where there are some, microseconds', () => {
    assert.equal(
      formatTime(parseInstant('2024-02-29T12:00:00.999+02:00')?.seconds ?? 0),
      '2024-02-29T10:00:00Z',
    )
    assert.equal(
      formatMicroTime(parseInstant('1969-12-31T23:59:59.123456789Z') ?? { seconds: 0, nanos: 0 }),
      '1969-12-31T23:59:59.123456Z',
    )
    assert.equal(parseInstant('0001-01-01T00:00:00Z'), undefined)
  })

  it('that are invalid are rejected', () => {
    for (const text of [
      '',
      'today',
      '2024-02-29',
      '2024-13-01T00:00:00Z',
      '2020-02-30T00:00:00Z',
      '2024-02-29T12:00:00',
    ]) {
      assert.throws(() => parseInstant(text), /not an RFC 3339 time/)
    }
    assert.throws(() => formatTime(1e15), /out of range/)
  })
})
