import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as field from './index.ts'

const { Path } = field
const at = Path.of('spec')

describe('Path', () => {
  it('prints fields with dots and subscripts in brackets', () => {
    const path = Path.of('spec', 'containers').index(0).child('env').key('FOO').child('value')
    assert.equal(path.toString(), 'spec.containers[0].env[FOO].value')
    assert.equal(Path.of('metadata').key('a.b/c').toString(), 'metadata[a.b/c]')
  })

  it('prints the object itself as upstream prints a missing path', () => {
    assert.equal(Path.root.toString(), '<nil>')
    assert.equal(Path.root.child('spec').toString(), 'spec')
    assert.equal(Path.root.index(1).toString(), '[1]')
  })

  it('is not changed by its children', () => {
    const path = Path.of('spec')
    path.child('a').index(3)
    assert.equal(path.toString(), 'spec')
  })
})

describe('field errors', () => {
  it('quote strings as Go does', () => {
    const body = (value: string): string => field.invalid(at, value, '').body
    assert.equal(body('a"b\\c\n'), 'Invalid value: "a\\"b\\\\c\\n"')
    assert.equal(body('\u0007\u007f\u00ad'), 'Invalid value: "\\a\\x7f\\u00ad"')
    assert.equal(body('é日😀'), 'Invalid value: "é日😀"')
    assert.equal(body('\u{e0001}'), 'Invalid value: "\\U000e0001"')
  })

  it('print whole numbers plainly and others as Go prints a float64', () => {
    const body = (value: unknown): string => field.invalid(at, value, '').body.slice('Invalid value: '.length)
    assert.equal(body(1000000), '1000000')
    assert.equal(body(9007199254740993n), '9007199254740993')
    assert.equal(body(1e20), '1e+20')
    assert.equal(body(0.00001), '1e-05')
    assert.equal(body(1234567.5), '1.2345675e+06')
    assert.equal(body(true), 'true')
    assert.equal(body(null), 'null')
  })

  it('print objects as JSON with sorted keys, or in their own order when asked to', () => {
    const value = { b: ['<x>'], a: 1n }
    assert.equal(field.invalid(at, value, 'no').body, 'Invalid value: {"a":1,"b":["\\u003cx\\u003e"]}: no')
    const ordered = field.Printed.inOrder(value)
    assert.equal(field.invalid(at, ordered, 'no').body, 'Invalid value: {"b":["\\u003cx\\u003e"],"a":1}: no')
  })

  it('omit the value where it is too long, forbidden, missing, or omitted', () => {
    assert.equal(field.tooLong(at, 1).body, 'Too long: may not be more than 1 byte')
    assert.equal(field.tooLongCharacters(at, 2).body, 'Too long: may not be more than 2 characters')
    assert.equal(field.tooLong(at, -1).body, 'Too long: value is too long')
    assert.equal(field.tooShort(at, 3).body, 'Too short: must be at least 3 characters')
    assert.equal(field.forbidden(at, 'not now').body, 'Forbidden: not now')
    assert.equal(field.required(at).body, 'Required value')
    assert.equal(field.invalid(at, field.omitValue, 'rule').body, 'Invalid value: rule')
  })

  it('count items', () => {
    assert.equal(field.tooMany(at, 3, 1).body, 'Too many: 3: must have at most 1 item')
    assert.equal(field.tooMany(at, -1, 2).body, 'Too many: must have at most 2 items')
    assert.equal(field.tooFew(at, 0, 2).body, 'Too few: 0: must have at least 2 items')
  })

  it('list supported values in the order given', () => {
    const error = field.notSupported(at, 'x', ['b', 'a'])
    assert.equal(field.formatFieldError(error), 'spec: Unsupported value: "x": supported values: "b", "a"')
    assert.equal(field.notSupported(at, 'x', []).body, 'Unsupported value: "x"')
  })

  it('become causes one by one and a message together', () => {
    const errors = [
      field.duplicate(at, 'x'),
      field.internalError(at, new Error('broken')),
      field.duplicate(at, 'x'),
    ]
    assert.equal(field.aggregate(errors), '[spec: Duplicate value: "x", spec: Internal error: broken]')
    assert.deepEqual(field.toCauses(errors)[1], {
      reason: 'InternalError',
      message: 'Internal error: broken',
      field: 'spec',
    })
    assert.equal(field.aggregate([]), '')
  })
})

describe('ErrorList', () => {
  it('lists everything within the limits', () => {
    const errors = [field.duplicate(at, 'x'), field.required(at.child('y')), field.duplicate(at, 'x')]
    const list = new field.ErrorList(errors)
    assert.equal(String(list), field.aggregate(errors))
    assert.deepEqual(list.toCauses(), field.toCauses(errors))
  })

  it('takes no more from a generator than a response can hold, and says so', () => {
    let asked = 0
    function* endless(): Generator<field.FieldError> {
      for (;;) yield field.invalid(at.index(asked++), 'x', 'no')
    }
    const list = new field.ErrorList(endless())
    assert.equal(list.length, 1000)
    assert.equal(asked, 1001)
    assert.match(
      String(list),
      /\[999\]: Invalid value: "x": no, too many errors: only the first 1000 are reported\]$/,
    )
  })

  it('formats no more errors than it keeps', () => {
    let written = 0
    const value = new field.Printed(() => {
      written++
      return 'x'.repeat(100_000)
    })
    const errors = Array.from({ length: 20_000 }, () => field.invalid(at, value, ''))
    const list = new field.ErrorList(errors)
    assert.equal(list.length, 3)
    assert.equal(written, 1)
  })

  it('lists what is supported in no more errors than it keeps', () => {
    const supported = Array.from({ length: 5_000 }, (_, index) => `allowed value ${index}`)
    const errors = Array.from({ length: 20_000 }, () => field.notSupported(at, 'x', supported))
    const list = new field.ErrorList(errors)
    assert.ok(list.length < 10)
    assert.ok(String(list).length < 1024 * 1024)
  })

  it('truncates a text that is longer than a response', () => {
    const list = new field.ErrorList([field.invalid(at, 'x'.repeat(3_000_000), 'too much')])
    assert.ok(String(list).length < 300_000)
    assert.match(String(list), /x\.\.\.$/)
  })
})
