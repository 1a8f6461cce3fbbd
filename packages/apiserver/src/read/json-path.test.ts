import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileJsonPath, printJsonPath } from './json-path.ts'

const object = {
  metadata: { labels: { 'app.kubernetes.io/name': 'web' } },
  spec: {
    replicas: 3,
    steps: [
      { model: 'a', size: 1 },
      { model: 'b', size: 2 },
    ],
    empty: null,
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Idle', status: 'False' },
    ],
  },
}

describe('compileJsonPath', () => {
  const cases: readonly (readonly [string, readonly unknown[]])[] = [
    ['.spec.replicas', [3]],
    ['.spec.nothing', []],
    ['.spec.nothing.below', []],
    ['.spec.steps[*].model', ['a', 'b']],
    ['.spec.steps[0].model', ['a']],
    ['.spec.steps[-1].model', ['b']],
    ['.spec.steps[7].model', []],
    ['.spec.steps[0:1].model', ['a']],
    [".metadata.labels['app.kubernetes.io/name']", ['web']],
    ['.metadata.labels.app\\.kubernetes\\.io/name', ['web']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ["$.status.conditions[?(@.type=='Idle')].status", ['False']],
    ['.spec.steps[?(@.size>1)].model', ['b']],
    ['.spec..model', ['a', 'b']],
    ['..size', [1, 2]],
    ['..status', [object.status, 'True', 'False']],
    ['.spec..[0].model', ['a']],
    ['.constructor', []],
    ['.spec.__proto__', []],
  ]
  for (const [path, expected] of cases) {
    it(`finds ${path}`, () => assert.deepEqual(compileJsonPath(path)(object), expected))
  }

  for (const path of ['spec', '.spec[', '.spec[?(@)]', '.', '.spec...a']) {
    it(`rejects ${path}`, () => assert.throws(() => compileJsonPath(path), /JSONPath/))
  }

  it('finds each value once, however many `..` the path has', () => {
    let deep: object = { a: 1 }
    for (let i = 0; i < 1000; i++) deep = { b: deep }
    assert.deepEqual(compileJsonPath(`${'..b'.repeat(50)}..a`)(deep), [1])
  })

  it('prints scalars as they are, other values as JSON', () => {
    assert.equal(printJsonPath('a'), 'a')
    assert.equal(printJsonPath({ a: [1] }), '{"a":[1]}')
    assert.equal(printJsonPath({ a: 9223372036854775807n }), '{"a":9223372036854775807}')
  })
})
