import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport } from '@coxswain/wire'
import { createApiServer } from '../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const pods = '/api/v1/namespaces/default/pods'
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'

/** A server with a service account in `default`, so that Pods can be created. */
async function start() {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const transport = createInProcessTransport(server.handler, world, { peer: admin })
  const send = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const answer = await world.run(
      transport.send({
        method,
        path,
        query: '',
        headers: { 'content-type': type },
        signal: group.signal,
        ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
      }),
    )
    const text = new TextDecoder().decode(answer.body as Uint8Array)
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  return {
    send,
    makePod: async (spec: JsonObject = {}, labels: JsonObject = {}) =>
      await send('POST', pods, {
        metadata: { name: 'p', labels },
        spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
      }),
    merge: async (path: string, body: unknown) =>
      await send('PATCH', path, body, 'application/merge-patch+json'),
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

const bindTo = (node: string) => ({ metadata: { name: 'p' }, target: { kind: 'Node', name: node } })

describe('pods/binding', () => {
  it('assigns a pod once and reports it in its status', async () => {
    await using server = await start()
    assert.equal((await server.makePod()).status, 201)
    assert.equal((await server.send('POST', `${pods}/p/binding`, bindTo('n1'))).status, 201)
    const { body } = await server.send('GET', `${pods}/p`)
    assert.equal(body.spec.nodeName, 'n1')
    assert.deepEqual(
      body.status.conditions.map(({ type, status }: JsonObject) => [type, status]),
      [['PodScheduled', 'True']],
    )
    const again = await server.send('POST', `${pods}/p/binding`, bindTo('n2'))
    assert.equal(again.status, 409)
    assert.match(again.body.message, /already assigned to node "n1"/)
  })

  it('does not bind a gated pod', async () => {
    await using server = await start()
    await server.makePod({ schedulingGates: [{ name: 'a.b/c' }] })
    assert.equal((await server.send('POST', `${pods}/p/binding`, bindTo('n1'))).status, 409)
  })
})

describe('pods/log', () => {
  it('is empty while no node runs the pod, and checks the container name', async () => {
    await using server = await start()
    await server.makePod()
    assert.equal((await server.send('GET', `${pods}/p/log`)).status, 204)
    await server.send('POST', `${pods}/p/binding`, bindTo('n1'))
    const { status, body } = await server.send('GET', `${pods}/p/log`)
    assert.equal(status, 404)
    assert.match(body.message, /pods "n1" not found/)
  })
})

describe('the deletion of a pod', () => {
  it('is immediate without a node, and graceful on one', async () => {
    await using server = await start()
    await server.makePod()
    const gone = await server.send('DELETE', `${pods}/p`)
    assert.equal(gone.body.metadata.deletionGracePeriodSeconds, 0)
    assert.equal((await server.send('GET', `${pods}/p`)).status, 404)

    await server.makePod({ terminationGracePeriodSeconds: 7 })
    await server.send('POST', `${pods}/p/binding`, bindTo('n1'))
    const going = await server.send('DELETE', `${pods}/p`)
    assert.equal(going.body.metadata.deletionGracePeriodSeconds, 7)
    assert.equal((await server.send('GET', `${pods}/p`)).status, 200)
    await server.send('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 })
    assert.equal((await server.send('GET', `${pods}/p`)).status, 404)
  })
})

describe('pods/eviction', () => {
  const eviction = { metadata: { name: 'p' } }

  async function guarded(disruptionsAllowed: number) {
    const server = await start()
    await server.makePod({}, { app: 'a' })
    await server.send('POST', `${pods}/p/binding`, bindTo('n1'))
    await server.merge(`${pods}/p/status`, {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    })
    await server.send('POST', budgets, {
      metadata: { name: 'b' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
    })
    const status = {
      observedGeneration: 1,
      disruptionsAllowed,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    }
    assert.equal((await server.merge(`${budgets}/b/status`, { status })).status, 200)
    return server
  }

  it('is rejected when the budget allows no disruption', async () => {
    await using server = await guarded(0)
    const { status, body } = await server.send('POST', `${pods}/p/eviction`, eviction)
    assert.equal(status, 429)
    assert.deepEqual(body.details.causes, [
      {
        reason: 'DisruptionBudget',
        message: 'The disruption budget b needs 1 healthy pods and has 1 currently',
      },
    ])
    assert.equal((await server.send('GET', `${pods}/p`)).body.metadata.deletionTimestamp, undefined)
  })

  it('records its disruption in the budget and deletes the pod', async () => {
    await using server = await guarded(1)
    assert.equal((await server.send('POST', `${pods}/p/eviction`, eviction)).status, 201)
    const { status } = (await server.send('GET', `${budgets}/b`)).body
    assert.equal(status.disruptionsAllowed, 0)
    assert.deepEqual(Object.keys(status.disruptedPods), ['p'])
    const pod = (await server.send('GET', `${pods}/p`)).body
    assert.notEqual(pod.metadata.deletionTimestamp, undefined)
    assert.ok(pod.status.conditions.some(({ type }: JsonObject) => type === 'DisruptionTarget'))
  })
})

describe('pod security', () => {
  it('rejects pods that the labels of the namespace forbid', async () => {
    await using server = await start()
    await server.merge('/api/v1/namespaces/default', {
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } },
    })
    const { status, body } = await server.makePod({ hostNetwork: true })
    assert.equal(status, 403)
    assert.match(body.message, /violates PodSecurity "baseline:latest": host namespaces \(hostNetwork=true\)/)
    assert.equal((await server.makePod()).status, 201)
  })
})

describe('scale', () => {
  it('changes the replicas, and records their field manager', async () => {
    await using server = await start()
    const path = '/apis/apps/v1/namespaces/default/deployments'
    await server.send('POST', path, {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { app: 'a' } },
        template: {
          metadata: { labels: { app: 'a' } },
          spec: { containers: [{ name: 'c', image: 'x' }] },
        },
      },
    })
    const { body } = await server.merge(`${path}/d/scale`, { spec: { replicas: 4 } })
    assert.equal(body.kind, 'Scale')
    assert.equal(body.spec.replicas, 4)
    const { metadata, spec } = (await server.send('GET', `${path}/d`)).body
    assert.equal(spec.replicas, 4)
    const owners = metadata.managedFields.filter((entry: JsonObject) => entry.subresource === 'scale')
    assert.deepEqual(owners[0].fieldsV1, { 'f:spec': { 'f:replicas': {} } })
  })
})
