import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deepClone } from '@coxswain/apimachinery/json'
import { compileSchema, type Schema } from '@coxswain/apimachinery/schema'
import fc from 'fast-check'
import { type ReadDefinition, readDefinition } from '../definitions/read-definition.ts'
import { compareAllDefinitions, compareDefinitions } from './compare-definitions.ts'
import { compareSchemas } from './compare-schemas.ts'
import { formatFinding } from './finding.ts'

interface Change {
  readonly spec?: object
  readonly version?: object
  readonly schema?: Schema
  readonly status?: object
}

const base: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string', enum: ['a', 'b'], maxLength: 10 },
    size: { type: 'integer', default: 1 },
    ports: { type: 'array', items: { type: 'object', properties: { port: { type: 'integer' } } } },
  },
}

function definition({ spec, version, schema = base, status }: Change = {}): ReadDefinition {
  return readDefinition({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Foo', plural: 'foos', shortNames: ['fo'] },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          selectableFields: [{ jsonPath: '.spec.name' }],
          additionalPrinterColumns: [{ name: 'Name', type: 'string', jsonPath: '.spec.name' }],
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
          ...version,
        },
      ],
      ...spec,
    },
    ...(status && { status }),
  })
}

const v2 = { name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
const { name, size, ports } = base.properties!
const withField = (fields: Record<string, Schema>): Schema => ({
  ...base,
  properties: { ...base.properties, ...fields },
})

describe('comparing definitions', () => {
  const cases: readonly (readonly [string, Change, RegExp, Change?])[] = [
    [
      'a field that was removed',
      { schema: { ...base, properties: { name: name!, size: size! } } },
      /^error: .* v1: spec\.ports: the field was removed/,
    ],
    [
      'a narrower type',
      { schema: withField({ name: { type: 'integer' } }) },
      /^error: .*spec\.name: the type was string and is integer/,
    ],
    [
      'a required field',
      { schema: { ...base, required: ['name'] } },
      /^error: .*spec\.name: the field is required now/,
    ],
    [
      'an enum value',
      { schema: withField({ name: { ...name!, enum: ['a'] } }) },
      /^error: .*"b" is no value of the enum any more\. Kubernetes 1\.33 and later accept updates/,
    ],
    [
      'a bound',
      { schema: withField({ name: { ...name!, maxLength: 5 } }) },
      /^error: .*maxLength was 10 and is 5/,
    ],
    [
      'a pattern',
      { schema: withField({ name: { ...name!, pattern: '^a' } }) },
      /^error: .*pattern \^a is new/,
    ],
    [
      'a rule',
      { schema: { ...base, 'x-kubernetes-validations': [{ rule: 'self.size > 1' }] } },
      /^error: .*spec: the rule self\.size > 1 is new.*1\.33/,
    ],
    [
      'a transition rule',
      { schema: { ...base, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
      /^error: .*updates of existing objects, too/,
    ],
    [
      'a default',
      { schema: withField({ size: { type: 'integer', default: 2 } }) },
      /^warning: .*spec\.size: the default was 1 and is 2/,
    ],
    [
      'a list type',
      {
        schema: withField({
          ports: { ...ports!, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port'] },
        }),
      },
      /^error: .*spec\.ports: the list type was atomic and is map with keys port/,
    ],
    ['the scope', { spec: { scope: 'Cluster' } }, /^error: foos\.example\.com: spec\.scope: /],
    [
      'the kind',
      { spec: { names: { kind: 'Bar', plural: 'foos', shortNames: ['fo'] } } },
      /^error: .*spec\.names\.kind: the kind was Foo and is Bar/,
    ],
    [
      'a short name',
      { spec: { names: { kind: 'Foo', plural: 'foos' } } },
      /^warning: .*spec\.names\.shortNames: fo no longer works/,
    ],
    [
      'a stored version',
      { spec: { versions: [v2] } },
      /^error: .*v1: spec\.versions: the version was removed while objects may be stored in it \(it was the storage version\)/,
    ],
    [
      'a version that is still stored',
      { spec: { versions: [v2] } },
      /^error: .*\(status\.storedVersions names it\).*set status\.storedVersions to \["v2"\]/,
      { status: { storedVersions: ['v1', 'v2'] } },
    ],
    [
      'a migrated version',
      { spec: { versions: [v2] } },
      /^error: .*the version was removed: manifests and clients/,
      { status: { storedVersions: ['v2'] } },
    ],
    [
      'a version that is not served',
      { version: { served: false } },
      /^error: .*v1: spec\.versions: the version is not served any more/,
    ],
    [
      'the status subresource',
      { version: { subresources: {} } },
      /^error: .*subresources\.status: the subresource was removed/,
    ],
    [
      'a selectable field',
      { version: { selectableFields: [] } },
      /^error: .*\.spec\.name is no longer selectable/,
    ],
    [
      'a column',
      { version: { additionalPrinterColumns: [] } },
      /^note: .*the column of \.spec\.name is no longer printed/,
    ],
    [
      'the conversion',
      { spec: { versions: [{ ...v2, storage: false }, ...definition().spec.versions] } },
      /^error: .*spec\.conversion: the conversion webhook was removed/,
      { spec: { conversion: { strategy: 'Webhook' } } },
    ],
  ]
  for (const [title, change, expected, old] of cases)
    it(`finds ${title}`, () => {
      const found = compareDefinitions(definition(old), definition(change)).map(formatFinding)
      assert.equal(found.length, 1, found.join('\n'))
      assert.match(found[0]!, expected)
    })

  it('finds nothing where everything that was valid still is', () => {
    const wider = withField({
      name: { type: 'string' },
      size: { type: 'number', default: 1 },
      more: { type: 'string' },
    })
    assert.deepEqual(compareDefinitions(definition(), definition({ schema: wider })), [])
    assert.deepEqual(compareAllDefinitions([], [definition()]), [])
  })

  it('finds a definition that was removed', () => {
    assert.match(
      formatFinding(compareAllDefinitions([definition()], [])[0]!),
      /^error: foos\.example\.com: metadata\.name: /,
    )
  })
})

const number = fc.integer({ min: 0, max: 4 })
const names = ['a', 'b', 'c'] as const
const values = fc.subarray(['', 'x', 'yy', '3', 'zzzz'], { minLength: 1 })

const leaf: fc.Arbitrary<Schema> = fc.oneof(
  fc.record(
    {
      type: fc.constant('string' as const),
      maxLength: number,
      minLength: fc.constantFrom(0, 1),
      enum: values,
      pattern: fc.constantFrom('^[a-z]*$', '^.?$'),
      format: fc.constantFrom('date', 'byte'),
      nullable: fc.boolean(),
      default: fc.constant('x'),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constantFrom('integer' as const, 'number' as const),
      minimum: number,
      maximum: number,
      exclusiveMinimum: fc.boolean(),
      multipleOf: fc.constantFrom(1, 2, 3),
      nullable: fc.boolean(),
    },
    { requiredKeys: ['type'] },
  ),
  fc.constant<Schema>({ type: 'boolean' }),
  fc.constant<Schema>({ 'x-kubernetes-int-or-string': true }),
  fc.constant<Schema>({ 'x-kubernetes-preserve-unknown-fields': true }),
)

/** Servers reject a default that its own schema rejects. */
const validLeaf = leaf.map(
  ({ default: value, ...schema }): Schema =>
    value === undefined || compileSchema(schema).validate(value).length > 0
      ? schema
      : { ...schema, default: value },
)

const schemas = fc.letrec<{ node: Schema; object: Schema }>(tie => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    validLeaf,
    tie('object'),
    fc.record(
      {
        type: fc.constant('array' as const),
        items: tie('node'),
        minItems: fc.constantFrom(0, 1),
        maxItems: number,
      },
      { requiredKeys: ['type', 'items'] },
    ),
    fc.record({
      type: fc.constant('array' as const),
      items: fc.constant<Schema>({ type: 'string' }),
      'x-kubernetes-list-type': fc.constantFrom('set' as const, 'atomic' as const),
    }),
    fc.record(
      { type: fc.constant('object' as const), additionalProperties: tie('node'), maxProperties: number },
      { requiredKeys: ['type', 'additionalProperties'] },
    ),
  ),
  object: fc.record(
    {
      type: fc.constant('object' as const),
      properties: fc.dictionary(fc.constantFrom(...names), tie('node'), { maxKeys: 3 }),
      required: fc.subarray([...names]),
      'x-kubernetes-preserve-unknown-fields': fc.constant(true),
      oneOf: fc.constantFrom<Schema[]>([{ required: ['a'] }, { required: ['b'] }]),
      minProperties: fc.constantFrom(0, 1),
    },
    { requiredKeys: ['type', 'properties'] },
  ),
})).object

const json: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>('', 'x', 'yy', '3', 'zzzz', 'c', 0, 1, 2, 3, 1.5, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 3 }),
  ),
})).value

/** A value that the schema accepts, mostly. */
function valueFor(schema: Schema): fc.Arbitrary<unknown> {
  const plain = (): fc.Arbitrary<unknown> => {
    switch (schema.type) {
      case 'string':
        return fc.constantFrom(...(schema.enum ?? ['', 'x', 'yy', '3', 'zzzz', 'c']))
      case 'integer':
        return number
      case 'number':
        return fc.constantFrom(0, 1, 1.5, 2, 3, 4)
      case 'boolean':
        return fc.boolean()
      case 'array':
        return fc.array(valueFor(schema.items!), { maxLength: 3 })
      case 'object': {
        if (typeof schema.additionalProperties === 'object')
          return fc.dictionary(fc.constantFrom(...names), valueFor(schema.additionalProperties), {
            maxKeys: 2,
          })
        const fields = Object.entries(schema.properties ?? {}).map(([key, property]) => [
          key,
          valueFor(property),
        ])
        const known = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
          requiredKeys: [],
        })
        if (schema['x-kubernetes-preserve-unknown-fields'] !== true) return known
        return fc
          .tuple(fc.dictionary(fc.constantFrom(...names), json, { maxKeys: 2 }), known)
          .map(([more, own]) => ({ ...more, ...own }))
      }
      default:
        return schema['x-kubernetes-int-or-string'] === true ? fc.constantFrom<unknown>(1, 'x') : json
    }
  }
  return schema.nullable === true ? fc.oneof(fc.constant(null), plain()) : plain()
}

/** What a server does with a value: errors by field, or else fields that it drops; the empty path is the object as a whole. */
function serve(
  schema: Schema,
  value: unknown,
): { readonly problems: readonly string[]; readonly value: unknown } {
  const compiled = compileSchema(schema)
  const object = deepClone(value)
  const pruned = compiled.prune(object)
  const whole = JSON.stringify(object)
  compiled.dropNulls(object)
  const hasDropped = JSON.stringify(object) !== whole
  compiled.applyDefaults(object)
  const errors = compiled.validate(object).map(({ field }) => field)
  // What is missing because it was dropped is a consequence.
  const problems = pruned.length > 0 ? pruned : hasDropped ? errors.map(() => '') : errors
  return { problems, value: object }
}

/** The names on a path, without indexes and keys of maps: `a[0].b` and `a[].b` are the same. */
const stepsOf = (path: string) =>
  path
    .replaceAll(/\[[^\]]*\]|\{\}/g, '')
    .split('.')
    .filter(step => step !== '' && step !== '<nil>')

const runs = Number(process.env.TORTURE_RUNS ?? 2_000)
const seed = Number(process.env.TORTURE_SEED ?? 1)

describe('what a new schema rejects', () => {
  it('is found, wherever an object that was valid proves it', () => {
    let broken = 0
    const pairs = fc
      .tuple(schemas, schemas)
      .chain(([old, other]) =>
        fc.tuple(fc.constant(old), fc.constantFrom(other, mix(old, other)), valueFor(old)),
      )
    fc.assert(
      fc.property(pairs, ([old, next, value]) => {
        const before = serve(old, value)
        if (before.problems.length > 0) return
        const found = compareSchemas(old, next)
        for (const problem of serve(next, before.value).problems) {
          broken++
          const steps = stepsOf(problem)
          const isCovered = found.some(({ path }) => {
            const place = stepsOf(path)
            return (
              place.every((step, index) => step === steps[index]) ||
              steps.every((step, index) => step === place[index])
            )
          })
          assert.ok(isCovered, `${problem}: ${JSON.stringify({ old, next, value, found })}`)
        }
      }),
      { numRuns: runs, seed },
    )
    assert.ok(broken > runs / 20, `only ${broken} values were rejected`)
  })
})

/** The old schema with one of the other's fields: a small change. */
function mix(old: Schema, other: Schema): Schema {
  const [first] = Object.entries(other.properties ?? {})
  return first === undefined
    ? { ...old, required: other.required ?? [] }
    : { ...old, properties: { ...old.properties, [first[0]]: first[1] } }
}
