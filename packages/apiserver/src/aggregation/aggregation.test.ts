import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeText } from '@coxswain/kit'
import type { Handler, WireRequest } from '@coxswain/wire'
import { apiServices, type ExtensionHouse, openExtensionHouse } from './test-support/extension-house.ts'

const address = '10.1.1.1:8443'
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const flunders = {
  resource: 'flunders',
  responseKind: { group: '', version: '', kind: 'Flunder' },
  scope: 'Namespaced',
  singularResource: 'flunder',
  verbs: ['get', 'list'],
}

function json(status: number, value: unknown, type = 'application/json') {
  return { status, headers: { 'content-type': type }, body: encodeText(JSON.stringify(value)) }
}

/** An extension API server of `wardle.example.com/v1`; the requests of clients are answered by `answer`. */
function createWardle(answer?: Handler) {
  const requests: WireRequest[] = []
  const handler: Handler = async request => {
    if (request.headers['x-remote-user'] !== 'system:kube-aggregator') {
      requests.push(request)
      if (answer) return await answer(request)
    }
    if (request.path === '/apis')
      return json(
        200,
        {
          items: [
            {
              metadata: { name: 'wardle.example.com' },
              versions: [{ version: 'v1', resources: [flunders] }],
            },
            { metadata: { name: 'apps' }, versions: [{ version: 'v1', resources: [flunders] }] },
          ],
        },
        aggregated,
      )
    return json(200, { kind: 'Echo', path: request.path })
  }
  return { handler, requests }
}

async function openWardle(answer?: Handler): Promise<ExtensionHouse & { requests: WireRequest[] }> {
  const { handler, requests } = createWardle(answer)
  const house = await openExtensionHouse({ servers: { [address]: handler } })
  await house.register({ group: 'wardle.example.com' })
  return Object.assign(house, { requests })
}

const collection = '/apis/wardle.example.com/v1/namespaces/default/flunders'

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
    assert.deepEqual(list.items.at(-1).versions, [{ version: 'v1', resources: [], freshness: 'Stale' }])
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
