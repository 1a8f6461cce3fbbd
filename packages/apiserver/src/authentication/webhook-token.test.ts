import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { VirtualWorld } from '@coxswain/kit'
import { createInProcessTransport, type WireRequest, type WireResponse } from '@coxswain/wire'
import type { Outbound } from '../outbound/outbound.ts'
import { startTestServer } from '../test-support/token-server.ts'
import type { TokenQuestion } from './authenticator.ts'
import { cacheTokens } from './token-cache.ts'
import { createWebhookTokenAuthenticator } from './webhook-token.ts'

interface Review {
  readonly apiVersion: string
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] }
}

/** A webhook that answers with what `answer` returns for the review. */
async function start(
  answer: (review: Review) => JsonObject | number,
  options: { readonly version?: 'v1' | 'v1beta1'; readonly cacheTtl?: number } = {},
) {
  const world = new VirtualWorld()
  const asked: (Review & { readonly authorization: unknown })[] = []
  const handler = async ({ body, headers, path }: WireRequest): Promise<WireResponse> => {
    assert.equal(path, '/review')
    const review: Review = JSON.parse(new TextDecoder().decode(body))
    asked.push({ ...review, authorization: headers.authorization })
    const status = answer(review)
    if (typeof status === 'number') return { status, headers: {} }
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: new TextEncoder().encode(JSON.stringify({ ...review, status })),
    }
  }
  const outbound: Outbound = { connect: () => createInProcessTransport(handler, world) }
  const webhook = createWebhookTokenAuthenticator({
    env: world,
    outbound,
    target: { origin: 'https://webhook.example.com' },
    path: '/review',
    headers: { authorization: 'Bearer ours' },
    version: options.version ?? 'v1',
    cacheTtl: options.cacheTtl ?? 120_000,
  })
  const server = await startTestServer({ world, authentication: { tokens: [webhook], audiences: ['api'] } })
  return Object.assign(server, { asked })
}

const user = { username: 'jane', uid: 'u1', groups: ['devs'], extra: { k: ['v'] } }

describe('the token webhook', () => {
  it('authenticates a token, and receives the audiences', async () => {
    await using server = await start(() => ({ authenticated: true, user }))
    const { body } = await server.withToken('opaque')
    assert.deepEqual(body.status.userInfo, {
      username: 'jane',
      uid: 'u1',
      groups: ['devs', 'system:authenticated'],
      extra: { k: ['v'] },
    })
    const [{ apiVersion, spec, authorization }] = server.asked as [(typeof server.asked)[number]]
    assert.equal(apiVersion, 'authentication.k8s.io/v1')
    assert.deepEqual(spec, { token: 'opaque', audiences: ['api'] })
    assert.equal(authorization, 'Bearer ours')
  })

  it('is called in the version that it supports', async () => {
    await using server = await start(() => ({ authenticated: true, user }), { version: 'v1beta1' })
    assert.equal((await server.withToken('opaque')).status, 201)
    assert.equal(server.asked[0]?.apiVersion, 'authentication.k8s.io/v1beta1')
  })

  it('is called again only when the cached response has expired', async () => {
    let isGood = true
    await using server = await start(() => ({ authenticated: isGood, user }), { cacheTtl: 10_000 })
    await server.withToken('opaque')
    isGood = false
    await server.world.advance(9000)
    assert.equal((await server.withToken('opaque')).status, 201)
    await server.world.advance(2000)
    assert.equal((await server.withToken('opaque')).status, 401)
    assert.equal(server.asked.length, 2)
  })

  it('must confirm a requested audience', async () => {
    await using server = await start(() => ({ authenticated: true, user, audiences: ['vault'] }))
    assert.equal((await server.withToken('opaque')).status, 401)
  })

  it('is retried when it fails, and then the request is rejected without its message', async () => {
    let failures = 2
    await using server = await start(() => (failures-- > 0 ? 503 : { authenticated: true, user }))
    assert.equal((await server.withToken('opaque')).status, 201)
    assert.equal(server.asked.length, 3)
    await using down = await start(() => 500)
    assert.equal((await down.withToken('opaque')).status, 401)
    assert.equal(down.asked.length, 5)
  })

  it('is not called for tokens that other authenticators know', async () => {
    await using server = await start(() => ({ authenticated: true, user }))
    await server.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'bot' } })
    const { status } = await server.create('/api/v1/namespaces/default/serviceaccounts/bot/token', {})
    assert.equal((await server.withToken(status!.token as string)).status, 201)
    assert.equal(server.asked.length, 0)
  })
})

describe('cacheTokens', () => {
  const question = { audiences: ['api'] } as unknown as TokenQuestion

  it('shares one call between concurrent requests, and caches no failure', async () => {
    const world = new VirtualWorld()
    let asked = 0
    const cached = cacheTokens(
      async () => {
        asked++
        await world.clock.sleep(100)
        return { error: 'down' }
      },
      { clock: world.clock, ttl: 1000 },
    )
    const together = Promise.all(['t', 't', 'other'].map(token => cached(token, question)))
    await world.run(together)
    assert.equal(asked, 2)
    await world.run(Promise.resolve(cached('t', question)))
    assert.equal(asked, 3)
  })

  it('caches per audience', async () => {
    const world = new VirtualWorld()
    const cached = cacheTokens((_token, { audiences }) => ({ user: { name: 'a', groups: [] }, audiences }), {
      clock: world.clock,
      ttl: 1000,
    })
    const other = { ...question, audiences: ['vault'] }
    assert.deepEqual(await cached('t', question), { user: { name: 'a', groups: [] }, audiences: ['api'] })
    assert.deepEqual(await cached('t', other), { user: { name: 'a', groups: [] }, audiences: ['vault'] })
  })
})
