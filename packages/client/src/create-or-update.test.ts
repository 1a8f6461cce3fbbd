import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createOrPatch, createOrUpdate } from './create-or-update.ts'
import { isClientError } from './errors.ts'
import { type DynamicInput, type DynamicObject, kindFor } from './kind-for.ts'
import { failure, json, startScripted } from './test-support/scripted-server.ts'

const Thing = kindFor({ version: 'v1', kind: 'Thing', resource: 'things', namespaced: true })
const object = { metadata: { namespace: 'ns', name: 'a' }, spec: { size: 1 } }
const target = { kind: Thing, object }
const live: DynamicObject = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { ...object.metadata, uid: 'u', resourceVersion: '7', creationTimestamp: 'c' },
  spec: { size: 1, other: true },
  status: { phase: 'Old' },
}
const resize = (size: number) => (draft: DynamicInput) => {
  ;(draft.spec as { size: number }).size = size
}

for (const ensure of [createOrUpdate, createOrPatch]) {
  describe(ensure.name, () => {
    it('creates a missing object, after mutate', async () => {
      await using server = startScripted([failure(404, 'NotFound'), json(live, 201)])
      const { result } = await ensure(server.client, target, resize(5))
      assert.equal(result, 'created')
      assert.deepEqual((server.seen[1]!.body as DynamicObject).spec, { size: 5 })
      assert.deepEqual(object.spec, { size: 1 }, "the caller's object is not changed")
    })

    it('sends nothing when mutate changes nothing', async () => {
      await using server = startScripted([json(live)])
      const { result, object: found } = await ensure(server.client, target, resize(1))
      assert.equal(result, 'unchanged')
      assert.equal(found.metadata.uid, 'u')
      assert.equal(server.seen.length, 1)
    })

    it('does not let mutate change name or namespace', async () => {
      await using server = startScripted([json(live)])
      const rename = ensure(server.client, target, draft => {
        draft.metadata.name = 'b'
      })
      await assert.rejects(
        rename,
        error => isClientError(error, 'BadKey') && /mutate function cannot/.test(error.message),
      )
      assert.equal(server.seen.length, 1)
    })
  })
}

describe('createOrUpdate', () => {
  it('replaces the object at the version that was read', async () => {
    await using server = startScripted([json(live)])
    const { result } = await createOrUpdate(server.client, target, resize(2))
    assert.equal(result, 'updated')
    const sent = server.seen[1]!
    assert.equal(sent.method, 'PUT')
    assert.deepEqual((sent.body as DynamicObject).spec, { size: 2, other: true })
    assert.equal((sent.body as DynamicObject).metadata.resourceVersion, '7')
  })
})

describe('createOrPatch', () => {
  const setPhase = (draft: object) => Object.assign(draft, { status: { phase: 'New' } })
  const cases = [
    { changes: [resize(2)], result: 'updated', bodies: [{ spec: { size: 2 } }] },
    { changes: [setPhase], result: 'updatedStatusOnly', bodies: [{ status: { phase: 'New' } }] },
    {
      changes: [resize(2), setPhase],
      result: 'updatedStatus',
      bodies: [{ spec: { size: 2 } }, { status: { phase: 'New' } }],
    },
  ]
  for (const { changes, result, bodies } of cases) {
    it(`sends only what changed, the status to its subresource: ${result}`, async () => {
      await using server = startScripted([json(live)])
      const done = await createOrPatch(server.client, target, draft => {
        for (const change of changes) change(draft)
      })
      assert.equal(done.result, result)
      assert.deepEqual(
        server.seen.slice(1).map(({ body }) => body),
        bodies,
      )
      const last = server.calls().at(-1)!
      assert.equal(last.endsWith('/status'), result !== 'updated')
    })
  }
})
