import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError, type MachineryErrorCode } from '../errors.ts'
import type { PlainObject } from '../json/plain.ts'
import { readSchemas } from '../test-support/fixtures.ts'
import { createThreeWayMergePatch, createTwoWayMergePatch } from './strategic-diff.ts'
import { applyStrategicMergePatch, decodeStrategicMergePatch } from './strategic-merge.ts'

const schemas = readSchemas()
const deployment = schemas.get('Deployment')!
const pod = schemas.get('Pod')!

const containers = (...list: PlainObject[]): PlainObject => ({ spec: { containers: list } })

function patched(original: PlainObject, patch: PlainObject): PlainObject {
  return applyStrategicMergePatch(original, patch, pod)
}

function refused(original: PlainObject, patch: PlainObject, code: MachineryErrorCode, message: string): void {
  assert.throws(
    () => patched(original, patch),
    error => isMachineryError(error, code) && assert.equal(error.message, message) === undefined,
  )
}

describe('strategic merge patch', () => {
  const original = containers({ name: 'a', image: 'a:1' }, { name: 'b', image: 'b:1' })

  it('merges list elements by their merge key; new ones come first, the others keep their order', () => {
    const result = patched(original, containers({ name: 'c', image: 'c:1' }, { name: 'b', image: 'b:2' }))
    assert.deepEqual(
      result,
      containers({ name: 'c', image: 'c:1' }, { name: 'a', image: 'a:1' }, { name: 'b', image: 'b:2' }),
    )
  })

  it('obeys $patch: delete and replace, in lists and objects', () => {
    assert.deepEqual(
      patched(original, containers({ name: 'a', $patch: 'delete' })),
      containers({ name: 'b', image: 'b:1' }),
    )
    assert.deepEqual(
      patched(original, containers({ name: 'x' }, { $patch: 'replace' })),
      containers({ name: 'x' }),
    )
    assert.deepEqual(
      patched({ spec: { nodeName: 'n', hostname: 'h' } }, { spec: { $patch: 'replace', hostname: 'x' } }),
      {
        spec: { hostname: 'x' },
      },
    )
  })

  it('orders elements by $setElementOrder', () => {
    const order = { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } }
    assert.deepEqual(
      patched(original, order),
      containers({ name: 'b', image: 'b:1' }, { name: 'a', image: 'a:1' }),
    )
  })

  it('adds to and deletes from lists of scalars', () => {
    const metadata = { metadata: { finalizers: ['a', 'b', 'c'] } }
    const patch = { metadata: { finalizers: ['d'], '$deleteFromPrimitiveList/finalizers': ['b'] } }
    assert.deepEqual(patched(metadata, patch), { metadata: { finalizers: ['d', 'a', 'c'] } })
  })

  it('removes fields that $retainKeys does not name', () => {
    const volumes = (volume: PlainObject): PlainObject => ({ spec: { volumes: [{ name: 'v', ...volume }] } })
    const patch = volumes({ emptyDir: {}, $retainKeys: ['name', 'emptyDir'] })
    assert.deepEqual(patched(volumes({ hostPath: { path: '/' } }), patch), volumes({ emptyDir: {} }))
  })

  it('replaces lists without a merge strategy, and drops nulls of what is new', () => {
    const command = containers({ name: 'a', command: ['x', 'y'] })
    assert.deepEqual(
      patched(command, containers({ name: 'a', command: ['z'] })),
      containers({ name: 'a', command: ['z'] }),
    )
    assert.deepEqual(patched({}, { spec: { hostname: null, nodeName: 'n' } }), { spec: { nodeName: 'n' } })
  })

  it('reports errors in the words of Kubernetes', () => {
    refused(
      original,
      containers({ image: 'x' }),
      'PatchInapplicable',
      'map: map[image:x] does not contain declared merge key: name',
    )
    refused(
      { metadata: { labels: { a: 'b' } } },
      { metadata: { labels: { $patch: 'explode' } } },
      'PatchInapplicable',
      'unknown patch type: explode in map: map[$patch:explode]',
    )
    refused(
      original,
      { spec: { containers: [{ name: 'c', image: 'y' }], '$setElementOrder/containers': [{ name: 'a' }] } },
      'PatchInapplicable',
      "The order in patch list:\n[map[image:y name:c]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    )
    refused(
      { spec: {} },
      { spec: { $retainKeys: 'x' } },
      'PatchUndecodable',
      'invalid patch format of retainKeys',
    )
    assert.throws(
      () => decodeStrategicMergePatch([]),
      error =>
        isMachineryError(error, 'PatchUndecodable') &&
        error.message === 'json: cannot unmarshal array into Go value of type map[string]interface {}',
    )
    assert.deepEqual(decodeStrategicMergePatch(null), {})
  })

  it('shares unchanged parts and never changes its inputs', () => {
    const live = { metadata: { labels: { a: 'b' } }, ...original }
    const text = JSON.stringify(live)
    const result = patched(live, containers({ name: 'b', image: 'b:2' }))
    assert.equal(result.metadata, live.metadata)
    assert.equal(JSON.stringify(live), text)
  })

  it('treats __proto__ as an ordinary key', () => {
    const patch = JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}') as PlainObject
    assert.equal(JSON.stringify(patched({ metadata: { labels: {} } }, patch)), JSON.stringify(patch))
  })
})

describe('patches created from objects', () => {
  it('lead from one to the other', () => {
    const original = containers({ name: 'a', image: 'a:1' }, { name: 'b' })
    const modified = containers({ name: 'c' }, { name: 'a', image: 'a:2' })
    const patch = createTwoWayMergePatch(original, modified, pod)
    assert.deepEqual(patch, {
      spec: {
        '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }],
        containers: [{ name: 'c' }, { name: 'a', image: 'a:2' }, { name: 'b', $patch: 'delete' }],
      },
    })
    assert.deepEqual(patched(original, patch), modified)
  })

  it('keep additions of other clients to the live object', () => {
    const original = { spec: { replicas: 1, paused: true } }
    const modified = { spec: { replicas: 2 } }
    const current = { spec: { replicas: 1, paused: true, minReadySeconds: 5 } }
    assert.deepEqual(createThreeWayMergePatch(deployment, { original, modified, current }), {
      spec: { replicas: 2, paused: null },
    })
  })

  it('are rejected when other clients changed the same field, if requested', () => {
    const objects = {
      original: { spec: { replicas: 1 } },
      modified: { spec: { replicas: 2 } },
      current: { spec: { replicas: 3 } },
    }
    assert.deepEqual(createThreeWayMergePatch(deployment, objects), { spec: { replicas: 2 } })
    assert.throws(
      () => createThreeWayMergePatch(deployment, { ...objects, overwrite: false }),
      error => isMachineryError(error, 'PatchConflict'),
    )
  })

  it('are rejected when they would change a protected field', () => {
    const unchanged = ['apiVersion', 'kind', 'metadata.name']
    const create = (modified: PlainObject): PlainObject =>
      createTwoWayMergePatch({ kind: 'Pod', metadata: { name: 'a' } }, modified, pod, { unchanged })
    assert.throws(
      () => create({ kind: 'Pod', metadata: { name: 'b' } }),
      error => isMachineryError(error, 'PatchPrecondition'),
    )
    assert.deepEqual(create({ kind: 'Pod', metadata: { name: 'a', labels: {} } }), {
      metadata: { labels: {} },
    })
  })
})
