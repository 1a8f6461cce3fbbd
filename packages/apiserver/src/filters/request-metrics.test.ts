import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { createInProcessTransport, discardBody, isStream, readBody } from '@coxswain/wire'
import { createApiServer } from '../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }

async function start() {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const admins = createInProcessTransport(server.handler, world, { peer: admin })
  const unauthenticated = createInProcessTransport(server.handler, world)
  const send = async (method: string, url: string, body?: object, transport = admins) => {
    const [path = '', query = ''] = url.split('?')
    const bytes = body && new TextEncoder().encode(JSON.stringify(body))
    const request = { method, path, query, headers: {}, signal: group.signal, ...(bytes && { body: bytes }) }
    return await world.run(transport.send(request))
  }
  return {
    send,
    unauthenticated,
    world,
    metrics: async () =>
      new TextDecoder().decode(await world.run(readBody((await send('GET', '/metrics')).body))),
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

const pods = '/api/v1/namespaces/default/configmaps'
const place = 'group="",version="v1",resource="configmaps",subresource=""'

describe('/metrics', () => {
  it('counts requests by their attributes and outcome', async () => {
    await using server = await start()
    await server.send('POST', pods, { metadata: { name: 'a' } })
    await server.send('POST', `${pods}?dryRun=All`, { metadata: { name: 'b' } })
    await server.send('GET', `${pods}/a`)
    await server.send('GET', `${pods}/missing`)
    await server.send('GET', pods)
    const text = await server.metrics()
    for (const line of [
      `apiserver_request_total{verb="POST",dry_run="",${place},scope="resource",component="apiserver",code="201"} 1`,
      `apiserver_request_total{verb="POST",dry_run="All",${place},scope="resource",component="apiserver",code="201"} 1`,
      `apiserver_request_total{verb="GET",dry_run="",${place},scope="resource",component="apiserver",code="200"} 1`,
      `apiserver_request_total{verb="GET",dry_run="",${place},scope="resource",component="apiserver",code="404"} 1`,
      `apiserver_request_total{verb="LIST",dry_run="",${place},scope="namespace",component="apiserver",code="200"} 1`,
      `apiserver_request_duration_seconds_count{verb="GET",dry_run="",${place},scope="resource",component="apiserver"} 2`,
      `apiserver_response_sizes_count{verb="LIST",${place},scope="namespace",component="apiserver"} 1`,
      'apiserver_storage_objects{resource="configmaps"} 2',
      'apiserver_resource_objects{group="apps",resource="deployments"} 0',
      'apiserver_admission_controller_admission_duration_seconds_count{name="NamespaceLifecycle",operation="CREATE",rejected="false",type="admit"} 2',
      'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="validate"} 2',
    ]) {
      assert.ok(text.includes(`${line}\n`), line)
    }
    assert.match(text, /^apiserver_current_inflight_requests\{request_kind="readOnly"\} 1$/m)
  })

  it('counts watches while they last, and as requests when they have ended', async () => {
    await using server = await start()
    const watch = await server.send('GET', `${pods}?watch=1&timeoutSeconds=5`)
    assert.ok(isStream(watch.body))
    const gauge = /^apiserver_longrunning_requests\{verb="WATCH".*\} (\d+)$/m
    const total = /^apiserver_request_total\{verb="WATCH".*code="200"\} (\d+)$/m
    assert.equal(gauge.exec(await server.metrics())?.[1], '1')
    assert.equal(total.exec(await server.metrics()), null)
    await server.world.run(discardBody(watch.body))
    await server.world.settle()
    assert.equal(gauge.exec(await server.metrics())?.[1], '0')
    assert.equal(total.exec(await server.metrics())?.[1], '1')
  })

  it('requires authorization', async () => {
    await using server = await start()
    assert.equal((await server.send('GET', '/metrics', undefined, server.unauthenticated)).status, 403)
  })

  it('does not grow with paths that clients make up', async () => {
    await using server = await start()
    const lines = async () => (await server.metrics()).split('\n').length
    await server.send('GET', '/made/up/0')
    await server.send('GET', '/apis/made.up/v0/things/x')
    const before = await lines()
    for (let i = 1; i < 50; i++) {
      await server.send('GET', `/made/up/${i}`)
      await server.send('GET', `/apis/made.up/v${i}/things/x`)
      await server.send(`METHOD${i}`, '/healthz')
    }
    assert.ok((await lines()) - before < 60)
  })
})
