import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestServer } from '../test-support/token-server.ts'
import { authenticateBootstrapToken } from './bootstrap-token.ts'

const secrets = '/api/v1/namespaces/kube-system/secrets'
const token = '07401b.f395accd246ae52d'

async function start(data: Record<string, string> = {}, type = 'bootstrap.kubernetes.io/token') {
  const server = await startTestServer({ authentication: { tokens: [authenticateBootstrapToken] } })
  await server.create(secrets, {
    metadata: { name: 'bootstrap-token-07401b' },
    type,
    stringData: {
      'token-id': '07401b',
      'token-secret': 'f395accd246ae52d',
      'usage-bootstrap-authentication': 'true',
      ...data,
    },
  })
  return server
}

describe('bootstrap tokens', () => {
  it('authenticate as a bootstrapper, in the groups of the secret', async () => {
    await using server = await start({ 'auth-extra-groups': 'system:bootstrappers:w,system:bootstrappers:a' })
    const { body } = await server.withToken(token)
    assert.deepEqual(body.status.userInfo, {
      username: 'system:bootstrap:07401b',
      groups: [
        'system:bootstrappers',
        'system:bootstrappers:a',
        'system:bootstrappers:w',
        'system:authenticated',
      ],
    })
  })

  it('expire with their time and with their secret', async () => {
    await using server = await start({ expiration: '2030-01-01T01:00:00Z' })
    assert.equal((await server.withToken(token)).status, 201)
    await server.world.advance(3_600_000)
    assert.equal((await server.withToken(token)).status, 401)
    await using other = await start()
    await other.send('DELETE', `${secrets}/bootstrap-token-07401b`)
    assert.equal((await other.withToken(token)).status, 401)
  })

  for (const [what, data, type] of [
    ['has another secret', { 'token-secret': 'aaaaaaaaaaaaaaaa' }],
    ['has another id', { 'token-id': '123456' }],
    ['is not for authentication', { 'usage-bootstrap-authentication': 'false' }],
    ['has an expiration that cannot be parsed', { expiration: 'tomorrow' }],
    ['has a group that is not allowed for bootstrappers', { 'auth-extra-groups': 'system:masters' }],
    ['is of another type', {}, 'Opaque'],
  ] as const) {
    it(`are rejected when the secret ${what}`, async () => {
      await using server = await start(data, type)
      assert.equal((await server.withToken(token)).status, 401)
    })
  }

  it('must have the exact form', async () => {
    await using server = await start()
    for (const other of [`${token}x`, token.toUpperCase(), token.replace('.', '')]) {
      assert.equal((await server.withToken(other)).status, 401)
    }
  })
})
