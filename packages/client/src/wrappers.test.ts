import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isClientError } from './errors.ts'
import { kindFor } from './kind-for.ts'
import { json, startScripted } from './test-support/scripted-server.ts'
import { dryRun, namespaced, readOnly, withFieldOwner, withStrictValidation } from './wrappers.ts'

const Thing = kindFor({ version: 'v1', kind: 'Thing', resource: 'things', namespaced: true })
const Place = kindFor({ version: 'v1', kind: 'Place', resource: 'places', namespaced: false })
const key = { namespace: 'ns', name: 'a' }
const object = { metadata: key }

const answer = json({ apiVersion: 'v1', kind: 'Thing', metadata: { ...key, resourceVersion: '1' } })

describe('a dry-run client', () => {
  it('sends dryRun=All with every write, whatever the call says, and with none of the reads', async () => {
    await using server = startScripted([answer])
    const client = dryRun(server.client)
    await client.create(Thing, object, { dryRun: false })
    await client.update(Thing, object)
    await client.patch(Thing, key, { x: 1 })
    await client.patchFrom(Thing, { old: stored({}), new: stored({ x: 1 }) })
    await client.patchStatus(Thing, stored({}), { phase: 'Ready' })
    await client.apply(Thing, object, { fieldManager: 'me' })
    await client.delete(Thing, key)
    await client.deleteAll(Thing, { namespace: 'ns' })
    await client.subresource(Thing, key, 'eviction').create({})
    await client.raw.request({ method: 'POST', path: '/any' })
    assert.equal(server.seen.length, 10)
    for (const { method, target, body } of server.seen) {
      const inBody = (body as { dryRun?: unknown } | undefined)?.dryRun
      assert.ok(target.includes('dryRun=All') || Array.isArray(inBody), `${method} ${target}`)
    }
    await client.get(Thing, key)
    await client.list(Thing)
    await client.raw.request({ path: '/any' })
    assert.ok(
      server
        .calls()
        .slice(10)
        .every(call => !call.includes('dryRun')),
    )
  })
})

describe('a client with a field owner', () => {
  it('names it unless the call names one', async () => {
    await using server = startScripted([answer])
    const client = withFieldOwner(server.client, 'owner')
    await client.apply(Thing, object)
    await client.create(Thing, object, { fieldManager: 'other' })
    assert.match(server.calls()[0]!, /fieldManager=owner/)
    assert.match(server.calls()[1]!, /fieldManager=other/)
  })
})

describe('a client with strict validation', () => {
  it('asks for it with creates, updates, patches and applies', async () => {
    await using server = startScripted([answer])
    const client = withStrictValidation(server.client)
    await client.create(Thing, object)
    await client.update(Thing, object)
    await client.patch(Thing, key, {})
    await client.apply(Thing, object, { fieldManager: 'me' })
    assert.ok(server.calls().every(call => call.includes('fieldValidation=Strict')))
  })
})

describe('a namespaced client', () => {
  it('puts objects, lists and watches of namespaced kinds into its namespace', async () => {
    await using server = startScripted([answer])
    const client = namespaced(server.client, 'ns')
    await client.get(Thing, { name: 'a' })
    await client.create(Thing, { metadata: { name: 'a' } })
    await client.list(Thing)
    await client.deleteAll(Thing)
    await client.get(Place, { name: 'b' })
    await client.list(Place)
    assert.deepEqual(server.calls(), [
      'GET /api/v1/namespaces/ns/things/a',
      'POST /api/v1/namespaces/ns/things',
      'GET /api/v1/namespaces/ns/things',
      'DELETE /api/v1/namespaces/ns/things',
      'GET /api/v1/places/b',
      'GET /api/v1/places',
    ])
    assert.equal((server.seen[1]!.body as typeof object).metadata.namespace, 'ns')
  })

  it('rejects another namespace before anything is sent', async () => {
    await using server = startScripted([answer])
    const client = namespaced(server.client, 'ns')
    const other = { namespace: 'other', name: 'a' }
    const refused = (error: unknown) =>
      isClientError(error, 'BadKey') &&
      error.message === 'namespace other of the Thing does not match the namespace ns on the client'
    await assert.rejects(client.get(Thing, other), refused)
    await assert.rejects(client.create(Thing, { metadata: other }), refused)
    await assert.rejects(client.list(Thing, { namespace: 'other' }), refused)
    assert.equal(server.seen.length, 0)
  })
})

describe('a read-only client', () => {
  it('reads, and refuses every write', async () => {
    await using server = startScripted([answer])
    const client = readOnly(server.client)
    await client.get(Thing, key)
    const refused = (error: unknown) => isClientError(error, 'ReadOnly')
    await assert.rejects(client.create(Thing, object), refused)
    await assert.rejects(client.patchStatus(Thing, stored({}), { a: 1 }), refused)
    await assert.rejects(client.delete(Thing, key), refused)
    await assert.rejects(client.subresource(Thing, key, 'eviction').create({}), refused)
    await assert.rejects(client.raw.request({ method: 'PUT', path: '/any' }), refused)
    await assert.rejects(client.raw.upgrade({ path: '/any' }, []), refused)
    assert.equal(server.seen.length, 1)
  })
})

function stored(fields: object) {
  const metadata = { ...key, uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' }
  return { apiVersion: 'v1', kind: 'Thing', metadata, ...fields }
}
