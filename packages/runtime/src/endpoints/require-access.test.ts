import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '@coxswain/client'
import { VirtualWorld } from '@coxswain/kit'
import { createInProcessTransport, type Handler } from '@coxswain/wire'
import { requireAccess } from './require-access.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** An API server with only reviews: the token is the user, `unknown` is invalid, and the user `may` is allowed. */
function createSetup() {
  const world = new VirtualWorld({ seed: 1 })
  const asked: string[] = []
  let isBroken = false
  const server: Handler = async ({ path, body }) => {
    const review = JSON.parse(decoder.decode(body))
    const { token, user, nonResourceAttributes } = review.spec
    asked.push(path.split('/').at(-1)!)
    if (isBroken) return { status: 400, headers: {}, body: encoder.encode('{}') }
    const status = token
      ? token === 'unknown'
        ? { authenticated: false, error: 'invalid bearer token' }
        : { authenticated: true, user: { username: token, groups: ['g'] } }
      : { allowed: user === 'may' && nonResourceAttributes.verb === 'get' }
    const headers = { 'content-type': 'application/json' }
    return { status: 201, headers, body: encoder.encode(JSON.stringify({ ...review, status })) }
  }
  const client = createClient({ env: world, transport: createInProcessTransport(server, world) })
  const handler = requireAccess(async () => ({ status: 200, headers: {}, body: encoder.encode('shown') }), {
    client,
    env: world,
  })
  const ask = async (token?: string, method = 'GET') => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const { signal } = new AbortController()
    const answer = await world.run(handler({ method, path: '/metrics', query: '', headers, signal }))
    return `${answer.status} ${decoder.decode(answer.body as Uint8Array).trim()}`
  }
  const breakServer = () => {
    isBroken = true
  }
  return { ask, asked, world, breakServer }
}

describe('access to endpoints', () => {
  it('needs a valid token, and a user who may get the path', async () => {
    const { ask } = createSetup()
    assert.equal(await ask(), '401 Unauthorized')
    assert.equal(await ask('unknown'), '500 Authentication failed')
    assert.equal(await ask('other'), '403 Authorization denied for user other')
    assert.equal(await ask('may'), '200 shown')
    assert.equal(await ask('may', 'POST'), '403 Authorization denied for user may')
    assert.equal(await ask('x'.repeat(20_000)), '500 Authentication failed')
  })

  it('caches the answers of the API server', async () => {
    const { ask, asked, world } = createSetup()
    for (let i = 0; i < 5; i++) await ask('may')
    for (let i = 0; i < 5; i++) await ask('unknown')
    assert.deepEqual(asked, ['tokenreviews', 'subjectaccessreviews', 'tokenreviews'])
    await world.advance(61_000)
    await ask('may')
    assert.deepEqual(asked.slice(3), ['tokenreviews'], 'tokens expire before authorizations')
    await world.advance(300_000)
    await ask('may')
    assert.deepEqual(asked.slice(4), ['tokenreviews', 'subjectaccessreviews'])
  })

  it('is denied while the API server does not answer', async () => {
    const { ask, breakServer } = createSetup()
    breakServer()
    assert.equal(await ask('may'), '500 Authentication failed')
  })
})
