/**
 * Every verb of every resource that `samples.ts` has an object of, in every patch type and encoding: what passes here is
 * the table in docs/coverage.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { createApiServer } from '@coxswain/apiserver'
import { verifySignature } from '@coxswain/apiserver/node'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore, type MemoryStore } from '@coxswain/storage'
import { createInProcessTransport, type Handler, type WireResponse } from '@coxswain/wire'
import { recordCoverage } from './fact.ts'
import { listedFacts, observeCoverage } from './observe.ts'
import { reviews, sampleNames, samples } from './samples.ts'
import { type Client, exercise, exerciseReview, readResourceLists } from './test-support/exercise.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }

const widgetSchema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer' } } },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
}
const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.coverage.example.com' },
  spec: {
    group: 'coverage.example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: widgetSchema },
      },
    ],
  },
}

describe('the server in one process', () => {
  const world = new VirtualWorld()
  const group = new TaskGroup()
  let store: MemoryStore
  let handler: Handler

  before(async () => {
    store = createMemoryStore({ env: world })
    const server = createApiServer({ env: world, store, platform: { verifySignature } })
    group.spawn(signal => server.run(signal))
    await world.run(server.ready)
    handler = server.handler
  })
  after(async () => {
    group.abort()
    await world.run(group.join())
    await world.run(store.close())
  })

  /** What is answered well is recorded when `t` passes. */
  const createClient = (t: TestContext): Client => {
    const transport = createInProcessTransport(observeCoverage(t, handler), world, { peer: admin })
    const exchange = (method: string, url: string, body?: unknown, more: Record<string, string> = {}) => {
      const [path = '', query = ''] = url.split('?')
      const headers = { 'content-type': 'application/json', accept: 'application/json', ...more }
      const bytes = body === undefined ? {} : { body: new TextEncoder().encode(JSON.stringify(body)) }
      return world.run(transport.send({ method, path, query, headers, signal: group.signal, ...bytes }))
    }
    const firstFrame = async (url: string, accept: string) => {
      const answer = await exchange('GET', url, undefined, { accept })
      const iterator = (answer.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
      const { value } = await world.run(iterator.next())
      await world.run(Promise.resolve(iterator.return?.()))
      return { contentType: contentTypeOf(answer), bytes: value as Uint8Array }
    }
    return {
      async send(method, url, body, headers) {
        const answer = await exchange(method, url, body, headers)
        const text = await world.run(readText(answer))
        return {
          status: answer.status,
          contentType: contentTypeOf(answer),
          body: text.startsWith('{') ? JSON.parse(text) : {},
        }
      },
      async firstEvent(url) {
        const { bytes } = await firstFrame(url, 'application/json')
        return JSON.parse(new TextDecoder().decode(bytes).split('\n')[0]!)
      },
      firstFrame,
    }
  }

  const settle = () => world.settle()

  it('lists what it offers', async t => {
    const lists = await readResourceLists(createClient(t))
    assert.ok(lists.length > 5)
    recordCoverage(t, ...listedFacts(lists))
  })

  for (const [path, sample] of Object.entries(samples)) {
    it(`serves every verb of ${path}`, async t => {
      const client = createClient(t)
      if (path === 'v1/pods') await createServiceAccount(client)
      const name = sampleNames[path]
      await exercise(client, { path, sample, settle, ...(name && { name }) })
    })
  }

  for (const [path, body] of Object.entries(reviews))
    it(`answers ${path}`, async t => exerciseReview(createClient(t), path, body))

  it('has a sample of every resource that can be created', async t => {
    const lists = await readResourceLists(createClient(t))
    const missing = lists.flatMap(({ groupVersion, resources }) =>
      resources
        .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('create'))
        .map(({ name }) => `${groupVersion}/${name}`)
        .filter(path => !(path in samples) && !(path in reviews)),
    )
    assert.deepEqual(missing, ['v1/bindings'])
  })

  it('takes bindings, evictions, tokens and finalizers', async t => {
    const client = createClient(t)
    const post = async (path: string, body: object) => {
      const answer = await client.send('POST', `/api/v1/namespaces/default/${path}`, body)
      assert.equal(answer.status, 201, `${path}: ${answer.body.message}`)
    }
    const target = { kind: 'Node', name: 'node-1' }
    const binding = (name: string) => ({ apiVersion: 'v1', kind: 'Binding', metadata: { name }, target })
    for (const name of ['a', 'b'])
      await post('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name }, ...samples['v1/pods'] })
    await post('bindings', binding('a'))
    await post('pods/b/binding', binding('b'))
    await post('pods/a/eviction', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } })
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'final' },
      spec: { finalizers: [] },
    }
    await client.send('POST', '/api/v1/namespaces', namespace)
    const finalized = await client.send('PUT', '/api/v1/namespaces/final/finalize', namespace)
    assert.equal(finalized.status, 200, String(finalized.body.message))
  })

  it('serves every verb of a custom resource, and no strategic merge patch', async t => {
    const client = createClient(t)
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const created = await client.send('POST', definitions, widgetDefinition)
    assert.equal(created.status, 201, String(created.body.message))
    await world.settle()
    const sample = { spec: { size: 1 } }
    await exercise(client, { path: 'coverage.example.com/v1/widgets', sample, isCustom: true, settle })
    const lists = (await readResourceLists(client)).filter(
      list => list.groupVersion === 'coverage.example.com/v1',
    )
    const patchTypes = ['json', 'merge', 'apply'] as const
    recordCoverage(t, ...listedFacts(lists).map(fact => ({ ...fact, patchTypes })))
  })
})

/** What a controller does in a cluster: without it a pod is refused. */
async function createServiceAccount(client: Client): Promise<void> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
  const { status, body } = await client.send('POST', '/api/v1/namespaces/default/serviceaccounts', account)
  assert.equal(status, 201, String(body.message))
}

const contentTypeOf = ({ headers }: WireResponse): string => String(headers['content-type'] ?? '')

async function readText({ body }: WireResponse): Promise<string> {
  if (body === undefined) return ''
  const chunks: Uint8Array[] = []
  if (body instanceof Uint8Array) chunks.push(body)
  else for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
