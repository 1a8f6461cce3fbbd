import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatFieldError } from '../field/error.ts'
import { validateCrdSchema } from './crd-schema.ts'
import type { Schema } from './schema.ts'

/** The errors of the schema of `spec.a`, paths from there. */
function problems(a: unknown, root: Partial<Schema> = {}): string[] {
  const schema: Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: a as Schema } } },
    ...root,
  }
  return validateCrdSchema(schema).map(error =>
    formatFieldError(error).replace('properties[spec].properties[a]', '@'),
  )
}

const text: Schema = { type: 'string' }
const list = 'x-kubernetes-list-type'
const keys = 'x-kubernetes-list-map-keys'
const rules = 'x-kubernetes-validations'

describe('validateCrdSchema', () => {
  const cases: [name: string, schema: unknown, expected: string[]][] = [
    ['a good schema', { type: 'array', items: text, [list]: 'set' }, []],
    [
      'an unknown type',
      { type: 'text' },
      [
        '@.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    ['a reference', { $ref: '#/x' }, ['@.$ref: Forbidden: $ref is not supported']],
    [
      'a list of item schemas',
      { type: 'array', items: [text] },
      ['@.items: Forbidden: items must be a schema object and not an array'],
    ],
    [
      '$schema',
      { ...text, $schema: 'x' },
      ['<nil>: Invalid value: "": OpenAPIV3Schema \'schema\' is not supported'],
    ],
    [
      'unique items',
      { type: 'array', items: text, uniqueItems: true },
      [
        '@.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ],
    ],
    [
      'properties beside additionalProperties',
      { type: 'object', properties: { x: text }, additionalProperties: text },
      ['@.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
    ],
    [
      'an unknown list type',
      { type: 'array', items: text, [list]: 'bag' },
      ['@.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"'],
    ],
    [
      'a list type on a string',
      { ...text, [list]: 'set' },
      ['@.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified'],
    ],
    [
      'keys without a list map',
      { type: 'array', items: text, [keys]: ['k'] },
      ['@.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty'],
    ],
    [
      'a key that may be absent',
      {
        type: 'array',
        items: { type: 'object', properties: { k: text } },
        [list]: 'map',
        [keys]: ['k', 'k'],
      },
      [
        '@.x-kubernetes-list-map-keys: Invalid value: ["k","k"]: must not contain duplicate entries',
        '@.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        '@.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      ],
    ],
    [
      'a default of the wrong type',
      { ...text, default: 1 },
      ['@.default: Invalid value: "integer":  in body must be of type string: "integer"'],
    ],
    [
      'a default with unknown fields',
      { type: 'object', properties: { x: text }, default: { x: '1', zz: 2 } },
      ['@.default: Invalid value: {"x":"1","zz":2}: must not have unknown fields'],
    ],
    [
      'a rule without text',
      { ...text, [rules]: [{ rule: ' ' }] },
      ['@.x-kubernetes-validations[0].rule: Required value: rule is not specified'],
    ],
    [
      'a rule with an unknown reason and a path to nowhere',
      {
        type: 'object',
        properties: { b: text },
        [rules]: [
          { rule: 'true', reason: 'Because', fieldPath: '.c' },
          { rule: 'true', fieldPath: '.b' },
        ],
      },
      [
        '@.x-kubernetes-validations[0].reason: Unsupported value: "Because": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
        '@.x-kubernetes-validations[0].fieldPath: Invalid value: ".c": must be a valid path',
      ],
    ],
  ]
  for (const [name, schema, expected] of cases) {
    it(`validates ${name} as the API server does`, () => assert.deepEqual(problems(schema), expected))
  }

  it('allows no defaults in the metadata of the object', () => {
    assert.deepEqual(
      validateCrdSchema({ type: 'object', properties: { metadata: { type: 'object', default: {} } } }).map(
        formatFieldError,
      ),
      ['properties[metadata].default: Forbidden: must not be set in top-level metadata'],
    )
  })

  it('allows no null for the object itself', () => {
    assert.deepEqual(problems(text, { nullable: true }), [
      'nullable: Forbidden: nullable cannot be true at the root',
    ])
  })
})
