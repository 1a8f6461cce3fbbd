import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as field from '@coxswain/apimachinery/field'
import type { Schema, ValidationRule } from '@coxswain/apimachinery/schema'
import {
  checkDefaults,
  checkRules,
  findSkippedRules,
  hasRules,
  runRules,
} from '@coxswain/strategies/apiextensions'
import { startCrdServer, thingCrd } from './test-support/crd-server.ts'

const text: Schema = { type: 'string', maxLength: 20 }
const number: Schema = { type: 'integer' }

/** A resource whose `spec.a` has a schema and rules. */
function rooted(a: Schema, ...rules: (ValidationRule | string)[]): Schema {
  const made = rules.map(rule => (typeof rule === 'string' ? { rule } : rule))
  const ruled: Schema = made.length > 0 ? { ...a, 'x-kubernetes-validations': made } : a
  return { type: 'object', properties: { spec: { type: 'object', properties: { a: ruled } } } }
}

/** The errors of the CRD; paths from `spec.a`. */
function problems(schema: Schema, unchanged = false): string[] {
  return checkRules(schema, field.Path.root, { unchanged, problems: [] }).map(error =>
    field
      .formatFieldError(error)
      .replaceAll('properties[spec].properties[a]', '@')
      .replaceAll('x-kubernetes-validations', 'rules'),
  )
}

const of = (a: unknown) => ({ kind: 'Thing', metadata: { name: 'x' }, spec: { a } })

/** The rule errors of `spec.a`, before and after a change. */
function verdict(schema: Schema, a: unknown, old?: { readonly a: unknown }) {
  const { errors, warnings } = runRules(schema, of(a), old && of(old.a))
  return { errors: errors.map(field.formatFieldError), warnings }
}

describe('rules of CRDs', () => {
  const cases: readonly (readonly [string, Schema, readonly string[]])[] = [
    ['a good rule', rooted(text, 'self.size() > 2'), []],
    [
      'a rule that does not evaluate to a boolean',
      rooted(number, 'self + 1'),
      [
        '@.rules[0].rule: Invalid value: {"Rule":"self + 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
      ],
    ],
    [
      'an unknown field',
      rooted({ type: 'object', properties: { x: number } }, 'self.y == 1'),
      [
        `@.rules[0].rule: Invalid value: {"Rule":"self.y == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'y'\n | self.y == 1\n | ....^`,
      ],
    ],
    [
      'a message that is not a string',
      rooted(number, { rule: 'self > 0', messageExpression: 'self' }),
      [
        '@.rules[0].messageExpression: Invalid value: {"Rule":"self \\u003e 0","Message":"","MessageExpression":"self","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string',
      ],
    ],
    [
      'oldSelf below a list whose items cannot be correlated',
      rooted({
        type: 'array',
        maxItems: 3,
        items: { ...number, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
      }),
      [
        '@.items.rules[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within @',
      ],
    ],
    [
      'optionalOldSelf without oldSelf',
      rooted(number, { rule: 'self > 0', optionalOldSelf: true }),
      ['@.rules[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule'],
    ],
    [
      'a rule that costs much, but not too much',
      rooted({ type: 'array', maxItems: 1000, items: number }, 'self.all(x, self.all(y, x + y > 0))'),
      [],
    ],
  ]
  for (const [name, schema, expected] of cases)
    it(`validate ${name}`, () => assert.deepEqual(problems(schema), expected))

  it('may be inside a list of type map, where items have keys', () => {
    const items: Schema = {
      type: 'object',
      properties: { key: text, value: number },
      required: ['key'],
      'x-kubernetes-validations': [{ rule: 'self.value >= oldSelf.value' }],
    }
    const list = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key'] } as const
    assert.deepEqual(problems(rooted({ type: 'array', maxItems: 9, items, ...list })), [])
  })

  it('are rejected for their cost alone and together, unless the schema is unchanged', () => {
    const items: Schema = { type: 'string' }
    const costly = rooted({ type: 'array', items }, 'self.all(x, x.contains("a"))')
    const [own, share, total, ...others] = problems(costly)
    assert.match(
      own ?? '',
      /^@.rules\[0\].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x \(try/,
    )
    assert.match(
      share ?? '',
      /rule: Forbidden: contributed to estimated rule cost total exceeding cost limit/,
    )
    assert.match(
      total ?? '',
      /^<nil>: Forbidden: rules estimated rule cost total for entire OpenAPIv3 schema exceeds/,
    )
    assert.deepEqual(others, [])
    assert.equal(problems(costly, true).length, 2)
  })

  it('share a budget: many cheap rules can be too expensive together', () => {
    const list: Schema = { type: 'array', maxItems: 1000, items: { type: 'integer' } }
    const rule = 'self.all(x, self.all(y, x + y > 0))'
    const alone = problems(rooted(list, rule))
    assert.deepEqual(alone, [])
    const all = problems(rooted(list, ...Array.from({ length: 40 }, () => rule)))
    assert.equal(all.filter(error => error.includes('contributed to estimated rule cost total')).length, 4)
    assert.match(all.at(-1) ?? '', /factor of \d\.\d+x/)
  })

  it('apply to defaults too', () => {
    const schema = rooted({ ...text, default: 'bad' }, { rule: "self != 'bad'", message: 'is bad' })
    assert.deepEqual(checkDefaults(schema, field.Path.root).map(field.formatFieldError), [
      'properties[spec].properties[a].default: Invalid value: "bad": is bad',
    ])
    const transition = rooted(
      { ...text, default: 'b' },
      { rule: "oldSelf.hasValue() || self == 'a'", optionalOldSelf: true },
    )
    assert.equal(checkDefaults(transition, field.Path.root).length, 1)
  })
})

describe('rules of objects', () => {
  it('report the message, path and reason they name', () => {
    const object: Schema = { type: 'object', properties: { x: number, 'y-z': number } }
    const schema = rooted(
      object,
      { rule: 'self.x > 0' },
      { rule: 'self.x > 1', message: ' too small ' },
      { rule: 'self.x > 2', messageExpression: "'x is ' + string(self.x)" },
      { rule: 'self.x > 3', reason: 'FieldValueForbidden', message: 'no', fieldPath: '.x' },
      { rule: 'self.x > 4', reason: 'FieldValueDuplicate', fieldPath: "['y-z']" },
      { rule: 'self.x > 5', reason: 'FieldValueRequired', message: 'give y', fieldPath: "['y-z']" },
    )
    assert.deepEqual(verdict(schema, { x: 0 }).errors, [
      'spec.a: Invalid value: failed rule: self.x > 0',
      'spec.a: Invalid value: too small',
      'spec.a: Invalid value: x is 0',
      'spec.a.x: Forbidden: no',
      'spec.a.y-z: Duplicate value',
      'spec.a.y-z: Required value: give y',
    ])
    assert.deepEqual(verdict(rooted(number, 'self > 0'), -1).errors, [
      'spec.a: Invalid value: -1: failed rule: self > 0',
    ])
  })

  it('fall back to the message when a message expression fails', () => {
    for (const messageExpression of ["''", "'a\\nb'", 'string(1 / 0)']) {
      const schema = rooted(number, { rule: 'self > 0', message: 'plain', messageExpression })
      assert.deepEqual(verdict(schema, 0).errors, ['spec.a: Invalid value: 0: plain'])
    }
  })

  it('report evaluation errors', () => {
    const object: Schema = { type: 'object', properties: { x: number } }
    assert.deepEqual(verdict(rooted(object, 'self.x > 0'), {}).errors, [
      'spec.a: Invalid value: "object": no such key: x evaluating rule: self.x > 0',
    ])
    const either: Schema = { 'x-kubernetes-int-or-string': true }
    assert.deepEqual(verdict(rooted(either, "self.startsWith('a')"), 3).errors, [
      `spec.a: Invalid value: "": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.startsWith('a')`,
    ])
  })

  it('with oldSelf are evaluated only where there was a value before', () => {
    const schema = rooted(number, 'self >= oldSelf')
    assert.deepEqual(verdict(schema, 1).errors, [])
    assert.deepEqual(verdict(schema, 1, { a: 0 }).errors, [])
    assert.deepEqual(verdict(schema, 1, { a: 2 }).errors, [
      'spec.a: Invalid value: 1: failed rule: self >= oldSelf',
    ])
    const optional = rooted(number, {
      rule: 'oldSelf.hasValue() ? self >= oldSelf.value() : self == 0',
      optionalOldSelf: true,
    })
    assert.equal(verdict(optional, 1).errors.length, 1)
    assert.equal(verdict(optional, 0).errors.length, 0)
    assert.equal(verdict(optional, 1, { a: 0 }).errors.length, 0)
  })

  it('are ratcheted with a warning for unchanged values; transition rules are not', () => {
    const schema = rooted(
      text,
      { rule: "self.startsWith('x')", message: 'a starts with x' },
      'oldSelf == "zz" || self != "abc"',
    )
    const { errors, warnings } = verdict(schema, 'abc', { a: 'abc' })
    assert.deepEqual(errors, ['spec.a: Invalid value: "abc": failed rule: oldSelf == "zz" || self != "abc"'])
    assert.deepEqual(warnings, ['spec.a: Invalid value: "abc": a starts with x'])
    assert.equal(verdict(schema, 'abd', { a: 'abc' }).errors.length, 1)
  })

  it('correlate items of a list of type map by their keys', () => {
    const items: Schema = {
      type: 'object',
      properties: { key: text, value: number },
      'x-kubernetes-validations': [{ rule: 'self.value >= oldSelf.value' }, { rule: 'self.value != 7' }],
    }
    const schema = rooted({
      type: 'array',
      items,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key'],
    })
    const old = {
      a: [
        { key: 'p', value: 7 },
        { key: 'q', value: 5 },
      ],
    }
    const { errors, warnings } = verdict(
      schema,
      [
        { key: 'q', value: 4 },
        { key: 'p', value: 7 },
      ],
      old,
    )
    assert.deepEqual(errors, ['spec.a[0]: Invalid value: failed rule: self.value >= oldSelf.value'])
    assert.deepEqual(warnings, ['spec.a[1]: Invalid value: failed rule: self.value != 7'])
  })

  it('apply to items, map values, and properties with any name', () => {
    const ruled: Schema = { ...number, 'x-kubernetes-validations': [{ rule: 'self > 0' }] }
    const map: Schema = { type: 'object', additionalProperties: ruled }
    assert.deepEqual(verdict(rooted(map), { k: 0 }).errors, [
      'spec.a[k]: Invalid value: 0: failed rule: self > 0',
    ])
    const odd: Schema = { type: 'object', properties: { 'a b': ruled } }
    assert.deepEqual(verdict(rooted(odd), { 'a b': 0 }).errors, [
      'spec.a.a b: Invalid value: 0: failed rule: self > 0',
    ])
    assert.deepEqual(verdict(rooted({ type: 'array', items: ruled }), [1, 0]).errors, [
      'spec.a[1]: Invalid value: 0: failed rule: self > 0',
    ])
  })

  it('stop when one exceeds its budget, and when all together do', () => {
    const list: Schema = { type: 'array', items: number }
    const values = Array.from({ length: 2000 }, (_, i) => i)
    const costly = verdict(rooted(list, 'self.all(x, self.all(y, x + y >= 0))', 'self.size() == 0'), values)
    assert.deepEqual(costly.errors, [
      `spec.a: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.all(x, self.all(y, x + y >= 0))`,
    ])
    const some = Array.from({ length: 350 }, (_, i) => i)
    const rule = 'self.all(x, self.all(y, x + y >= 0))'
    const all = verdict(rooted(list, ...Array.from({ length: 40 }, () => rule)), some)
    assert.deepEqual(all.errors, [
      'spec.a: Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run',
    ])
  })

  it('are not evaluated for an object that does not match its schema', () => {
    const schema = rooted(number, 'self > 0')
    assert.ok(hasRules(schema))
    assert.equal(findSkippedRules(schema, [field.invalid(field.Path.root, 1, 'x')]), undefined)
    assert.match(
      findSkippedRules(schema, [field.required(field.Path.of('spec'))])?.body ?? '',
      /some validation rules were not checked/,
    )
    assert.equal(hasRules(rooted(number)), false)
  })
})

describe('rules of the API', () => {
  const things = '/apis/example.com/v1/things'
  const thing = (name: string, spec: object) => ({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name },
    spec,
  })
  const crd = thingCrd(
    {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { min: { type: 'integer', default: 3 }, max: { type: 'integer' } },
          'x-kubernetes-validations': [{ rule: 'self.min <= self.max', message: 'min above max' }],
        },
        status: {
          type: 'object',
          properties: {
            phase: {
              type: 'string',
              'x-kubernetes-validations': [{ rule: "oldSelf != 'Done' || self == 'Done'" }],
            },
          },
        },
      },
    },
    { version: { subresources: { status: {} } } },
  )

  it('see defaults, and the status through its own endpoint', async () => {
    await using server = await startCrdServer()
    const made = await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
    assert.equal(made.status, 201)
    const refused = await server.send('POST', things, thing('a', { max: 2 }))
    assert.equal(refused.status, 422)
    assert.equal(refused.body.message, 'Thing.example.com "a" is invalid: spec: Invalid value: min above max')
    assert.deepEqual(refused.body.details.causes, [
      { reason: 'FieldValueInvalid', message: 'Invalid value: min above max', field: 'spec' },
    ])
    assert.equal((await server.send('POST', things, thing('a', { max: 4 }))).status, 201)
    const patch = (phase: string) =>
      server.send('PATCH', `${things}/a/status`, { status: { phase } }, 'application/merge-patch+json')
    assert.equal((await patch('Done')).status, 200)
    assert.equal((await patch('Open')).status, 422)
  })

  it('of a CRD are compiled before it is accepted', async () => {
    await using server = await startCrdServer()
    const bad = structuredClone(crd)
    bad.spec.versions[0].schema.openAPIV3Schema.properties.spec['x-kubernetes-validations'][0].rule =
      'self.nope'
    const { status, body } = await server.send(
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      bad,
    )
    assert.equal(status, 422)
    assert.match(body.message, /undefined field 'nope'/)
  })
})
