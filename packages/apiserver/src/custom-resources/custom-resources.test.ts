import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport, type WireBody } from '@coxswain/wire'
import { createApiServer } from '../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const things = '/apis/example.com/v1/things'

async function start() {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const transport = createInProcessTransport(server.handler, world, { peer: admin })
  const request = (method: string, url: string, body?: unknown, type = 'application/json') => {
    const [path = '', query = ''] = url.split('?')
    return world.run(
      transport.send({
        method,
        path,
        query,
        headers: { 'content-type': type },
        signal: group.signal,
        ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
      }),
    )
  }
  return {
    world,
    /** The response as JSON, once everything it triggered has happened. */
    async send(method: string, url: string, body?: unknown, type?: string) {
      const answer = await request(method, url, body, type)
      await world.settle()
      return { status: answer.status, body: JSON.parse(new TextDecoder().decode(answer.body as Uint8Array)) }
    },
    async watch(url: string): Promise<AsyncIterable<Uint8Array>> {
      const { body } = (await request('GET', url)) as { body: WireBody }
      return body as AsyncIterable<Uint8Array>
    },
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

const open = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
}

function crd(plural = 'things', kind = 'Thing', openAPIV3Schema: unknown = open) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

const thing = (name: string, more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, ...more },
  spec: { a: 'x', b: 'y' },
})

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
}

const conditions = (body: { status: { conditions: Condition[] } }) =>
  Object.fromEntries(body.status.conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))

describe('custom resource definitions', () => {
  it('are established once their names are accepted, and served from then on', async () => {
    await using server = await start()
    const created = await server.send('POST', crds, crd())
    assert.equal(created.body.status.conditions, null)
    const { body } = await server.send('GET', `${crds}/things.example.com`)
    assert.deepEqual(conditions(body), {
      NamesAccepted: 'True NoConflicts',
      Established: 'True InitialNamesAccepted',
    })
    assert.equal((await server.send('POST', things, thing('one'))).status, 201)
  })

  it('wait for names that another CRD holds, and take them when it is deleted', async () => {
    await using server = await start()
    await server.send('POST', crds, crd())
    await server.send('POST', crds, crd('others', 'Thing'))
    const path = `${crds}/others.example.com`
    assert.deepEqual(conditions((await server.send('GET', path)).body), {
      NamesAccepted: 'False ListKindConflict',
      Established: 'False NotAccepted',
    })
    await server.send('DELETE', `${crds}/things.example.com`)
    assert.deepEqual(conditions((await server.send('GET', path)).body), {
      NamesAccepted: 'True NoConflicts',
      Established: 'True InitialNamesAccepted',
    })
  })

  it('show objects stored under an older schema by the new one, and store them so with the next write', async () => {
    await using server = await start()
    const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    await server.send('POST', crds, crd('things', 'Thing', free))
    const { body: stored } = await server.send('POST', things, thing('one'))
    assert.deepEqual(stored.spec, { a: 'x', b: 'y' })
    const spec = {
      type: 'object',
      properties: { a: { type: 'string' }, c: { type: 'string', default: 'z' } },
    }
    const versions = [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ]
    await server.send(
      'PATCH',
      `${crds}/things.example.com`,
      { spec: { versions } },
      'application/merge-patch+json',
    )
    const { body: read } = await server.send('GET', `${things}/one`)
    assert.deepEqual(read.spec, { a: 'x', c: 'z' })
    assert.equal(read.metadata.resourceVersion, stored.metadata.resourceVersion)
    const { body: list } = await server.send('GET', things)
    assert.deepEqual(list.items[0].spec, { a: 'x', c: 'z' })
    const { body: written } = await server.send('PUT', `${things}/one`, read)
    assert.notEqual(written.metadata.resourceVersion, stored.metadata.resourceVersion)
    await server.world.advance(61_000)
    assert.deepEqual((await server.send('GET', `${things}/one`)).body.spec, { a: 'x', c: 'z' })
  })

  it('delete their objects first, wait for finalizers, and reject new objects meanwhile', async () => {
    await using server = await start()
    await server.send('POST', crds, crd())
    await server.send('POST', things, thing('free'))
    await server.send('POST', things, thing('held', { finalizers: ['example.com/hold'] }))
    await server.send('DELETE', `${crds}/things.example.com`)
    const { body } = await server.send('GET', `${crds}/things.example.com`)
    assert.equal(conditions(body).Terminating, 'True InstanceDeletionInProgress')
    assert.equal((await server.send('GET', `${things}/free`)).status, 404)
    const { body: refused } = await server.send('POST', things, thing('late'))
    assert.equal(refused.reason, 'Forbidden')
    assert.match(refused.message, /custom resource definition is terminating/)
    const release = { metadata: { finalizers: null } }
    await server.send('PATCH', `${things}/held`, release, 'application/merge-patch+json')
    assert.equal((await server.send('GET', `${crds}/things.example.com`)).status, 404)
  })

  it('end the watches of their objects when their schema changes, not when their labels do', async () => {
    await using server = await start()
    await server.send('POST', crds, crd())
    const events = (await server.watch(`${things}?watch=1`))[Symbol.asyncIterator]()
    let ended = false
    const done = events.next().then(({ done: isDone }) => {
      ended = isDone === true
    })
    const path = `${crds}/things.example.com`
    const merge = 'application/merge-patch+json'
    await server.send('PATCH', path, { metadata: { labels: { a: 'b' } } }, merge)
    assert.equal(ended, false)
    await server.send(
      'PATCH',
      path,
      { spec: crd('things', 'Thing', { ...open, description: 'x' }).spec },
      merge,
    )
    await done
    assert.equal(ended, true)
  })

  it('reject an update without a resourceVersion and an object of another kind', async () => {
    await using server = await start()
    await server.send('POST', crds, crd())
    await server.send('POST', things, thing('one'))
    const { body: unversioned } = await server.send('PUT', `${things}/one`, thing('one'))
    assert.deepEqual(unversioned.details.causes[0].field, 'metadata.resourceVersion')
    const { body: other } = await server.send('POST', things, { ...thing('two'), kind: 'Other' })
    assert.equal(other.code, 422)
    assert.equal(
      other.message,
      'Other.example.com "two" is invalid: kind: Invalid value: "Other": must be Thing',
    )
  })
})
