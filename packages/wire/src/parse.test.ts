import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { getHeader, getHeaderValues, parseMediaType, splitHeaderList } from './headers.ts'
import { parsePath } from './path.ts'
import { formatQuery, parseQuery } from './query.ts'

describe('parsePath', () => {
  it('splits once and decodes each segment once', () => {
    assert.deepEqual(parsePath('/api/v1/namespaces/a%20b/pods/x').segments, [
      'api',
      'v1',
      'namespaces',
      'a b',
      'pods',
      'x',
    ])
    assert.deepEqual(parsePath('/a%252Fb').segments, ['a%2Fb'])
    assert.deepEqual(parsePath('/a%2Fb/c').segments, ['a/b', 'c'])
  })

  it('keeps dot segments and empty segments visible', () => {
    assert.deepEqual(parsePath('/api/v1/namespaces/%2e%2e/pods').segments[3], '..')
    assert.deepEqual(parsePath('/a/../b/./c').segments, ['a', '..', 'b', '.', 'c'])
    assert.deepEqual(parsePath('//a//b').segments, ['a', '', 'b'])
  })

  it('strips slashes at the ends, and reports it', () => {
    assert.deepEqual(parsePath('/'), { segments: [], trailingSlash: false, valid: true })
    assert.deepEqual(parsePath('/api/'), { segments: ['api'], trailingSlash: true, valid: true })
    assert.equal(parsePath('/api').trailingSlash, false)
  })

  it('flags malformed escapes and bytes that are not UTF-8', () => {
    assert.equal(parsePath('/a/%zz').valid, false)
    assert.equal(parsePath('/a/%2').valid, false)
    assert.deepEqual(parsePath('/a/%ff'), { segments: ['a', '\ufffd'], trailingSlash: false, valid: false })
    assert.equal(parsePath('/%C3%A9').valid, true)
  })
})

describe('parseQuery', () => {
  it('returns the first of a repeated parameter and distinguishes empty from absent', () => {
    const query = parseQuery('a=1&a=2&b=&c&&d=x=y')
    assert.equal(query.get('a'), '1')
    assert.deepEqual(query.getAll('a'), ['1', '2'])
    assert.equal(query.get('b'), '')
    assert.equal(query.get('c'), '')
    assert.equal(query.get('d'), 'x=y')
    assert.equal(query.get('e'), undefined)
    assert.deepEqual([...query.names()], ['a', 'b', 'c', 'd'])
  })

  it('drops pieces with a semicolon or a malformed escape and keeps the rest', () => {
    const query = parseQuery('a;b=1&c=%zz&d=2')
    assert.deepEqual([...query.names()], ['d'])
    assert.equal(query.malformed, true)
    assert.equal(parseQuery('d=2').malformed, false)
  })

  it('decodes plus signs and escapes, once', () => {
    assert.equal(parseQuery('labelSelector=a+in+%28x%2Cy%29').get('labelSelector'), 'a in (x,y)')
    assert.equal(parseQuery('a=%2525').get('a'), '%25')
    assert.equal(parseQuery('__proto__=1').get('__proto__'), '1')
    assert.equal(parseQuery('a=1').get('toString'), undefined)
  })

  it('parses what formatQuery writes', () => {
    const text = formatQuery({ a: 'x y&=+%', b: 3, c: true, d: undefined, e: ['1', '2'] })
    const query = parseQuery(text)
    assert.deepEqual(
      [query.get('a'), query.get('b'), query.get('c'), query.has('d')],
      ['x y&=+%', '3', 'true', false],
    )
    assert.deepEqual(query.getAll('e'), ['1', '2'])
  })
})

describe('headers', () => {
  it('returns the first value or all of them', () => {
    assert.equal(getHeader({ a: ['1', '2'] }, 'a'), '1')
    assert.deepEqual(getHeaderValues({ a: ['1', '2'] }, 'a'), ['1', '2'])
    assert.deepEqual(getHeaderValues({ a: '1' }, 'b'), [])
  })

  it('parses media types with parameters, quoted or not', () => {
    assert.deepEqual(
      { ...parseMediaType('Application/JSON; Charset="utf\\"8";as=Table').parameters },
      {
        charset: 'utf"8',
        as: 'Table',
      },
    )
    assert.equal(parseMediaType('Application/JSON;x=1').type, 'application/json')
    assert.equal(parseMediaType('nonsense').type, '')
    assert.equal(parseMediaType('a/b/c').type, '')
  })

  it('splits lists at commas outside quotes', () => {
    assert.deepEqual(splitHeaderList('299 - "a, b", 299 - "c\\", d",, x'), [
      '299 - "a, b"',
      '299 - "c\\", d"',
      'x',
    ])
  })
})
