import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeText, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport } from '@coxswain/wire'
import type { NodeConnection } from '../nodes/node-connection.ts'
import { createApiServer } from '../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const time = '2026-01-01T00:00:00Z'
const used = (usageNanoCores: number, workingSetBytes: number) => ({
  cpu: { time, usageNanoCores },
  memory: { time, workingSetBytes },
})

/** What each of the nodes answers; undefined: never. */
type Summaries = Readonly<Record<string, object | undefined>>

/** A server with those nodes and with Pods that are not on any. */
async function open(summaries: Summaries, { isReady = true } = {}) {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const asked: string[] = []
  const connection = {
    hasNode: node => node in summaries,
    async ask(node, { path, signal }) {
      asked.push(`${node} ${path}`)
      const summary = summaries[node]
      if (!summary)
        return await new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        )
      return { status: 200, headers: {}, body: encodeText(JSON.stringify(summary)) }
    },
  } as Pick<NodeConnection, 'hasNode' | 'ask'> as NodeConnection
  const server = createApiServer({ env: world, store, nodes: { connection } })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const transport = createInProcessTransport(server.handler, world, { peer: admin })
  const send = async (method: string, target: string, object?: object, accept = 'application/json') => {
    const [path = '', query = ''] = target.split('?')
    const headers = { accept, 'content-type': 'application/json' }
    const { signal } = group
    const body = object && encodeText(JSON.stringify(object))
    const answer = await world.run(
      transport.send({ method, path, query, headers, signal, ...(body && { body }) }),
    )
    const text = new TextDecoder().decode(answer.body as Uint8Array)
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  for (const name of Object.keys(summaries)) {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }]
    const created = await send('POST', '/api/v1/nodes', { metadata: { name, labels: { disk: 'ssd' } } })
    assert.equal(created.status, 201)
    const node = { ...created.body, status: { conditions } }
    assert.equal((await send('PUT', `/api/v1/nodes/${name}/status`, node)).status, 200)
  }
  const account = await send('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  })
  assert.equal(account.status, 201)
  for (const name of ['web', 'idle']) {
    const spec = { containers: [{ name: 'main', image: 'x' }] }
    const metadata = { name, labels: { app: name } }
    const { status, body } = await send('POST', '/api/v1/namespaces/default/pods', { metadata, spec })
    assert.equal(status, 201, JSON.stringify(body))
  }
  return {
    world,
    send,
    asked,
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

const web = {
  podRef: { namespace: 'default', name: 'web', uid: 'u' },
  containers: [
    { name: 'main', ...used(250_000_000, 64 * 1024 * 1024) },
    { name: 'sidecar', ...used(1_234_567, 1000) },
  ],
}
const summary = { node: used(2_000_000_000, 2 ** 30), pods: [web] }
const api = '/apis/metrics.k8s.io/v1beta1'

describe('metrics.k8s.io', () => {
  it('is discovered as metrics-server has it', async () => {
    await using server = await open({})
    assert.deepEqual((await server.send('GET', api)).body.resources, [
      { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
      { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
    ])
    const openapi = await server.send('GET', `/openapi/v3${api}`)
    const names = Object.keys(openapi.body.components.schemas)
    assert.ok(
      names.some(name => name.endsWith('v1beta1.PodMetrics')),
      names.join(),
    )
  })

  it('has the usage of nodes and of the containers of Pods', async () => {
    await using server = await open({ 'node-1': summary })
    const nodes = await server.send('GET', `${api}/nodes`)
    assert.equal(nodes.body.kind, 'NodeMetricsList')
    const [{ metadata, ...node }] = nodes.body.items
    assert.equal(metadata.name, 'node-1')
    assert.equal(metadata.labels.disk, 'ssd')
    assert.deepEqual(node, { timestamp: time, window: '15s', usage: { cpu: '2', memory: '1Gi' } })
    const pods = await server.send('GET', `${api}/namespaces/default/pods`)
    assert.deepEqual(
      pods.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ['web'],
      'nothing is known of the other one',
    )
    const one = await server.send('GET', `${api}/namespaces/default/pods/web`)
    assert.equal(one.body.kind, 'PodMetrics')
    assert.deepEqual(one.body.containers, [
      { name: 'main', usage: { cpu: '250m', memory: '64Mi' } },
      { name: 'sidecar', usage: { cpu: '1234567n', memory: '1000' } },
    ])
  })

  it('is selected by the labels and fields of the objects, in one namespace or all', async () => {
    await using server = await open({ 'node-1': summary })
    const count = async (target: string) => (await server.send('GET', api + target)).body.items.length
    assert.equal(await count('/pods?labelSelector=app%3Dweb'), 1)
    assert.equal(await count('/pods?labelSelector=app%3Didle'), 0)
    assert.equal(await count('/pods?fieldSelector=metadata.name%3Dweb'), 1)
    assert.equal(await count('/namespaces/other/pods'), 0)
    assert.equal(await count('/nodes?labelSelector=disk%3Dhdd'), 0)
  })

  it('says which of the two is missing, the object or its usage', async () => {
    await using server = await open({ 'node-1': summary })
    const message = async (target: string) => {
      const { status, body } = await server.send('GET', api + target)
      assert.equal(status, 404)
      return body.message
    }
    assert.equal(await message('/namespaces/default/pods/none'), 'pods "none" not found')
    assert.equal(
      await message('/namespaces/default/pods/idle'),
      'podmetrics.metrics.k8s.io "default/idle" not found',
    )
    assert.equal(await message('/nodes/none'), 'nodes "none" not found')
  })

  it('is shown as a table with the sum of a Pod', async () => {
    await using server = await open({ 'node-1': summary })
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
    const { body } = await server.send('GET', `${api}/pods`, undefined, accept)
    assert.deepEqual(
      body.columnDefinitions.map(({ name }: { name: string }) => name),
      ['Name', 'cpu', 'memory', 'Window'],
    )
    assert.deepEqual(body.rows[0].cells, ['web', '251234567n', '67109864', '15s'])
  })

  it('cannot be watched or written', async () => {
    await using server = await open({})
    const watch = await server.send('GET', `${api}/pods?watch=true`)
    assert.equal(watch.status, 405)
    assert.equal(watch.body.message, 'watch is not supported on resources of kind "pods.metrics.k8s.io"')
    assert.equal((await server.send('POST', `${api}/namespaces/default/pods`, {})).status, 405)
    assert.equal((await server.send('DELETE', `${api}/nodes/x`)).status, 405)
  })

  it('asks a kubelet once in fifteen seconds, and twice after a pause for a rate of now', async () => {
    await using server = await open({ 'node-1': summary })
    const list = () => server.send('GET', `${api}/nodes`)
    await list()
    await list()
    assert.deepEqual(server.asked, ['node-1 /stats/summary', 'node-1 /stats/summary'])
    await server.world.advance(15_000)
    await list()
    assert.equal(server.asked.length, 3)
    await server.world.advance(120_000)
    await list()
    assert.equal(server.asked.length, 5)
  })

  it('leaves out nodes that do not answer, and asks none that is not ready', async () => {
    await using server = await open({ 'node-1': summary, 'node-2': undefined })
    assert.equal((await server.send('GET', `${api}/nodes`)).body.items.length, 1)
    await using down = await open({ 'node-1': summary }, { isReady: false })
    assert.deepEqual((await down.send('GET', `${api}/nodes`)).body.items, [])
    assert.deepEqual(down.asked, [])
  })

  it('is served again when a CustomResourceDefinition of the same name is deleted', async () => {
    await using cluster = await open({})
    const { world, send } = cluster
    const names = { plural: 'nodes', singular: 'node', kind: 'Own', listKind: 'OwnList' }
    const schema = { openAPIV3Schema: { type: 'object' } }
    const versions = [{ name: 'v1', served: true, storage: true, schema }]
    const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' }
    const crd = {
      metadata: { name: 'nodes.metrics.k8s.io', annotations },
      spec: { group: 'metrics.k8s.io', scope: 'Cluster', names, versions },
    }
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const statusOf = async (version: string) =>
      (await send('GET', `/apis/metrics.k8s.io/${version}/nodes`)).status
    const statuses = async () => [await statusOf('v1beta1'), await statusOf('v1')]
    assert.deepEqual(await statuses(), [200, 404])
    assert.equal((await send('POST', crds, crd)).status, 201)
    await world.advance(10_000)
    assert.deepEqual(await statuses(), [404, 200])
    assert.equal((await send('DELETE', `${crds}/nodes.metrics.k8s.io`)).status, 200)
    await world.advance(10_000)
    assert.deepEqual(await statuses(), [200, 404])
  })

  it('may be read by those who may view', async () => {
    await using server = await open({})
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:aggregated-metrics-reader'
    const { body } = await server.send('GET', path)
    assert.equal(body.metadata.labels['rbac.authorization.k8s.io/aggregate-to-view'], 'true')
    assert.deepEqual(body.rules[0].resources, ['pods', 'nodes'])
  })
})
