import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { VirtualWorld } from '@coxswain/kit'
import { createInProcessTransport, type WireRequest, type WireResponse } from '@coxswain/wire'
import { importJwk } from '../../node/keys.ts'
import type { Outbound, Target } from '../../outbound/outbound.ts'
import { startTestServer } from '../../test-support/token-server.ts'
import { createOidcAuthenticator } from './authenticator.ts'
import { type JwtAuthenticator, readAuthenticationConfiguration } from './configuration.ts'
import { compileMapper } from './mapper.ts'

const url = 'https://login.example.com/realm'

interface ProviderKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: KeyObject
  readonly jwk: JsonObject
}

function makeKey(kid: string, alg: string): ProviderKey {
  const { privateKey, publicKey } = alg.startsWith('ES')
    ? generateKeyPairSync('ec', {
        namedCurve: alg === 'ES256' ? 'P-256' : alg === 'ES384' ? 'P-384' : 'P-521',
      })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    kid,
    alg,
    privateKey,
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } as JsonObject,
  }
}

function signWith({ kid, alg, privateKey: key }: ProviderKey, claims: JsonObject): string {
  const part = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${part({ alg, kid })}.${part(claims)}`
  const padding = alg.startsWith('PS')
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {}
  const signature = sign(`sha${alg.slice(2)}`, Buffer.from(input), {
    key,
    dsaEncoding: 'ieee-p1363',
    ...padding,
  })
  return `${input}.${signature.toString('base64url')}`
}

const rsa = makeKey('k1', 'RS256')

const base: JwtAuthenticator = {
  issuer: { url, audiences: ['api'] },
  claimMappings: { username: { claim: 'sub', prefix: 'oidc:' }, groups: { claim: 'groups', prefix: '' } },
}

async function start(authenticator: JwtAuthenticator = base) {
  const world = new VirtualWorld()
  const provider = {
    keys: [rsa],
    issuer: url,
    isDown: false,
    targets: [] as Target[],
    requests: [] as string[],
    claims: new Map<string, string>(),
    authorization: '',
  }
  const handler = async ({ path, headers }: WireRequest): Promise<WireResponse> => {
    provider.requests.push(path)
    if (provider.isDown) return { status: 503, headers: {} }
    const claim = provider.claims.get(path)
    if (claim) {
      provider.authorization = String(headers.authorization)
      return { status: 200, headers: {}, body: new TextEncoder().encode(claim) }
    }
    const body =
      path === '/jwks'
        ? { keys: provider.keys.map(({ jwk }) => jwk) }
        : { issuer: provider.issuer, jwks_uri: 'https://keys.example.com/jwks' }
    return { status: 200, headers: {}, body: new TextEncoder().encode(JSON.stringify(body)) }
  }
  const outbound: Outbound = {
    connect(target) {
      provider.targets.push(target)
      return createInProcessTransport(handler, world)
    },
  }
  const oidc = createOidcAuthenticator({ env: world, outbound, authenticator, importKey: importJwk })
  const server = await startTestServer({ world, authentication: { tokens: [oidc] } })
  const now = Math.floor(world.clock.now() / 1000)
  const claims = { iss: url, aud: 'api', sub: 'jane', exp: now + 3600, iat: now, jti: 'id1' }
  return Object.assign(server, { provider, claims })
}

describe('tokens of an OpenID provider', () => {
  it('map their claims to a user', async () => {
    await using server = await start()
    const token = signWith(rsa, { ...server.claims, groups: ['devs', 'ops'] })
    const { status, body } = await server.withToken(token)
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(body.status.userInfo, {
      username: 'oidc:jane',
      groups: ['devs', 'ops', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=id1'] },
    })
    assert.deepEqual(server.provider.requests, ['/realm/.well-known/openid-configuration', '/jwks'])
    await server.withToken(token)
    assert.equal(server.provider.requests.length, 2, 'keys are fetched once')
  })

  for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512']) {
    it(`may be signed with ${alg}`, async () => {
      await using server = await start()
      const key = makeKey('k2', alg)
      server.provider.keys = [key]
      assert.equal((await server.withToken(signWith(key, server.claims))).status, 201)
    })
  }

  for (const [what, change] of [
    ['another audience', { aud: 'other' }],
    ['no audience', { aud: undefined }],
    ['no end', { exp: undefined }],
    ['an end that has passed', { exp: 1000 }],
    ['a beginning far ahead', { nbf: 4_000_000_000 }],
    ['another issuer', { iss: 'https://evil.example.com' }],
    ['no subject', { sub: undefined }],
    ['a subject that is no text', { sub: ['jane'] }],
    ['groups that are no texts', { groups: [1] }],
  ] as const) {
    it(`are rejected with ${what}`, async () => {
      await using server = await start()
      assert.equal((await server.withToken(signWith(rsa, { ...server.claims, ...change }))).status, 401)
    })
  }

  it('are rejected when another key signed them', async () => {
    await using server = await start()
    assert.equal((await server.withToken(signWith(makeKey('k1', 'RS256'), server.claims))).status, 401)
    assert.equal((await server.withToken(signWith(makeKey('kx', 'RS256'), server.claims))).status, 401)
  })

  it('of a new key are accepted as soon as the provider publishes it', async () => {
    await using server = await start()
    assert.equal((await server.withToken(signWith(rsa, server.claims))).status, 201)
    const next = makeKey('k2', 'ES256')
    server.provider.keys = [rsa, next]
    await server.world.advance(2000)
    assert.equal((await server.withToken(signWith(next, server.claims))).status, 201)
    server.provider.keys = [next]
    await server.world.advance(2000)
    await server.withToken(signWith(makeKey('k9', 'ES256'), server.claims))
    assert.equal(
      (await server.withToken(signWith(rsa, server.claims))).status,
      401,
      'the old key was removed',
    )
  })

  it('do not make the server query the provider for every invalid one', async () => {
    await using server = await start()
    const bad = signWith(makeKey('kx', 'ES256'), server.claims)
    for (let i = 0; i < 20; i++) await server.withToken(bad)
    assert.ok(server.provider.requests.length <= 3, `${server.provider.requests.length} requests`)
  })

  it('are rejected while the provider is down, and accepted when it is back', async () => {
    await using server = await start()
    server.provider.isDown = true
    assert.equal((await server.withToken(signWith(rsa, server.claims))).status, 401)
    server.provider.isDown = false
    await server.world.advance(10_001)
    assert.equal((await server.withToken(signWith(rsa, server.claims))).status, 201)
  })

  it('are rejected when the provider reports another issuer', async () => {
    await using server = await start()
    server.provider.issuer = 'https://login.example.com/other'
    assert.equal((await server.withToken(signWith(rsa, server.claims))).status, 401)
  })

  it('use the configured discovery URL and CA', async () => {
    const discoveryURL = 'https://inside.example.com/discovery'
    const issuer = { ...base.issuer, discoveryURL, certificateAuthority: 'PEM' }
    await using server = await start({ ...base, issuer })
    assert.equal((await server.withToken(signWith(rsa, server.claims))).status, 201)
    assert.equal(server.provider.requests[0], '/discovery')
    assert.deepEqual(server.provider.targets[0], { origin: 'https://inside.example.com', ca: 'PEM' })
  })
})

describe('distributed claims', () => {
  const elsewhere = {
    _claim_names: { groups: 'src' },
    _claim_sources: { src: { endpoint: 'https://groups.example.com/groups', access_token: 'opensesame' } },
  }

  it('are fetched, with the access token, when their own issuer signed them', async () => {
    await using server = await start()
    const token = signWith(rsa, { ...server.claims, ...elsewhere })
    server.provider.claims.set('/groups', signWith(rsa, { ...server.claims, groups: ['many'] }))
    const { body } = await server.withToken(token)
    assert.deepEqual(body.status?.userInfo?.groups, ['many', 'system:authenticated'])
    assert.equal(server.provider.authorization, 'Bearer opensesame')
  })

  it('are rejected when another key signed them, or when they have another audience or are expired', async () => {
    for (const [key, change] of [
      [makeKey('k1', 'RS256'), {}],
      [rsa, { aud: 'other' }],
      [rsa, { exp: 1000 }],
      [rsa, { groups: undefined }],
    ] as const) {
      await using server = await start()
      const token = signWith(rsa, { ...server.claims, ...elsewhere })
      server.provider.claims.set(
        '/groups',
        signWith(key, { ...server.claims, groups: ['admins'], ...change }),
      )
      assert.equal((await server.withToken(token)).status, 401)
    }
  })
})

describe('claim mappings and rules', () => {
  const map = (change: Partial<JwtAuthenticator>, claims: JsonObject) =>
    compileMapper({ ...base, ...change })(claims)

  it('are expressions over the claims', () => {
    const claimMappings = {
      username: { expression: '"corp:" + claims.sub' },
      groups: { expression: 'claims.roles.split(",")' },
      uid: { expression: 'claims.oid' },
      extra: [
        { key: 'example.com/tenant', valueExpression: 'claims.tenant' },
        { key: 'example.com/none', valueExpression: 'claims.?missing.orValue("")' },
      ],
    }
    assert.deepEqual(map({ claimMappings }, { sub: 'jane', roles: 'a,b', oid: 'u1', tenant: 't' }), {
      name: 'corp:jane',
      groups: ['a', 'b'],
      uid: 'u1',
      extra: { 'example.com/tenant': ['t'] },
    })
  })

  it('must result in strings', () => {
    const username = (expression: string) =>
      map({ claimMappings: { username: { expression } } }, { n: 1, e: '' })
    assert.equal(
      username('claims.n'),
      'oidc: error evaluating username claim expression: username claim expression must return a string',
    )
    assert.equal(username('claims.e'), 'oidc: empty username via CEL expression is not allowed')
    assert.match(
      String(username('claims.x')),
      /^oidc: error evaluating username claim expression: no such key: x/,
    )
  })

  it('reject claims and users that violate the rules', () => {
    const rules: Partial<JwtAuthenticator> = {
      claimValidationRules: [
        { claim: 'hd', requiredValue: 'example.com' },
        { expression: 'claims.exp - claims.nbf <= 86400', message: 'a day at most' },
      ],
      userValidationRules: [{ expression: '!user.username.startsWith("system:")', message: 'reserved' }],
      claimMappings: { username: { claim: 'sub', prefix: '' } },
    }
    const good = { sub: 'jane', hd: 'example.com', nbf: 0, exp: 100 }
    assert.deepEqual(map(rules, good), { name: 'jane', groups: [] })
    assert.equal(map(rules, { ...good, hd: 'x' }), 'oidc: required claim hd value does not match')
    assert.match(String(map(rules, { ...good, exp: 100_000 })), /failed: a day at most$/)
    assert.match(String(map(rules, { ...good, sub: 'system:admin' })), /failed: reserved$/)
  })

  it('require a verified e-mail address', () => {
    const claimMappings = { username: { claim: 'email', prefix: '' } }
    const email = 'j@example.com'
    assert.deepEqual(map({ claimMappings }, { email }), { name: email, groups: [] })
    assert.equal(map({ claimMappings }, { email, email_verified: false }), 'oidc: email not verified')
    assert.throws(
      () => map({ claimMappings: { username: { expression: 'claims.email' } } }, {}),
      /claims\.email_verified must be used/,
    )
  })

  for (const [what, change, message] of [
    ['no issuer', { issuer: { url: '', audiences: ['a'] } }, /issuer\.url: Required value/],
    ['http', { issuer: { url: 'http://x', audiences: ['a'] } }, /URL scheme must be https/],
    ['no audience', { issuer: { url, audiences: [] } }, /audiences: Required value/],
    ['two audiences', { issuer: { url, audiences: ['a', 'b'] } }, /must be MatchAny for multiple audiences/],
    [
      'no user',
      { claimMappings: { username: {} } },
      /username: Required value: claim or expression is required/,
    ],
    ['no prefix', { claimMappings: { username: { claim: 'sub' } } }, /prefix is required when claim is set/],
    [
      'a bad expression',
      { claimMappings: { username: { expression: 'claims.' } } },
      /compilation failed: ERROR/,
    ],
    ['a rule that is no yes or no', { claimValidationRules: [{ expression: '1' }] }, /must evaluate to bool/],
    [
      'a key of Kubernetes',
      { claimMappings: { ...base.claimMappings, extra: [{ key: 'x.k8s.io/a', valueExpression: '"a"' }] } },
      /reserved for Kubernetes use/,
    ],
  ] as const) {
    it(`are rejected with ${what}`, () => {
      assert.throws(() => compileMapper({ ...base, ...change } as JwtAuthenticator), message)
    })
  }

  it("are rejected for the server's own issuer", () => {
    assert.throws(
      () => compileMapper(base, { disallowedIssuers: [url] }),
      /must not overlap with disallowed issuers/,
    )
  })
})

describe('readAuthenticationConfiguration', () => {
  const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' }

  it('reads providers and anonymous access', () => {
    const read = readAuthenticationConfiguration({
      ...head,
      jwt: [base],
      anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
    })
    assert.equal(read.jwt[0]?.issuer.url, url)
    assert.deepEqual(read.anonymous, { enabled: true, conditions: [{ path: '/livez' }] })
  })

  it('rejects unknown fields', () => {
    for (const [document, message] of [
      [{ kind: 'Other' }, /expected AuthenticationConfiguration/],
      [{ ...head, jtw: [] }, /unknown field "jtw"/],
      [{ ...head, jwt: [{ issuer: { uri: 'x' } }] }, /unknown field "jwt\[0\]\.issuer\.uri"/],
      [
        { ...head, jwt: [{ issuer: { audiences: 'x' } }] },
        /jwt\[0\]\.issuer\.audiences must be a list of strings/,
      ],
    ] as const) {
      assert.throws(() => readAuthenticationConfiguration(document), message)
    }
  })
})
