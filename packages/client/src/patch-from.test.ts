import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DynamicObject, kindFor } from './kind-for.ts'
import { json, startScripted } from './test-support/scripted-server.ts'

const Thing = kindFor({ version: 'v1', kind: 'Thing', resource: 'things', namespaced: true })
const metadata = { namespace: 'ns', name: 'a', uid: 'u', resourceVersion: '7', creationTimestamp: 'c' }
const old: DynamicObject = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata,
  spec: { size: 1, note: 'x', list: [1, 2] },
  status: { phase: 'Old', seen: 1, detail: { a: 1, b: 2 } },
}
const spec = old.spec as Record<string, unknown>

describe('patchFrom', () => {
  it('sends what differs as a merge patch, removals as null', async () => {
    await using server = startScripted([json(old)])
    const changed = { ...old, spec: { ...spec, size: 2, note: undefined, list: [1] } }
    await server.client.patchFrom(Thing, { old, new: changed })
    const [call] = server.seen
    assert.equal(`${call!.method} ${call!.target}`, 'PATCH /api/v1/namespaces/ns/things/a')
    assert.equal(call!.headers['content-type'], 'application/merge-patch+json')
    assert.deepEqual(call!.body, { spec: { size: 2, note: null, list: [1] } })
  })

  it('sends nothing when there is no difference, not even with an optimistic lock', async () => {
    await using server = startScripted([json(old)])
    const same = { ...structuredClone(old), extra: undefined }
    assert.equal(await server.client.patchFrom(Thing, { old, new: same }, { optimisticLock: true }), old)
    assert.equal(server.seen.length, 0)
  })

  it('carries the version that was read with an optimistic lock', async () => {
    await using server = startScripted([json(old)])
    const changed = { ...old, metadata: { ...metadata, labels: { a: 'b' } } }
    await server.client.patchFrom(
      Thing,
      { old, new: changed },
      { optimisticLock: true, subresource: 'status' },
    )
    assert.deepEqual(server.seen[0]!.body, { metadata: { labels: { a: 'b' }, resourceVersion: '7' } })
    assert.match(server.calls()[0]!, /things\/a\/status$/)
  })
})

describe('patchStatus', () => {
  it('sets the given members, replaces objects in them, and leaves the others', async () => {
    await using server = startScripted([json(old)])
    await server.client.patchStatus(Thing, old, { phase: 'New', detail: { a: 1 }, seen: undefined })
    assert.equal(server.calls()[0], 'PATCH /api/v1/namespaces/ns/things/a/status')
    assert.deepEqual(server.seen[0]!.body, { status: { phase: 'New', detail: { b: null }, seen: null } })
  })

  it('sends nothing when the status has them', async () => {
    await using server = startScripted([json(old)])
    await server.client.patchStatus(Thing, old, { phase: 'Old', detail: { b: 2, a: 1 } })
    assert.equal(server.seen.length, 0)
  })
})
