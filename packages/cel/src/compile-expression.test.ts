import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Schema } from '@coxswain/apimachinery/schema'
import {
  authorizerType,
  authorizerValue,
  bindingsLibrary,
  type CompileOptions,
  compileExpression,
  costLimits,
  createEnvironment,
  dynVariable,
  type Evaluation,
  encodersLibrary,
  escapeName,
  jsonPatchLibrary,
  kubernetesLibraries,
  mathLibrary,
  optionalVariable,
  schemaVariable,
  toJson,
  type VariableDeclaration,
} from './index.ts'

function declare(schema: Schema, isRoot = false): VariableDeclaration {
  const declared = schemaVariable(schema, { isRoot })
  assert.ok(declared)
  return declared
}

function evaluate(
  source: string,
  values: Record<string, unknown> = {},
  options: CompileOptions = {},
  costLimit?: number,
): Evaluation {
  const compilation = compileExpression(source, options)
  assert.ok(compilation.ok, compilation.ok ? '' : compilation.message)
  return compilation.program.evaluate(values, costLimit === undefined ? {} : { costLimit })
}

function json(source: string, values: Record<string, unknown> = {}, options: CompileOptions = {}): unknown {
  const result = evaluate(source, values, options)
  return result.ok ? toJson(result.value) : `error: ${result.error}`
}

describe('compilation', () => {
  it('shows the place of a problem as cel-go does', () => {
    const compilation = compileExpression('1 == x')
    assert.ok(!compilation.ok)
    assert.equal(
      compilation.message,
      "ERROR: <input>:1:6: undeclared reference to 'x' (in container '')\n | 1 == x\n | .....^",
    )
    assert.deepEqual(compilation.issues, [
      { line: 1, column: 6, message: "undeclared reference to 'x' (in container '')" },
    ])
  })

  it('counts columns of wide characters once and marks them wide', () => {
    const compilation = compileExpression("'é' + y")
    assert.ok(!compilation.ok)
    assert.equal(compilation.message.split('\n')[2], ' | .．....^')
  })

  it('reports every problem, in order of place', () => {
    const compilation = compileExpression('a +\nb')
    assert.ok(!compilation.ok)
    assert.deepEqual(
      compilation.issues.map(i => [i.line, i.column]),
      [
        [1, 1],
        [2, 1],
      ],
    )
  })

  it('tells the first hundred problems, and how many more there are', () => {
    const unreadable = compileExpression('= '.repeat(40_000))
    assert.ok(!unreadable.ok)
    assert.equal(unreadable.issues.length, 100)
    assert.match(unreadable.message, /\n1 more errors were truncated$/)
    const untyped = compileExpression(Array.from({ length: 150 }, (_, index) => `x${index}`).join(' + '))
    assert.ok(!untyped.ok)
    assert.match(untyped.message, /\n50 more errors were truncated$/)
  })

  it('tells a constant that cannot be computed from a type error', () => {
    const compilation = compileExpression("int('x') == 1")
    assert.ok(!compilation.ok)
    assert.equal(compilation.stage, 'program')
  })

  it('bounds nesting, chains and length instead of overflowing the stack', () => {
    for (const source of [
      '('.repeat(300),
      `${'['.repeat(300)}${']'.repeat(300)}`,
      Array(5000).fill('1').join('+'),
      `{}${'.a'.repeat(5000)}`,
    ]) {
      assert.equal(compileExpression(source).ok, false)
    }
    assert.equal(compileExpression(`'${'x'.repeat(100_001)}'`).ok, false)
  })

  it('knows the names of Object.prototype for what they are', () => {
    for (const source of ['constructor', 'toString()', "'a'.constructor('b', 'c')", '{}.hasOwnProperty']) {
      const compilation = compileExpression(source)
      if (compilation.ok) assert.equal(compilation.program.evaluate({}).ok, false, source)
    }
  })
})

describe('schemas', () => {
  const schema: Schema = {
    type: 'object',
    properties: {
      replicas: { type: 'integer' },
      ratio: { type: 'number' },
      'app.kubernetes.io/name': { type: 'string' },
      namespace: { type: 'string' },
      anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      untyped: { 'x-kubernetes-preserve-unknown-fields': true },
      resource: { type: 'object', 'x-kubernetes-embedded-resource': true },
    },
  }
  const self = declare(schema, true)
  const options: CompileOptions = { variables: { self } }

  it('makes numbers doubles and integers ints whatever JSON says', () => {
    assert.equal(
      json('self.ratio / 2.0 == 0.5 && self.replicas / 2 == 1', { self: { ratio: 1, replicas: 3 } }, options),
      true,
    )
  })

  it('escapes names', () => {
    assert.equal(escapeName('app.kubernetes.io/name'), 'app__dot__kubernetes__dot__io__slash__name')
    assert.equal(escapeName('a__b-c'), 'a__underscores__b__dash__c')
    assert.equal(escapeName('1a'), undefined)
    assert.equal(escapeName('a b'), undefined)
    const object = { 'app.kubernetes.io/name': 'x', namespace: 'y' }
    const source = 'self.app__dot__kubernetes__dot__io__slash__name + self.__namespace__ + self.namespace'
    assert.equal(json(source, { self: object }, options), 'xyy')
  })

  it('adds the metadata every resource has', () => {
    assert.equal(json('self.metadata.name', { self: { metadata: { name: 'n' } } }, options), 'n')
    assert.equal(json('self.resource.kind', { self: { resource: { kind: 'K' } } }, options), 'K')
    assert.equal(compileExpression('self.metadata.labels', options).ok, false)
  })

  it('does not see what has no type', () => {
    assert.equal(compileExpression('self.untyped', options).ok, false)
    assert.equal(compileExpression('self.anything.x', options).ok, false)
    assert.equal(schemaVariable({ 'x-kubernetes-preserve-unknown-fields': true }), undefined)
  })

  it('reports data that does not fit the schema', () => {
    assert.equal(
      json('self.replicas == 1', { self: { replicas: 'x' } }, options),
      'error: invalid data, expected int, got string',
    )
  })

  it('does not loop on a schema that contains itself', () => {
    const node: { -readonly [K in keyof Schema]: Schema[K] } = { type: 'object' }
    node.properties = { name: { type: 'string' }, child: node }
    assert.equal(json('self.name', { self: { name: 'a' } }, { variables: { self: declare(node) } }), 'a')
  })

  it('offers an optional oldSelf', () => {
    const variables = { self, oldSelf: optionalVariable(self) }
    const source = 'oldSelf.?replicas.orValue(0) < self.replicas'
    assert.equal(json(source, { self: { replicas: 1 }, oldSelf: null }, { variables }), true)
    assert.equal(json(source, { self: { replicas: 1 }, oldSelf: { replicas: 2 } }, { variables }), false)
  })

  it('takes dynamic variables as JSON', () => {
    const variables = { object: dynVariable }
    assert.equal(
      json('object.a[0].b == 1 && object.c == 1.5', { object: { a: [{ b: 1 }], c: 1.5 } }, { variables }),
      true,
    )
    assert.equal(json('object.x', { object: {} }, { variables }), 'error: no such key: x')
  })
})

describe('cost', () => {
  const list: Schema = { type: 'array', items: { type: 'integer' } }

  it('is estimated from the bounds of the schema', () => {
    const bounded = compileExpression('self.all(x, x > 0)', {
      variables: { self: declare({ ...list, maxItems: 10 }) },
    })
    const free = compileExpression('self.all(x, self.all(y, x != y))', { variables: { self: declare(list) } })
    assert.ok(bounded.ok && free.ok)
    assert.ok(bounded.cost.max < 100)
    assert.ok(free.cost.max > costLimits.perRule)
  })

  it('stops an evaluation at the limit, whatever absorbs errors', () => {
    const self = Array.from({ length: 1000 }, (_, i) => i)
    const variables = { self: declare(list) }
    const result = evaluate('self.all(x, self.all(y, x + y >= 0)) || true', { self }, { variables })
    assert.ok(!result.ok && result.costExceeded)
    assert.equal(result.error, 'operation cancelled: actual cost limit exceeded')
    assert.ok(result.cost < costLimits.perCall * 1.01)
  })

  it('counts calls whose operands failed', () => {
    const variables = { format: dynVariable }
    assert.equal(json("format.validate('x').hasValue() || true", {}, { variables }), true)
  })

  it('can be limited per call', () => {
    const result = evaluate('1 + 1 + 1', {}, {}, 1)
    assert.ok(!result.ok && result.costExceeded)
  })

  it('keeps a catastrophic pattern linear', () => {
    const text = `${'a'.repeat(40)}!`
    assert.equal(json(`'${text}'.matches('^(a+)+$')`), false)
    const long = evaluate(`'a'.matches('${'a'.repeat(70_000)}')`, {}, { check: false })
    assert.match(JSON.stringify(long), /expression too large/)
  })
})

describe('libraries outside the common environment', () => {
  const environment = createEnvironment({
    libraries: [...kubernetesLibraries, bindingsLibrary, encodersLibrary, jsonPatchLibrary, mathLibrary],
  })

  it('are there when asked for', () => {
    const source =
      "[cel.bind(x, 2, x * x), math.greatest(1, 3), size(base64.encode(b'a')), size(jsonpatch.escapeKey('a/~'))]"
    assert.deepEqual(json(source, {}, { environment }), [4, 3, 4, 5])
    assert.equal(compileExpression('math.greatest(1, 2)').ok, false)
  })

  it('ask the authorizer that is supplied', () => {
    const asked: unknown[] = []
    const authorizer = authorizerValue(check => {
      asked.push(check)
      return { allowed: check.verb === 'get', reason: 'because' }
    })
    const variables = { authorizer: { type: authorizerType, convert: (raw: unknown): never => raw as never } }
    const source =
      "authorizer.group('apps').resource('deployments').namespace('default').check('get').allowed()"
    const result = evaluate(source, { authorizer }, { variables })
    assert.ok(result.ok && result.value === true)
    assert.deepEqual(asked, [{ group: 'apps', resource: 'deployments', namespace: 'default', verb: 'get' }])
    assert.ok(result.cost >= 350_000)
  })
})
