import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FieldSelector, parseFieldSelector } from './field-selector.ts'
import {
  formatLabelSelector,
  labelSelectorAsSelector,
  parseLabelSelector,
  Selector,
  selectorFromLabels,
} from './label-selector.ts'
import { createRequirement } from './requirement.ts'

describe('label selectors', () => {
  it('treat a null list as empty', () => {
    const selector = JSON.parse('{"matchExpressions":[{"key":"a","operator":"Exists","values":null}]}')
    assert.ok(labelSelectorAsSelector(selector).matches({ a: '' }))
  })

  it('have a canonical text, sorted by key', () => {
    const text = 'tier notin (b,a), app==web ,!old,x,n>3'
    assert.equal(parseLabelSelector(text).toString(), 'app==web,n>3,!old,tier notin (a,b),x')
  })

  it('treat a missing label as unequal to any value', () => {
    const selector = parseLabelSelector('app!=web,tier notin (a)')
    assert.ok(selector.matches({}))
    assert.ok(selector.matches(undefined))
    assert.ok(!selector.matches({ app: 'web' }))
  })

  it('compare integers only', () => {
    const selector = parseLabelSelector('n>3')
    assert.deepEqual(
      ['4', '3', 'x', '9223372036854775808', ''].map(n => selector.matches({ n })),
      [true, false, false, false, false],
    )
  })

  it('never look at a prototype', () => {
    assert.ok(!parseLabelSelector('constructor').matches({}))
    assert.ok(parseLabelSelector('!toString').matches({}))
    assert.ok(
      !labelSelectorAsSelector({ matchExpressions: [{ key: 'valueOf', operator: 'Exists' }] }).matches({}),
    )
  })

  it('select nothing when absent and everything when empty', () => {
    assert.ok(!labelSelectorAsSelector(undefined).matches({ a: 'b' }))
    assert.ok(labelSelectorAsSelector(null).isNothing)
    assert.ok(labelSelectorAsSelector({}).matches({}))
    assert.ok(labelSelectorAsSelector({}).isEmpty)
    assert.ok(!Selector.nothing.isEmpty)
    assert.equal(Selector.nothing.add(createRequirement('a', 'exists', [])), Selector.nothing)
  })

  it("are rejected in upstream's words", () => {
    assert.throws(() => parseLabelSelector('a=b,'), { message: "found '', expected: identifier after ','" })
    assert.throws(() => parseLabelSelector('a in b'), {
      message: "unable to parse requirement: found 'b' expected: '('",
      code: 'BadSelector',
    })
  })

  it('know when they allow one value only', () => {
    assert.equal(parseLabelSelector('a in (x)').requiresExactMatch('a'), 'x')
    assert.equal(parseLabelSelector('a in (x,y)').requiresExactMatch('a'), undefined)
    assert.equal(selectorFromLabels({ a: 'x' }).requiresExactMatch('b'), undefined)
  })

  it('are shown to people', () => {
    assert.equal(formatLabelSelector(undefined), '<none>')
    assert.equal(formatLabelSelector({ matchLabels: { a: 'b' } }), 'a=b')
    assert.equal(formatLabelSelector({ matchLabels: { '-': 'b' } }), '<error>')
  })

  it('of a hundred thousand characters are read in one go', () => {
    for (const text of [
      'a'.repeat(1e5),
      '('.repeat(1e5),
      'a in ('.repeat(2e4),
      '!'.repeat(1e5),
      'a,'.repeat(5e4),
    ]) {
      assert.throws(() => parseLabelSelector(text), { code: 'BadSelector' })
    }
    assert.equal(parseLabelSelector(`a in (${'x,'.repeat(4e4)}x)`).toString(), 'a in (x)')
  })
})

describe('field selectors', () => {
  it('escape and unescape', () => {
    const selector = new FieldSelector([{ field: 'metadata.name', operator: '=', value: 'a,b=c\\' }])
    assert.equal(selector.toString(), 'metadata.name=a\\,b\\=c\\\\')
    assert.ok(parseFieldSelector(selector.toString()).matches({ 'metadata.name': 'a,b=c\\' }))
  })

  it('treat a missing field as empty', () => {
    assert.ok(parseFieldSelector('spec.nodeName=').matches({}))
    assert.ok(!parseFieldSelector('spec.nodeName!=').matches({}))
    assert.ok(!parseFieldSelector('constructor!=').matches({}))
  })

  it('read only the fields they need', () => {
    const asked: string[] = []
    parseFieldSelector('a=1,b=2').matchesBy(field => {
      asked.push(field)
      return 'x'
    })
    assert.deepEqual(asked, ['a'])
  })

  it('are transformed term by term, and a term that becomes empty is dropped', () => {
    const selector = parseFieldSelector('name=a,host!=b').transform((field, value) =>
      field === 'host' ? ['', ''] : [`metadata.${field}`, value],
    )
    assert.equal(selector.toString(), 'metadata.name=a')
    assert.equal(selector.requiresExactMatch('metadata.name'), 'a')
  })

  it('are everything when empty', () => {
    assert.ok(parseFieldSelector('').isEmpty)
    assert.ok(FieldSelector.everything.matches({ a: 'b' }))
  })
})
