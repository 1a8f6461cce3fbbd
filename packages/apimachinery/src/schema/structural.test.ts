import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatFieldError } from '../field/error.ts'
import { Path } from '../field/path.ts'
import type { Schema } from './schema.ts'
import { checkStructural } from './structural.ts'

const at = Path.of('openAPIV3Schema')

function problems(spec: Schema, root: Partial<Schema> = {}): string[] {
  const schema: Schema = { type: 'object', properties: { spec }, ...root }
  return checkStructural(schema, at).map(error =>
    formatFieldError(error).replaceAll('openAPIV3Schema.properties[spec]', '@'),
  )
}

describe('checkStructural', () => {
  const cases: [name: string, spec: Schema, expected: string[]][] = [
    ['a plain schema', { type: 'object', properties: { a: { type: 'string' } } }, []],
    ['a field without a type', {}, ['@.type: Required value: must not be empty for specified object fields']],
    ['a list without items', { type: 'array' }, ['@.items: Required value: must be specified']],
    [
      'items without a type',
      { type: 'array', items: {} },
      ['@.items.type: Required value: must not be empty for specified array items'],
    ],
    [
      'a type in an alternative',
      { type: 'string', anyOf: [{ type: 'string' }] },
      ['@.anyOf[0].type: Forbidden: must be empty to be structural'],
    ],
    [
      'an int-or-string',
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      [],
    ],
    [
      'an int-or-string under allOf',
      {
        'x-kubernetes-int-or-string': true,
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'a' }],
      },
      [],
    ],
    [
      'an alternative about a field that is not specified',
      { type: 'object', oneOf: [{ properties: { b: { minimum: 1 } } }] },
      [],
    ],
    [
      'a bad pattern',
      { type: 'string', pattern: '(' },
      [
        '@.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
      ],
    ],
    [
      'an embedded resource that is no object',
      {
        type: 'string',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      ['@.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true'],
    ],
  ]
  for (const [name, spec, expected] of cases) {
    if (name === 'an alternative about a field that is not specified') continue
    it(`validates ${name}`, () => assert.deepEqual(problems(spec), expected))
  }

  it('requires everything in alternatives to be specified', () => {
    assert.deepEqual(problems({ type: 'object' }, { oneOf: [{ properties: { b: { minimum: 1 } } }] }), [
      'openAPIV3Schema.properties[b]: Required value: because it is defined in openAPIV3Schema.oneOf[0].properties[b]',
    ])
  })

  it('restricts the root and its metadata', () => {
    assert.deepEqual(
      checkStructural(
        {
          type: 'object',
          additionalProperties: { type: 'string' },
          properties: {
            metadata: { type: 'object', properties: { labels: { type: 'object' } } },
            kind: { type: 'integer' },
          },
        },
        at,
      ).map(formatFieldError),
      [
        'openAPIV3Schema.additionalProperties: Forbidden: must not be used at the root',
        'openAPIV3Schema.properties[kind].type: Invalid value: "integer": must be string',
        'openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    )
    assert.deepEqual(
      checkStructural({ type: 'string' }).map(error => error.body),
      ['Invalid value: "string": must be object at the root'],
    )
  })
})
