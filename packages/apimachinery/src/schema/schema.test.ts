import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '../errors.ts'
import { formatFieldError } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { readJson } from '../json/read-json.ts'
import { compileSchema } from './compile.ts'
import type { Schema } from './schema.ts'
import type { ValidateOptions } from './validate.ts'

function object(properties: Record<string, Schema>, rest: Partial<Schema> = {}): Schema {
  return { type: 'object', properties, ...rest }
}

function errors(schema: Schema, value: unknown, options?: ValidateOptions): string[] {
  return compileSchema(schema).validate(value, options).map(formatFieldError)
}

describe('validate', () => {
  const int = (rest: Partial<Schema> = {}): Schema => ({ type: 'integer', ...rest })
  const text = (rest: Partial<Schema> = {}): Schema => ({ type: 'string', ...rest })

  const cases: [name: string, schema: Schema, value: unknown, expected: string[]][] = [
    [
      'a wrong type',
      text(),
      5,
      ['spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"'],
    ],
    ['null', text(), null, ['spec.x: Invalid value: "null": spec.x in body must be of type string: "null"']],
    ['null that is allowed', text({ nullable: true }), null, []],
    [
      'a fraction for an integer',
      int({ format: 'int32' }),
      1.5,
      [
        'spec.x: Invalid value: "float64": spec.x in body must be of type int32: "float64"',
        '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x',
      ],
    ],
    ['a whole double', int(), 3, []],
    ['an int64', int({ format: 'int64' }), 9223372036854775807n, []],
    [
      'more than an int32',
      int({ format: 'int32', maximum: 100 }),
      3_000_000_000,
      [
        '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x',
        'spec.x: Invalid value: 3000000000: spec.x in body should be less than or equal to 100',
      ],
    ],
    [
      'bounds',
      { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
      1,
      ['spec.x: Invalid value: 1: spec.x in body should be less than 1'],
    ],
    [
      'a bigint against bounds',
      int({ maximum: 10, multipleOf: 10 }),
      9007199254740993n,
      [
        'spec.x: Invalid value: 9007199254740993: spec.x in body should be a multiple of 10',
        'spec.x: Invalid value: 9007199254740993: spec.x in body should be less than or equal to 10',
      ],
    ],
    ['a length in characters', text({ maxLength: 2 }), '\u{1F600}\u{1F600}', []],
    ['too long', text({ maxLength: 2 }), 'abc', ['spec.x: Too long: may not be more than 2 bytes']],
    [
      'too short',
      text({ minLength: 2 }),
      'a',
      ['spec.x: Invalid value: "a": spec.x in body should be at least 2 chars long'],
    ],
    [
      'a pattern',
      text({ pattern: '^[a-z]+$' }),
      'A',
      ['spec.x: Invalid value: "A": spec.x in body should match \'^[a-z]+$\''],
    ],
    [
      'an enum',
      text({ enum: ['a', 'b'] }),
      'c',
      ['spec.x: Unsupported value: "c": supported values: "a", "b"'],
    ],
    [
      'a format',
      text({ format: 'ipv4' }),
      'x',
      ['spec.x: Invalid value: "x": spec.x in body must be of type ipv4: "x"'],
    ],
    ['an unknown format', text({ format: 'made-up' }), 'x', []],
    [
      'list sizes',
      { type: 'array', items: int(), maxItems: 1, minItems: 1 },
      [1, 2],
      ['spec.x: Too many: 2: must have at most 1 item'],
    ],
    [
      'a map',
      { type: 'object', additionalProperties: int(), maxProperties: 1 },
      { a: 'b', c: 1 },
      [
        'spec.x: Too many: 2: must have at most 1 item',
        'spec.x.a: Invalid value: "string": spec.x.a in body must be of type integer: "string"',
      ],
    ],
    [
      'anyOf',
      object({ p: text(), q: text() }, { anyOf: [{ required: ['p'] }, { required: ['q'] }] }),
      {},
      [
        '<nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)',
        'spec.x.p: Required value',
      ],
    ],
    [
      'oneOf',
      object({ p: text(), q: text() }, { oneOf: [{ required: ['p'] }, { required: ['q'] }] }),
      { p: '', q: '' },
      [
        '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
    [
      'not',
      int({ not: { enum: [0] } }),
      0,
      ['<nil>: Invalid value: "": "spec.x" must not validate the schema (not)'],
    ],
    [
      'allOf',
      int({ allOf: [{ minimum: 5 }, { maximum: 9 }] }),
      1,
      [
        'spec.x: Invalid value: 1: spec.x in body should be greater than or equal to 5',
        '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf)',
      ],
    ],
    [
      'a list map with the wrong items',
      {
        type: 'array',
        items: object({}),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
      [7],
      [
        'spec.x[0]: Invalid value: "integer": spec.x[0] in body must be of type object: "integer"',
        'spec.x[0]: Invalid value: 7: must be an object for an array of list-type map',
      ],
    ],
  ]
  for (const [name, schema, value, expected] of cases) {
    it(`reports ${name} as the API server does`, () => {
      assert.deepEqual(errors(object({ spec: object({ x: schema }) }), { spec: { x: value } }), expected)
    })
  }

  it('reports all errors, not only the first', () => {
    const schema = object({ a: text(), b: int() }, { required: ['c', 'd'] })
    assert.equal(errors(schema, { a: 1, b: 'x' }).length, 4)
  })

  it('names fields from the value and paths from the given base', () => {
    assert.deepEqual(errors(object({ n: int() }), { n: 'x' }, { path: Path.of('status') }), [
      'status.n: Invalid value: "string": n in body must be of type integer: "string"',
    ])
  })

  it('accepts invalid values that an update has not changed', () => {
    const schema = object({
      a: int({ minimum: 5 }),
      list: {
        type: 'array',
        items: object({ k: text(), v: int({ minimum: 5 }) }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
    })
    const old = { a: 1, list: [{ k: 'x', v: 1 }] }
    assert.deepEqual(
      errors(
        schema,
        {
          a: 1,
          list: [
            { k: 'new', v: 9 },
            { k: 'x', v: 1 },
          ],
        },
        { old },
      ),
      [],
    )
    assert.deepEqual(errors(schema, { a: 2, list: [{ k: 'x', v: 2 }] }, { old }), [
      'a: Invalid value: 2: a in body should be greater than or equal to 5',
      'list[0].v: Invalid value: 2: list[0].v in body should be greater than or equal to 5',
    ])
  })

  it('follows recursive schemas, and rejects values that are too deep for them', () => {
    const node: { type: 'object'; properties: Record<string, Schema> } = {
      type: 'object',
      properties: { v: int() },
    }
    node.properties.next = node
    assert.deepEqual(errors(node, { next: { next: { v: 'x' } } }), [
      'next.next.v: Invalid value: "string": next.next.v in body must be of type integer: "string"',
    ])
    let deep: object = {}
    for (let i = 0; i < 10_000; i++) deep = { next: deep }
    try {
      errors(node, deep)
    } catch (error) {
      assert.ok(isMachineryError(error, 'TooDeep'))
    }
  })
})

describe('applyDefaults', () => {
  const schema = object({
    a: { type: 'integer', default: 1 },
    maybe: { type: 'string', nullable: true, default: 'x' },
    nested: object({ b: { type: 'integer', default: 2 } }, { default: { c: 3 } }),
    lone: object({ d: { type: 'integer', default: 4 } }),
    list: { type: 'array', items: object({ e: { type: 'integer', default: 5 } }) },
    map: { type: 'object', additionalProperties: object({ f: { type: 'integer', default: 6 } }) },
    __proto__x: { type: 'integer', default: 7 },
  })

  it('fills in nested objects, list items and map values, but makes no object of its own', () => {
    const value = { list: [{}, { e: 0 }], map: { k: {} } }
    compileSchema(schema).applyDefaults(value)
    assert.deepEqual(value, {
      list: [{ e: 5 }, { e: 0 }],
      map: { k: { f: 6 } },
      a: 1,
      maybe: 'x',
      nested: { b: 2, c: 3 },
      __proto__x: 7,
    })
  })

  it('replaces null only where null is not allowed', () => {
    const value = { a: null, maybe: null }
    compileSchema(schema).applyDefaults(value)
    assert.equal(value.a, 1)
    assert.equal(value.maybe, null)
  })

  it('gives every object its own copy', () => {
    const first: { nested?: object } = {}
    const second: { nested?: object } = {}
    compileSchema(schema).applyDefaults(first)
    compileSchema(schema).applyDefaults(second)
    assert.notEqual(first.nested, second.nested)
    assert.deepEqual(schema.properties!.nested!.default, { c: 3 })
  })

  it('leaves null without a default to dropNulls', () => {
    const value = { a: null, lone: { d: null, z: null }, list: [null] }
    compileSchema(object({ ...schema.properties, lone: object({ z: { type: 'string' } }) })).dropNulls(value)
    assert.deepEqual(value, { a: null, lone: { d: null }, list: [null] })
  })
})

describe('prune', () => {
  const schema = object({
    spec: object({
      known: { type: 'string' },
      list: { type: 'array', items: object({ a: { type: 'string' } }) },
      free: { 'x-kubernetes-preserve-unknown-fields': true, type: 'object', properties: { in: object({}) } },
      map: { type: 'object', additionalProperties: true },
      template: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: object({}) } },
    }),
  })

  it('removes unspecified fields and reports them', () => {
    const value = {
      apiVersion: 'v1',
      kind: 'K',
      metadata: { name: 'x' },
      spec: {
        known: 'x',
        extra: 1,
        list: [{ a: '', b: 1 }],
        free: { any: { x: 1 }, in: { y: 1 } },
        map: { k: { z: 1 } },
      },
    }
    assert.deepEqual(compileSchema(schema).prune(value, { resourceRoot: true }), [
      'spec.extra',
      'spec.list[0].b',
      'spec.free.in.y',
      'spec.map.k.z',
    ])
    assert.deepEqual(value.spec, {
      known: 'x',
      list: [{ a: '' }],
      free: { any: { x: 1 }, in: {} },
      map: { k: {} },
    })
    assert.deepEqual(value.metadata, { name: 'x' })
  })

  it('prunes the metadata of embedded resources by what ObjectMeta has', () => {
    const value = {
      spec: { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', zzz: 1 }, spec: {} } },
    }
    const compiled = compileSchema(schema)
    assert.deepEqual(compiled.prune(value, { resourceRoot: true }), [])
    assert.deepEqual(compiled.coerceEmbedded(value).unknown, ['spec.template.metadata.zzz'])
    assert.deepEqual(value.spec.template.metadata, { name: 'a' })
    assert.deepEqual(compiled.validateEmbedded(value), [])
    assert.deepEqual(
      compiled
        .validateEmbedded({ spec: { template: { metadata: { labels: { 'a b': '' } } } } })
        .map(e => e.field),
      ['spec.template.apiVersion', 'spec.template.kind', 'spec.template.metadata.labels'],
    )
    assert.equal(
      compiled.coerceEmbedded({ spec: { template: { metadata: { labels: 1 } } } }).error?.body,
      'Invalid value: {"labels":1}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string',
    )
  })

  it('treats __proto__ as any unknown field', () => {
    const value = JSON.parse('{"spec":{"__proto__":{"x":1}}}') as { spec: object }
    assert.deepEqual(compileSchema(schema).prune(value, { resourceRoot: true }), ['spec.__proto__'])
    assert.deepEqual(Object.keys(value.spec), [])
  })
})

describe('decode', () => {
  const spec: Schema = object(
    {
      replicas: { type: 'integer', format: 'int32' },
      names: { type: 'array', items: { type: 'string' } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      at: { type: 'string', format: 'date-time', name: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time' },
      port: { 'x-kubernetes-int-or-string': true },
      data: { type: 'string', format: 'byte' },
    },
    { name: 'io.k8s.api.apps.v1.DeploymentSpec' },
  )
  const schema = object({ spec }, { name: 'io.k8s.api.apps.v1.Deployment' })

  const bad: Record<string, string> = {
    '{"spec":"x"}':
      'json: cannot unmarshal string into Go struct field Deployment.spec of type v1.DeploymentSpec',
    '{"spec":{"replicas":"3"}}':
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    '{"spec":{"replicas":3000000000}}':
      'json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32',
    '{"spec":{"replicas":1.0}}':
      'json: cannot unmarshal number 1.0 into Go struct field DeploymentSpec.spec.replicas of type int32',
    '{"spec":{"names":{}}}':
      'json: cannot unmarshal object into Go struct field DeploymentSpec.spec.names of type []string',
    '{"spec":{"labels":{"a":1}}}':
      'json: cannot unmarshal number into Go struct field DeploymentSpec.spec.labels of type string',
    '{"spec":{"port":true}}': 'json: cannot unmarshal bool into Go value of type int32',
    '{"spec":{"at":"x"}}': 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    '{"spec":{"data":"a*=="}}': 'illegal base64 data at input byte 1',
    '[]': 'json: cannot unmarshal array into Go value of type v1.Deployment',
  }
  for (const [text, message] of Object.entries(bad)) {
    it(`rejects ${text} in the words of Go`, () => {
      const { value, literals } = readJson(new TextEncoder().encode(text))
      assert.equal(compileSchema(schema).decode(value, literals === undefined ? {} : { literals }), message)
    })
  }

  it('treats null as absent, and as the zero value in lists and maps', () => {
    const value = { spec: { replicas: null, names: ['a', null], labels: { x: null }, port: '80%' } }
    assert.equal(compileSchema(schema).decode(value), undefined)
    assert.deepEqual(value, { spec: { names: ['a', ''], labels: { x: '' }, port: '80%' } })
  })
})
