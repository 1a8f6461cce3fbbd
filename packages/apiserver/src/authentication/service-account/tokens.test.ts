import assert from 'node:assert/strict'
import { createHmac, createPublicKey, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import { builtinProtobuf } from '@coxswain/api'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { VirtualWorld } from '@coxswain/kit'
import { startTestServer, testServiceAccountKeys } from '../../test-support/token-server.ts'
import { signJwt } from '../jwt/jwt.ts'

const namespace = '/api/v1/namespaces/default'
const accounts = `${namespace}/serviceaccounts`
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews'
const issuer = 'https://kubernetes.default.svc'
const minute = 60_000

type Server = Awaited<ReturnType<typeof startTestServer>>

async function startWithAccount(options: Parameters<typeof startTestServer>[0] = {}) {
  const server = await startTestServer(options)
  const account = await server.create(accounts, { metadata: { name: 'bot' } })
  return Object.assign(server, { uid: account.metadata!.uid as string })
}

async function requestToken(server: Server, spec: JsonObject = {}): Promise<string> {
  const { status } = await server.create(`${accounts}/bot/token`, { spec })
  return status!.token as string
}

function decode(token: string): JsonObject {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
}

const pod = {
  metadata: { name: 'p' },
  spec: { serviceAccountName: 'bot', containers: [{ name: 'c', image: 'i' }] },
}

describe('tokens of service accounts', () => {
  it("are issued for the account, for an hour, for the server's own audience", async () => {
    await using server = await startWithAccount()
    const { metadata, spec, status } = await server.create(`${accounts}/bot/token`, {})
    assert.deepEqual(spec, { audiences: [issuer], expirationSeconds: 3600, boundObjectRef: null })
    assert.equal(metadata!.uid, server.uid)
    const { iat, jti, ...claims } = decode(status!.token as string)
    assert.match(jti as string, /^[0-9a-f-]{36}$/)
    assert.deepEqual(claims, {
      aud: [issuer],
      exp: (iat as number) + 3600,
      iss: issuer,
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'bot', uid: server.uid } },
      nbf: iat,
      sub: 'system:serviceaccount:default:bot',
    })
  })

  it('authenticate as the account', async () => {
    await using server = await startWithAccount()
    const token = await requestToken(server)
    const { status, body } = await server.withToken(token)
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(body.status.userInfo, {
      username: 'system:serviceaccount:default:bot',
      uid: server.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${decode(token).jti}`] },
    })
  })

  it('name the pod that they are bound to, and its node', async () => {
    await using server = await startWithAccount()
    const node = await server.create('/api/v1/nodes', { metadata: { name: 'n' } })
    const { metadata } = await server.create(`${namespace}/pods`, {
      ...pod,
      spec: { ...pod.spec, nodeName: 'n' },
    })
    const token = await requestToken(server, {
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: metadata!.uid },
    })
    const { extra } = (await server.withToken(token)).body.status.userInfo
    assert.deepEqual(extra['authentication.kubernetes.io/pod-name'], ['p'])
    assert.deepEqual(extra['authentication.kubernetes.io/pod-uid'], [metadata!.uid])
    assert.deepEqual(extra['authentication.kubernetes.io/node-name'], ['n'])
    assert.deepEqual(extra['authentication.kubernetes.io/node-uid'], [node.metadata!.uid])
  })

  it('expire ten seconds after their time at the latest', async () => {
    await using server = await startWithAccount()
    const token = await requestToken(server, { expirationSeconds: 600 })
    await server.world.advance(10 * minute)
    assert.equal((await server.withToken(token)).status, 201)
    await server.world.advance(10_001)
    assert.equal((await server.withToken(token)).status, 401)
  })

  it('become invalid with their account, at once, even when it is recreated under the same name', async () => {
    await using server = await startWithAccount()
    const token = await requestToken(server)
    assert.equal((await server.withToken(token)).status, 201)
    await server.send('DELETE', `${accounts}/bot`)
    assert.equal((await server.withToken(token)).status, 401)
    await server.create(accounts, { metadata: { name: 'bot' } })
    assert.equal((await server.withToken(token)).status, 401)
  })

  it('become invalid ten seconds after their account was deleted, even while a finalizer holds it', async () => {
    await using server = await startTestServer()
    await server.create(accounts, { metadata: { name: 'bot', finalizers: ['example.com/hold'] } })
    const token = await requestToken(server)
    await server.send('DELETE', `${accounts}/bot`)
    assert.equal((await server.withToken(token)).status, 201)
    await server.world.advance(11_000)
    assert.equal((await server.withToken(token)).status, 401)
  })

  for (const [kind, url, object] of [
    ['Pod', `${namespace}/pods`, pod],
    ['Secret', `${namespace}/secrets`, { metadata: { name: 'p' } }],
    ['Node', '/api/v1/nodes', { metadata: { name: 'p' } }],
  ] as const) {
    it(`become invalid with the ${kind} they are bound to`, async () => {
      await using server = await startWithAccount()
      await server.create(url, object)
      const token = await requestToken(server, { boundObjectRef: { apiVersion: 'v1', kind, name: 'p' } })
      assert.equal((await server.withToken(token)).status, 201)
      await server.send('DELETE', `${url}/p?gracePeriodSeconds=0`)
      assert.equal((await server.withToken(token)).status, 401)
      await server.create(url, object)
      assert.equal((await server.withToken(token)).status, 401, 'another object of that name')
    })
  }

  it('remain valid for a minute while their pod is terminating', async () => {
    await using server = await startWithAccount()
    await server.create('/api/v1/nodes', { metadata: { name: 'n' } })
    await server.create(`${namespace}/pods`, { ...pod, spec: { ...pod.spec, nodeName: 'n' } })
    const token = await requestToken(server, { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } })
    await server.send('DELETE', `${namespace}/pods/p?gracePeriodSeconds=30`)
    await server.world.advance(80_000)
    assert.equal((await server.withToken(token)).status, 201)
    await server.world.advance(11_000)
    assert.equal((await server.withToken(token)).status, 401)
  })

  it('last a year for pods that ask for the usual hour, and stale use is logged', async () => {
    await using server = await startWithAccount()
    await server.create(`${namespace}/pods`, pod)
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p' }
    const token = await requestToken(server, { expirationSeconds: 3607, boundObjectRef })
    const claims = decode(token)
    assert.equal((claims.exp as number) - (claims.iat as number), 365 * 24 * 3600)
    assert.equal((claims['kubernetes.io'] as JsonObject).warnafter, (claims.iat as number) + 3607)
    const other = decode(
      await requestToken(server, { expirationSeconds: 3607, boundObjectRef, audiences: ['x'] }),
    )
    assert.equal((other.exp as number) - (other.iat as number), 3607)
  })

  it("are shortened to the server's limit", async () => {
    const serviceAccounts = { ...testServiceAccountKeys(), maxExpiration: 3600 }
    await using server = await startWithAccount({ authentication: { serviceAccounts } })
    const { headers, body } = await server.send('POST', `${accounts}/bot/token`, {
      body: { spec: { expirationSeconds: 7200 } },
    })
    assert.equal(body.spec.expirationSeconds, 3600)
    assert.deepEqual(headers.warning, [
      '299 - "requested expiration of 7200 seconds shortened to 3600 seconds"',
    ])
  })

  it('are the same in two runs with one seed', async () => {
    const serviceAccounts = testServiceAccountKeys()
    const run = async () => {
      await using server = await startWithAccount({
        world: new VirtualWorld({ seed: 5 }),
        authentication: { serviceAccounts },
      })
      return decode(await requestToken(server))
    }
    assert.deepEqual(await run(), await run())
  })
})

describe('invalid tokens', () => {
  const keys = testServiceAccountKeys()

  /** A token like the server's own, changed. */
  async function forge(change: (claims: JsonObject) => JsonObject, sign = keys.signingKey): Promise<number> {
    await using server = await startWithAccount({ authentication: { serviceAccounts: keys } })
    const claims = decode(await requestToken(server))
    return (await server.withToken(signJwt(change(claims), sign))).status
  }

  it('are accepted when nothing was changed', async () => {
    assert.equal(await forge(claims => claims), 201)
  })

  for (const [what, change] of [
    ['have another issuer', { iss: 'https://evil.example.com' }],
    ['are for another audience', { aud: ['vault'] }],
    ['have expired', { exp: 1 }],
    ['have an expiry that is not a number', { exp: 'never' }],
    ['are not yet valid', { nbf: 4_000_000_000 }],
    ['were issued in the future', { iat: 4_000_000_000 }],
    ['have no service account', { 'kubernetes.io': undefined }],
    ['have an audience that is not a string', { aud: [7] }],
  ] as const) {
    it(`are rejected when they ${what}`, async () => {
      assert.equal(await forge(claims => ({ ...claims, ...change })), 401)
    })
  }

  it('are rejected when another key signed them, even with our key id', async () => {
    const otherKey = testServiceAccountKeys().signingKey
    assert.equal(await forge(claims => claims, otherKey), 401)
    assert.equal(await forge(claims => claims, { ...otherKey, keyId: keys.signingKey.keyId }), 401)
  })

  it('are rejected without a signature, and with one made of the public key', async () => {
    await using server = await startWithAccount({ authentication: { serviceAccounts: keys } })
    const [, body] = (await requestToken(server)).split('.')
    const head = (alg: string) =>
      Buffer.from(JSON.stringify({ alg, kid: keys.signingKey.keyId })).toString('base64url')
    const jwk = keys.verificationKeys[0]!.jwk
    const pem = createPublicKey({ key: { ...jwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const input = `${head('HS256')}.${body}`
    const mac = createHmac('sha256', pem).update(input).digest('base64url')
    for (const token of [`${head('none')}.${body}.`, `${head('None')}.${body}.`, `${input}.${mac}`]) {
      assert.equal((await server.withToken(token)).status, 401)
    }
  })

  it('are rejected in another encoding', async () => {
    await using server = await startWithAccount({ authentication: { serviceAccounts: keys } })
    const token = await requestToken(server)
    for (const other of [`${token}=`, `${token}.`, token.slice(0, -1), token.replace('.', '..')]) {
      assert.equal((await server.withToken(other)).status, 401)
    }
  })

  it('are never anonymous', async () => {
    await using server = await startTestServer()
    assert.equal((await server.withToken('unknown', 'GET', '/healthz')).status, 401)
    assert.equal((await server.send('GET', '/healthz', { peer: null })).status, 200)
  })
})

describe('token requests', () => {
  for (const [what, spec, code, message] of [
    ['too short', { expirationSeconds: 599 }, 422, /may not specify a duration less than 10 minutes/],
    [
      'too long',
      { expirationSeconds: 2 ** 32 + 1 },
      422,
      /may not specify a duration larger than 2\^32 seconds/,
    ],
    [
      'bound to a kind that is not supported',
      { boundObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'x' } },
      400,
      /^cannot bind token to object of type \/v1, Kind=ConfigMap$/,
    ],
    [
      'bound to a pod that does not exist',
      { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'x' } },
      404,
      /^pods "x" not found$/,
    ],
  ] as const) {
    it(`are rejected when they are ${what}`, async () => {
      await using server = await startWithAccount()
      const answer = await server.send('POST', `${accounts}/bot/token`, { body: { spec } })
      assert.equal(answer.status, code)
      assert.match(answer.body.message, message)
    })
  }

  it('are rejected for a pod of another account', async () => {
    await using server = await startWithAccount()
    await server.create(accounts, { metadata: { name: 'other' } })
    await server.create(`${namespace}/pods`, pod)
    const answer = await server.send('POST', `${accounts}/other/token`, {
      body: { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } } },
    })
    assert.equal(answer.status, 400)
    assert.equal(
      answer.body.message,
      'cannot bind token for serviceaccount "other" to pod running with different serviceaccount name.',
    )
  })

  it('are for the account in the path, and of its uid', async () => {
    await using server = await startWithAccount()
    const ask = async (metadata: JsonObject) => {
      const { status, body } = await server.send('POST', `${accounts}/bot/token`, { body: { metadata } })
      return `${status} ${body.message ?? ''}`
    }
    assert.match(await ask({ name: 'x' }), /^422 .*must match the service account name if specified$/)
    assert.match(
      await ask({ namespace: 'x' }),
      /^422 .*must match the service account namespace if specified$/,
    )
    assert.match(await ask({ uid: 'x' }), /^409 .*the UID in the token request \(x\) does not match/)
  })
})

describe('token requests in protobuf', () => {
  it('are decoded and answered as client-go expects', async () => {
    await using server = await startWithAccount()
    const type = 'application/vnd.kubernetes.protobuf'
    const body = builtinProtobuf.encode({
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: { audiences: ['vault'], expirationSeconds: 900 },
    })
    const { status, body: answer } = await server.sendBytes('POST', `${accounts}/bot/token`, body, {
      'content-type': type,
      accept: type,
    })
    assert.equal(status, 201)
    const decoded = builtinProtobuf.decode(answer) as Record<string, JsonObject>
    assert.deepEqual(decode(decoded.status!.token as string).aud, ['vault'])
    assert.equal(Number(decoded.spec!.expirationSeconds), 900)
  })
})

describe('token reviews', () => {
  it('report the requested audiences that a token is for', async () => {
    await using server = await startWithAccount()
    const token = await requestToken(server, { audiences: ['vault', 'db'] })
    const ask = async (audiences?: string[]) =>
      (await server.send('POST', reviews, { body: { spec: { token, ...(audiences && { audiences }) } } }))
        .body.status
    assert.deepEqual((await ask(['x', 'vault'])).audiences, ['vault'])
    assert.equal((await ask(['x', 'vault'])).authenticated, true)
    assert.deepEqual(await ask(), {
      user: {},
      error: `[invalid bearer token, token audiences ["vault" "db"] is invalid for the target audiences ["${issuer}"]]`,
    })
    assert.equal((await server.withToken(token)).status, 401, 'it is not for the server')
  })

  it('never contain the token in their error', async () => {
    await using server = await startWithAccount()
    const token = await requestToken(server, { expirationSeconds: 600 })
    await server.world.advance(20 * minute)
    const { body } = await server.send('POST', reviews, { body: { spec: { token } } })
    assert.equal(body.status.error, '[invalid bearer token, service account token has expired]')
  })
})

describe('the issuer', () => {
  it('publishes what relying parties need to verify a token', async () => {
    await using server = await startWithAccount()
    const token = await requestToken(server)
    const configuration = await server.send('GET', '/.well-known/openid-configuration')
    assert.equal(configuration.headers['cache-control'], 'public, max-age=3600')
    assert.deepEqual(configuration.body, {
      issuer,
      jwks_uri: 'https://192.0.2.1:6443/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    })
    const { headers, body } = await server.send('GET', '/openid/v1/jwks')
    assert.equal(headers['content-type'], 'application/jwk-set+json')
    const [head, claims, signature] = token.split('.')
    const { kid } = JSON.parse(Buffer.from(head!, 'base64url').toString())
    const jwk = body.keys.find((key: { kid: string }) => key.kid === kid)
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const bytes = Buffer.from(signature!, 'base64url')
    assert.ok(verify('sha256', Buffer.from(`${head}.${claims}`), { key, dsaEncoding: 'ieee-p1363' }, bytes))
  })

  it('still accepts tokens of an earlier key and of an earlier issuer', async () => {
    const before = { ...testServiceAccountKeys(), issuers: ['https://old.example.com'] }
    const after = testServiceAccountKeys()
    const serviceAccounts = {
      ...after,
      verificationKeys: [...after.verificationKeys, ...before.verificationKeys],
      issuers: [issuer, 'https://old.example.com'],
    }
    await using server = await startWithAccount({ authentication: { serviceAccounts } })
    const claims = { ...decode(await requestToken(server)), iss: 'https://old.example.com' }
    assert.equal((await server.withToken(signJwt(claims, before.signingKey))).status, 201)
  })
})
