import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeText } from '@coxswain/kit'
import { apiServices, openExtensionHouse } from './test-support/extension-house.ts'
import { address, aggregated, collection, flunders, json, openWardle } from './test-support/wardle.ts'

describe('a request for an API group of another server', () => {
  it('is passed on with who made it, and without credentials or forged headers', async () => {
    await using house = await openWardle(async () => json(201, { made: true }))
    const reply = await house.send('POST', `${collection}?dryRun=All`, {
      body: encodeText('{"a":1}'),
      headers: {
        'content-type': 'application/json',
        'x-remote-user': 'mallory',
        'x-remote-group': 'system:masters',
        'x-remote-uid': '1',
        'x-remote-extra-scopes': 'all',
        'x-remote-other': 'x',
        authorization: 'Bearer secret',
        'impersonate-user': 'jane',
        'impersonate-group': ['system:masters', 'größe'],
        'impersonate-uid': '42',
        'impersonate-extra-scopes%2Fa': ['view', 'edit'],
        connection: 'x-hop',
        'x-hop': 'y',
      },
    })
    assert.deepEqual([reply.status, reply.json], [201, { made: true }])
    const [request] = house.requests
    assert.deepEqual([request?.method, request?.path, request?.query], ['POST', collection, 'dryRun=All'])
    assert.equal(new TextDecoder().decode(request?.body), '{"a":1}')
    const { 'audit-id': audit, ...headers } = request?.headers ?? {}
    assert.equal(audit, reply.headers['audit-id'])
    assert.deepEqual(
      { ...headers },
      {
        'content-type': 'application/json',
        'x-forwarded-for': '192.0.2.9',
        'x-forwarded-host': address,
        'x-forwarded-proto': 'https',
        'x-forwarded-uri': collection,
        'x-remote-user': 'jane',
        'x-remote-uid': '42',
        'x-remote-group': ['system:masters', 'grÃ¶Ã\u009fe', 'system:authenticated'],
        'x-remote-extra-scopes%2fa': ['view', 'edit'],
      },
    )
  })

  it('reaches the server by the name of its Service, with its CA and the certificate of the front proxy', async () => {
    await using house = await openWardle()
    await house.send('GET', collection)
    assert.deepEqual(house.targets[0], {
      origin: `https://${address}`,
      serverName: 'wardle-example-com.default.svc',
      ca: 'the CA',
      cert: 'front-proxy-client',
      key: 'its key',
    })
  })
})

describe('discovery of other servers', () => {
  it('lists their groups where their priority says, and nothing that is not theirs', async () => {
    await using house = await openWardle()
    const { json: list } = await house.send('GET', '/apis', { headers: { accept: aggregated } })
    const names = list.items.map((item: { metadata: { name: string } }) => item.metadata.name)
    assert.equal(names.at(-1), 'wardle.example.com')
    assert.deepEqual(list.items.at(-1).versions, [
      { version: 'v1', resources: [flunders], freshness: 'Current' },
    ])
    const apps = list.items.find((item: { metadata: { name: string } }) => item.metadata.name === 'apps')
    assert.ok(apps.versions[0].resources.length === 5)
    const { json: legacy } = await house.send('GET', '/apis')
    assert.equal(legacy.groups.at(-1).name, 'wardle.example.com')
    const { json: group } = await house.send('GET', '/apis/wardle.example.com')
    assert.deepEqual(group.preferredVersion, { groupVersion: 'wardle.example.com/v1', version: 'v1' })
  })

  it('lists a group whose server does not respond as stale', async () => {
    await using house = await openExtensionHouse()
    await house.register({ group: 'wardle.example.com' })
    const { json: list } = await house.send('GET', '/apis', { headers: { accept: aggregated } })
    assert.deepEqual(list.items.at(-1).versions, [{ version: 'v1', freshness: 'Stale' }])
    assert.equal(
      await house.availability('v1.wardle.example.com'),
      `False FailedDiscoveryCheck: failing or missing response from https://${address}/apis/wardle.example.com/v1: Get "https://${address}/apis/wardle.example.com/v1": dial tcp ${address}: connect: connection refused`,
    )
    const reply = await house.send('GET', collection)
    assert.deepEqual([reply.status, reply.text], [503, 'service unavailable\n'])
  })
})

describe('APIServices', () => {
  it('become available when their server responds', async () => {
    await using house = await openWardle()
    assert.equal(await house.availability('v1.wardle.example.com'), 'True Passed: all checks passed')
    await house.send('DELETE', `${apiServices}/v1.wardle.example.com`)
    const reply = await house.send('GET', collection)
    assert.deepEqual([reply.status, reply.text], [404, '404 page not found\n'])
    const { json: legacy } = await house.send('GET', '/apis')
    assert.ok(!JSON.stringify(legacy).includes('wardle'))
  })
})

describe('OpenAPI of other servers', () => {
  it('is merged: the paths of their own group, and no document of another', async () => {
    await using house = await openWardle()
    await house.world.advance(5_000)
    const { json: v2 } = await house.send('GET', '/openapi/v2')
    const path = v2.paths['/apis/wardle.example.com/v1/flunders']
    assert.equal(path.get.operationId, 'listFlunder')
    assert.notEqual(v2.paths['/apis/'].get.operationId, 'theirs')
    assert.ok('wardle.Flunder' in v2.definitions && !('unused' in v2.definitions))
    const { json: index } = await house.send('GET', '/openapi/v3')
    assert.deepEqual(index.paths['apis/wardle.example.com/v1'], {
      serverRelativeURL: '/openapi/v3/apis/wardle.example.com/v1?hash=AB',
    })
    assert.doesNotMatch(JSON.stringify(index), /EVIL/)
    const { json: document } = await house.send('GET', '/openapi/v3/apis/wardle.example.com/v1?hash=AB')
    assert.deepEqual(document, { kind: 'Echo', path: '/openapi/v3/apis/wardle.example.com/v1' })
    await house.send('DELETE', `${apiServices}/v1.wardle.example.com`)
    const { text } = await house.send('GET', '/openapi/v2')
    assert.doesNotMatch(text, /wardle/)
  })
})

const crd = {
  metadata: { name: 'books.shop.example' },
  spec: {
    group: 'shop.example',
    scope: 'Namespaced',
    names: { plural: 'books', kind: 'Book' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      { name: 'v1beta1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
}
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

describe('APIServices of groups that this server has itself', () => {
  const name = (version: string) => `${apiServices}/${version}.shop.example`

  it('are created, repaired and deleted with custom resources', async () => {
    await using house = await openExtensionHouse()
    await house.write('POST', crds, crd)
    const { json: made } = await house.send('GET', name('v1'))
    assert.deepEqual(made.metadata.labels, { 'kube-aggregator.kubernetes.io/automanaged': 'true' })
    assert.deepEqual(made.spec, {
      group: 'shop.example',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 100,
    })
    assert.equal(made.status.conditions[0].reason, 'Local')

    await house.write('PUT', name('v1'), { ...made, spec: { ...made.spec, groupPriorityMinimum: 5 } })
    assert.equal((await house.send('GET', name('v1'))).json.spec.groupPriorityMinimum, 1000)
    await house.send('DELETE', name('v1'))
    assert.equal((await house.send('GET', name('v1'))).status, 200)

    const [first, second] = crd.spec.versions
    const { json: present } = await house.send('GET', `${crds}/books.shop.example`)
    const versions = [first, { ...second, served: false }]
    await house.write('PUT', `${crds}/books.shop.example`, {
      ...present,
      spec: { ...present.spec, versions },
    })
    assert.equal((await house.send('GET', name('v1beta1'))).status, 404)
    await house.send('DELETE', `${crds}/books.shop.example`)
    assert.equal((await house.send('GET', name('v1'))).status, 404)
  })

  it('are left alone without the label, and lead elsewhere when they say so', async () => {
    await using house = await openWardle()
    await house.write('POST', crds, crd)
    const { json: made } = await house.send('GET', name('v1'))
    const service = { namespace: 'default', name: 'wardle-example-com', port: 443 }
    const { labels: _, ...metadata } = made.metadata
    await house.write('PUT', name('v1'), { ...made, metadata, spec: { ...made.spec, service } })
    const { json: echo } = await house.send('GET', '/apis/shop.example/v1/namespaces/default/books')
    assert.equal(echo.kind, 'Echo')
  })
})

describe('the order of groups', () => {
  it('follows the highest priority of their APIServices, that of versions their own', async () => {
    await using house = await openExtensionHouse()
    const service = { namespace: 'default', name: 's' }
    const add = (group: string, version: string, groupPriorityMinimum: number, versionPriority: number) =>
      house.write('POST', apiServices, {
        metadata: { name: `${version}.${group}` },
        spec: { group, version, groupPriorityMinimum, versionPriority, service },
      })
    await add('low.example', 'v1', 10, 1)
    await add('high.example', 'v1', 19_000, 1)
    await add('high.example', 'v2', 10, 50)
    await add('b.example', 'v1', 500, 1)
    await add('a.example', 'v2', 500, 1)
    await add('a.example', 'v1', 400, 1)
    const { json: legacy } = await house.send('GET', '/apis')
    const names = legacy.groups.map((group: { name: string }) => group.name)
    assert.deepEqual(names.slice(0, 2), ['apiregistration.k8s.io', 'high.example'])
    // Equal priorities: by the names v1.b.example and v2.a.example.
    assert.deepEqual(names.slice(-3), ['b.example', 'a.example', 'low.example'])
    assert.equal(legacy.groups[1].preferredVersion.version, 'v2')
    const { json: list } = await house.send('GET', '/apis', { headers: { accept: aggregated } })
    const items = list.items.map((item: { metadata: { name: string } }) => item.metadata.name)
    // Here by the name of the group.
    assert.deepEqual(
      [items[0], items[1], ...items.slice(-3)],
      ['apiregistration.k8s.io', 'high.example', 'a.example', 'b.example', 'low.example'],
    )
  })
})

describe('metrics.k8s.io, which is built in', () => {
  const metrics = '/apis/metrics.k8s.io/v1beta1'

  it('gives way to an APIService, whether its server responds or not, and is back when that is deleted', async () => {
    const servers = { [address]: async () => json(200, { kind: 'Theirs' }) }
    await using house = await openExtensionHouse({ servers, resourceMetrics: true })
    const name = `${apiServices}/v1beta1.metrics.k8s.io`
    assert.equal((await house.send('GET', `${metrics}/nodes`)).json.kind, 'NodeMetricsList')
    assert.equal((await house.send('GET', name)).status, 404)

    await house.register({ group: 'metrics.k8s.io', version: 'v1beta1' })
    assert.equal((await house.send('GET', `${metrics}/nodes`)).json.kind, 'Theirs')
    const { json: legacy } = await house.send('GET', '/apis')
    const groups = legacy.groups.filter((group: { name: string }) => group.name === 'metrics.k8s.io')
    assert.equal(groups.length, 1)

    await house.send('DELETE', '/api/v1/namespaces/default/services/metrics-k8s-io')
    const down = await house.send('GET', `${metrics}/nodes`)
    assert.deepEqual([down.status, down.text], [503, 'service unavailable\n'])
    const { json: list } = await house.send('GET', '/apis', { headers: { accept: aggregated } })
    const stale = list.items.find(
      (item: { metadata: { name: string } }) => item.metadata.name === 'metrics.k8s.io',
    )
    assert.deepEqual(stale.versions, [{ version: 'v1beta1', freshness: 'Stale' }])

    await house.send('DELETE', name)
    assert.equal((await house.send('GET', `${metrics}/nodes`)).json.kind, 'NodeMetricsList')
  })
})
