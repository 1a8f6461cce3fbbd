import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  decodeFieldSet,
  difference,
  encodeFieldSet,
  type FieldSet,
  forEachPath,
  hasPath,
  intersection,
  isEmptySet,
  isEqualSet,
  isSubset,
  recursiveDifference,
  setAt,
  union,
} from './field-set.ts'
import { printElement, TypedValueError } from './path-element.ts'

const spec: FieldSet = {
  'f:spec': { 'f:replicas': {}, 'f:ports': { 'k:{"port":80}': { '.': {}, 'f:name': {} } } },
}

function pathsOf(set: FieldSet): string[] {
  const paths: string[] = []
  forEachPath(set, path => {
    paths.push(path.map(printElement).join(''))
  })
  return paths
}

describe('field sets', () => {
  it('keep whole numbers beyond 2^53 apart', () => {
    const ids = ['9007199254740993', '9007199254740992', '-9223372036854775808']
    const members = ids.map(id => [`k:{"id":${id}}`, {}])
    const values = ids.map(id => [`v:${id}`, {}])
    const stored = Object.fromEntries([...members, ...values])
    const set = decodeFieldSet({ 'f:list': stored } as never)
    assert.deepEqual(encodeFieldSet(set), { 'f:list': stored })
    assert.deepEqual(Object.keys((encodeFieldSet(set) as Record<string, object>)['f:list']!), [
      'k:{"id":-9223372036854775808}',
      'k:{"id":9007199254740992}',
      'k:{"id":9007199254740993}',
      'v:-9223372036854775808',
      'v:9007199254740992',
      'v:9007199254740993',
    ])
    assert.ok(pathsOf(set).includes('.list[id=9007199254740993]'))
  })

  it('hold a path itself when nothing or a dot is below it', () => {
    assert.ok(hasPath(spec, ['f:spec', 'f:replicas']))
    assert.ok(hasPath(spec, ['f:spec', 'f:ports', 'k:{"port":80}']))
    assert.ok(!hasPath(spec, ['f:spec', 'f:ports']))
    assert.ok(!hasPath(spec, []))
  })

  it('list their paths as messages do: those that end first, then those below', () => {
    assert.deepEqual(pathsOf(spec), ['.spec.replicas', '.spec.ports[port=80]', '.spec.ports[port=80].name'])
    const set = union(setAt(['f:a', 'f:b']), union(setAt(['f:c']), setAt(['f:l', 'v:"x"'])))
    assert.deepEqual(pathsOf(set), ['.c', '.a.b', '.l[="x"]'])
  })

  it('are joined, cut and subtracted by path', () => {
    const parent = setAt(['f:spec'])
    assert.deepEqual(union(spec, parent)['f:spec']?.['.'], {})
    assert.equal(union(spec, setAt(['f:spec', 'f:replicas'])), spec)
    assert.deepEqual(intersection(spec, union(parent, setAt(['f:spec', 'f:replicas']))), {
      'f:spec': { 'f:replicas': {} },
    })
    assert.ok(isEmptySet(intersection(spec, parent)))
    assert.equal(difference(spec, parent), spec, 'a path stays when only one above it is subtracted')
    assert.ok(isEmptySet(recursiveDifference(spec, parent)))
    assert.deepEqual(difference(union(spec, parent), parent), spec)
    assert.deepEqual(difference(spec, setAt(['f:spec', 'f:ports', 'k:{"port":80}'])), {
      'f:spec': { 'f:replicas': {}, 'f:ports': { 'k:{"port":80}': { 'f:name': {} } } },
    })
    assert.ok(isSubset(setAt(['f:spec', 'f:replicas']), spec))
    assert.ok(!isSubset(parent, spec))
    assert.ok(isEqualSet(spec, decodeFieldSet(JSON.parse(JSON.stringify(spec)))))
  })

  it('are written in the order of Kubernetes: fields, keys, values, indices', () => {
    const set: FieldSet = {
      'i:10': {},
      'i:2': {},
      'v:true': {},
      'v:"b"': {},
      'v:10': {},
      'v:9': {},
      'k:{"name":"b"}': {},
      'k:{"name":"a"}': { 'f:z': {}, 'f:a': {}, '.': {} },
      'k:{"port":443,"protocol":"TCP"}': {},
      'k:{"port":80,"protocol":"TCP"}': {},
      'f:b': {},
      'f:a': {},
    }
    assert.deepEqual(Object.keys(encodeFieldSet(set)), [
      'f:a',
      'f:b',
      'k:{"name":"a"}',
      'k:{"name":"b"}',
      'k:{"port":80,"protocol":"TCP"}',
      'k:{"port":443,"protocol":"TCP"}',
      'v:9',
      'v:10',
      'v:"b"',
      'v:true',
      'i:2',
      'i:10',
    ])
    assert.deepEqual(Object.keys(encodeFieldSet(set)['k:{"name":"a"}']!), ['.', 'f:a', 'f:z'])
    const sorted = encodeFieldSet(set)
    assert.equal(encodeFieldSet(sorted), sorted)
  })

  it('are read back in one form: keys sorted, unknown elements left out', () => {
    assert.deepEqual(
      decodeFieldSet({ 'k:{ "b": 1, "a": "<" }': null, 'x:future': {}, 'f:a': { '.': {} }, 'v:1.0': {} }),
      { 'k:{"a":"\\u003c","b":1}': {}, 'f:a': {}, 'v:1': {} },
    )
    const known = { 'f:a': {}, 'k:{"name":"x"}': { '.': {}, 'f:name': {} } }
    assert.equal(decodeFieldSet(known), known)
    for (const bad of [
      { f: {} },
      { 'f-a': {} },
      { 'k:[1]': {} },
      { 'v:{': {} },
      { 'i:x': {} },
      { 'f:a': 5 },
      [],
    ]) {
      assert.throws(() => decodeFieldSet(bad), TypedValueError, JSON.stringify(bad))
    }
  })
})
