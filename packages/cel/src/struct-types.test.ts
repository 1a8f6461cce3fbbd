import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  compileExpression,
  createEnvironment,
  jsonPatchLibrary,
  kubernetesLibraries,
  mutationTypes,
  toJson,
  typeNameErrors,
} from './index.ts'

const environment = createEnvironment({
  libraries: [...kubernetesLibraries, jsonPatchLibrary],
  strictLiterals: true,
  structs: mutationTypes,
})

function evaluate(source: string) {
  const compiled = compileExpression(source, { environment })
  assert.ok(compiled.ok, compiled.ok ? '' : compiled.message)
  const result = compiled.program.evaluate({})
  assert.ok(result.ok, result.ok ? '' : result.error)
  return { value: result.value, cost: result.cost, type: compiled.type.name }
}

describe('struct literals', () => {
  const values: readonly (readonly [string, unknown])[] = [
    ['Object{}', {}],
    ['Object{spec: Object.spec{replicas: 3}}', { spec: { replicas: 3 } }],
    [
      'Object{spec: Object.spec{list: [Object.spec.list{name: "a", args: ["-g"]}]}}',
      { spec: { list: [{ name: 'a', args: ['-g'] }] } },
    ],
    ['Object{annotations: {"a": "b"}}', { annotations: { a: 'b' } }],
    ['Object{numbers: [1, 2, 3]}.numbers.sum()', 6],
    ['Object{spec: Object.spec{n: 3}} == Object{spec: Object.spec{n: 1 + 2}}', true],
    ['dyn(Object.a{n: 1}) == dyn(Object.b{n: 1})', false],
    ['Object{?a: optional.none(), ?b: optional.of(1)}', { b: 1 }],
    ['Object{?spec: optional.ofNonZeroValue(Object.spec{?n: Object{}.?n})}', {}],
    ['has(Object{a: 1}.a) && !has(Object{a: 1}.b)', true],
    ['type(Object{}) == Object', true],
    [
      'JSONPatch{op: "add", path: "/a/" + jsonpatch.escapeKey("x/y"), value: 3}',
      { op: 'add', path: '/a/x~1y', value: 3 },
    ],
    ['true ? JSONPatch{op: "remove", path: "/a"} : JSONPatch{op: "add"}', { op: 'remove', path: '/a' }],
  ]
  for (const [source, expected] of values) {
    it(`evaluates ${source}`, () => assert.deepEqual(toJson(evaluate(source).value), expected))
  }

  it('have the type of their name and cost 40', () => {
    const { cost, type } = evaluate('Object{a: 1}')
    assert.deepEqual({ cost, type }, { cost: 40, type: 'Object' })
  })

  const errors: readonly (readonly [string, string])[] = [
    ['Invalid{}', "undeclared reference to 'Invalid' (in container '')"],
    ['JSONPatch{op: 1}', "expected type of field 'op' is 'string' but provided type is 'int'"],
    ['JSONPatch{what: 1}', "undefined field 'what'"],
    ['int{}', "'int' is not a message type"],
    ['Object{?a: 1}', "expected type 'optional_type(int)' but found 'int'"],
  ]
  for (const [source, message] of errors) {
    it(`refuses ${source}`, () => {
      const compiled = compileExpression(source, { environment })
      assert.ok(!compiled.ok)
      assert.equal(compiled.issues[0]?.message, message)
    })
  }

  it('are unknown where the environment has none', () => {
    const compiled = compileExpression('Object{}')
    assert.ok(!compiled.ok)
    assert.match(compiled.message, /undeclared reference to 'Object'/)
  })

  it('are named by the fields that lead to them', () => {
    const right = evaluate(
      'Object{spec: Object.spec{list: [Object.spec.list{}], map: {"k": Object.spec.map{}}}}',
    )
    assert.deepEqual(typeNameErrors(right.value), [])
    const wrong = evaluate('Object{spec: Object.other{}}')
    assert.deepEqual(typeNameErrors(wrong.value), [
      'unexpected type name "Object.other", expected "Object.spec", which matches field name path from root Object type',
    ])
  })
})
