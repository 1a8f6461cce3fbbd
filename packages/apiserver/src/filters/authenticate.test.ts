import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Logger, VirtualWorld } from '@coxswain/kit'
import type { WireRequest } from '@coxswain/wire'
import { type AuthenticationPorts, resolveAuthentication } from '../authentication/authentication.ts'
import { createTokenAuthenticator } from '../authentication/authenticator.ts'
import { createProxyAuthenticators, proxyHeadersOf } from '../authentication/request-header.ts'
import { alwaysAllow } from '../authorization/authorizer.ts'
import type { RequestContext, UserInfo } from '../request/context.ts'
import { administrator, selfReview, selfReviews, startTestServer } from '../test-support/token-server.ts'
import { createAuthenticate } from './access.ts'

const jane: UserInfo = { name: 'jane', uid: 'u1', groups: ['devs'] }
const tokens = [createTokenAuthenticator(new Map([['jane-token', jane]]))]

async function startOpen(authentication: Parameters<typeof startTestServer>[0] = {}) {
  return await startTestServer({ authorizer: () => alwaysAllow, ...authentication })
}

type Server = Awaited<ReturnType<typeof startTestServer>>

async function whoAmI(server: Server, parts: Parameters<Server['send']>[2] = {}) {
  const { status, body } = await server.send('POST', selfReviews, { body: selfReview, ...parts })
  return status === 201 ? body.status.userInfo : status
}

describe('client certificates', () => {
  it('map the common name to the user, organizations to groups, and have a uid', async () => {
    await using server = await startOpen()
    const peer = { ...administrator, commonName: 'ann', organizations: ['a', 'b'], uid: 'u7' }
    assert.deepEqual(await whoAmI(server, { peer }), {
      username: 'ann',
      uid: 'u7',
      groups: ['a', 'b', 'system:authenticated'],
    })
  })

  it('expire, also on a connection that was opened before', async () => {
    await using server = await startOpen()
    const peer = { ...administrator, notAfter: server.world.clock.now() + 60_000 }
    assert.notEqual(await whoAmI(server, { peer }), 401)
    await server.world.advance(60_001)
    assert.equal(await whoAmI(server, { peer }), 401)
  })

  it('that are invalid do not prevent authentication by a token', async () => {
    await using server = await startOpen({ authentication: { knownTokens: tokens } })
    const headers = { authorization: 'Bearer jane-token' }
    const expired = { ...administrator, notAfter: 1 }
    assert.equal((await whoAmI(server, { peer: expired, headers })).username, 'jane')
    assert.equal((await whoAmI(server, { peer: null, peerError: 'untrusted', headers })).username, 'jane')
    assert.equal(await whoAmI(server, { peer: null, peerError: 'untrusted' }), 401)
  })
})

describe('bearer tokens', () => {
  it('are passed to one authenticator after the other', async () => {
    const asked: string[] = []
    const second = createTokenAuthenticator(new Map([['other', { name: 'joe', groups: [] }]]))
    const late = async (token: string) => {
      asked.push('late')
      return token === 'late' ? { user: { name: 'late', groups: [] }, audiences: ['a'] } : { error: 'no' }
    }
    await using server = await startOpen({
      authentication: { knownTokens: tokens, tokens: [late, second], audiences: ['a'] },
    })
    const as = (token: string) =>
      whoAmI(server, { peer: null, headers: { authorization: `Bearer ${token}` } })
    assert.equal((await as('jane-token')).username, 'jane')
    assert.deepEqual(asked, [])
    assert.equal((await as('late')).username, 'late')
    assert.equal((await as('other')).username, 'joe')
    assert.equal(await as('unknown'), 401)
  })

  it('are parsed as upstream does', async () => {
    await using server = await startOpen({ authentication: { knownTokens: tokens } })
    const as = (authorization: string) => whoAmI(server, { peer: null, headers: { authorization } })
    assert.equal((await as('bearer jane-token')).username, 'jane')
    assert.equal((await as(' Bearer jane-token ')).username, 'jane')
    assert.equal((await as('Basic amFuZQ==')).username, 'system:anonymous')
    assert.equal((await as('Bearer')).username, 'system:anonymous')
  })

  it('may be WebSocket subprotocols', async () => {
    await using server = await startOpen({ authentication: { knownTokens: tokens } })
    const encoded = Buffer.from('jane-token').toString('base64url')
    const headers = {
      'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${encoded}, v4.channel.k8s.io`,
    }
    assert.equal((await whoAmI(server, { peer: null, headers })).username, 'jane')
  })

  it('of a file have no audiences: they are for the server alone', async () => {
    await using server = await startOpen({ authentication: { knownTokens: tokens, audiences: ['api'] } })
    const ask = async (audiences?: string[]) => {
      const spec = { token: 'jane-token', ...(audiences && { audiences }) }
      const { body } = await server.send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
        body: { spec },
      })
      return body.status
    }
    assert.deepEqual(await ask(), {
      authenticated: true,
      user: { username: 'jane', uid: 'u1', groups: ['devs', 'system:authenticated'] },
      audiences: ['api'],
    })
    assert.deepEqual((await ask(['x', 'api'])).audiences, ['api'])
    assert.deepEqual(await ask(['vault']), { user: {}, error: 'invalid bearer token' })
  })
})

describe('requests without a credential', () => {
  it('are anonymous, or rejected, or allowed only on some paths', async () => {
    for (const [anonymous, expected] of [
      [true, { '/healthz': 200, '/api': 200 }],
      [false, { '/healthz': 401, '/api': 401 }],
      [{ paths: ['/healthz'] }, { '/healthz': 200, '/api': 401 }],
    ] as const) {
      await using server = await startOpen({ authentication: { anonymous } })
      for (const [path, status] of Object.entries(expected)) {
        assert.equal((await server.send('GET', path, { peer: null })).status, status, `${path}`)
      }
    }
  })
})

describe('unauthenticated clients on HTTP/2 (CVE-2023-44487)', () => {
  it('get one request per connection, whatever the response is', async () => {
    await using server = await startTestServer({ authentication: { knownTokens: tokens } })
    const send = (headers: Record<string, string>, url = '/api/v1/pods') =>
      server.send('GET', url, { peer: null, headers: { ':method': 'GET', ...headers } })
    for (const [headers, url, status] of [
      [{}, '/healthz', 200],
      [{}, '/api/v1/pods', 403],
      [{ authorization: 'Bearer bad' }, '/healthz', 401],
    ] as const) {
      const answer = await send(headers, url)
      assert.equal(answer.status, status)
      assert.equal(answer.headers.connection, 'close')
    }
    assert.equal(
      (await send({ authorization: 'Bearer jane-token' }, '/healthz')).headers.connection,
      undefined,
    )
    const http1 = await server.send('GET', '/healthz', { peer: null })
    assert.equal(http1.headers.connection, undefined)
  })
})

describe('front proxies', () => {
  const proxy = { commonName: 'front-proxy', organizations: [], notAfter: Number.MAX_SAFE_INTEGER }
  const options = {
    isProxy: (peer: { commonName: string }) => peer.commonName.includes('proxy'),
    isClient: (peer: { commonName: string }) => !peer.commonName.includes('proxy'),
    allowedNames: ['front-proxy'],
    usernameHeaders: ['x-remote-user'],
    uidHeaders: ['x-remote-uid'],
    groupHeaders: ['x-remote-group'],
    extraHeaderPrefixes: ['x-remote-extra-'],
  }
  const authentication = {
    authenticators: createProxyAuthenticators(options),
    proxyHeaders: proxyHeadersOf(options),
  }
  const headers = {
    'x-remote-user': 'ann',
    'x-remote-uid': 'u1',
    'x-remote-group': ['a', '', 'b'],
    'x-remote-extra-acme.com%2fproject': 'p',
  }

  it('authenticate other users', async () => {
    await using server = await startOpen({ authentication })
    assert.deepEqual(await whoAmI(server, { peer: proxy, headers }), {
      username: 'ann',
      uid: 'u1',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'acme.com/project': ['p'] },
    })
  })

  it('are not users themselves', async () => {
    await using server = await startOpen({ authentication })
    assert.equal((await whoAmI(server, { peer: proxy })).username, 'system:anonymous')
  })

  it('must have an allowed name and a valid certificate', async () => {
    await using server = await startOpen({ authentication })
    assert.equal(await whoAmI(server, { peer: { ...proxy, commonName: 'other-proxy' }, headers }), 401)
    assert.equal(await whoAmI(server, { peer: { ...proxy, notAfter: 1 }, headers }), 401)
  })

  it('are the only ones who may: headers of other clients are ignored', async () => {
    await using server = await startOpen({ authentication })
    assert.equal((await whoAmI(server, { headers })).username, 'admin')
    assert.equal((await whoAmI(server, { peer: null, headers })).username, 'system:anonymous')
    await using without = await startOpen()
    assert.equal((await whoAmI(without, { headers })).username, 'admin')
  })
})

describe('a request after authentication', () => {
  it('has no credentials any more', async () => {
    const request: WireRequest = {
      method: 'GET',
      path: '/',
      query: '',
      headers: {
        authorization: 'Bearer jane-token',
        accept: 'application/json',
        'x-remote-user': 'root',
        'x-remote-extra-k': 'v',
        'x-custom-user': 'root',
      },
      peer: administrator,
      signal: new AbortController().signal,
    }
    const { clock } = new VirtualWorld()
    const authentication = resolveAuthentication({ proxyHeaders: ['x-custom-user'] }, {
      clock,
    } as AuthenticationPorts)
    const context = { request, warnings: [], auditAnnotations: new Map() } as unknown as RequestContext
    const authenticate = createAuthenticate(authentication)
    await authenticate(context, async ({ request: passed }) => {
      assert.deepEqual({ ...passed.headers }, { accept: 'application/json' })
      assert.equal(passed.signal, request.signal)
      return { status: 200, headers: {} }
    })
  })
})

describe('tokens and keys (CVE-2019-11250, CVE-2020-8565)', () => {
  it('are in no log line and no response, whatever is wrong with them', async () => {
    const lines: string[] = []
    const note = (message: string, fields?: object) =>
      void lines.push(
        `${message} ${JSON.stringify(fields, (_, value) => (value instanceof Error ? `${value.stack}` : value))}`,
      )
    const log: Logger = {
      debug: note,
      info: note,
      warn: note,
      error: note,
      child: () => log,
    } as unknown as Logger
    const world = new VirtualWorld({ log: () => log })
    const broken = () => {
      throw new Error('the authenticator broke')
    }
    await using server = await startOpen({ world, authentication: { knownTokens: tokens, tokens: [broken] } })
    await server.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'bot' } })
    const { status } = await server.create('/api/v1/namespaces/default/serviceaccounts/bot/token', {})
    const good = status!.token as string
    const secrets = [good, 'jane-token', 'not-a-token-at-all', `${good.slice(0, -8)}AAAAAAAA`]
    const answers: string[] = []
    for (const token of secrets) {
      answers.push(JSON.stringify(await server.withToken(token)))
      const review = await server.send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
        body: { spec: { token } },
      })
      answers.push(JSON.stringify({ ...review.body, spec: undefined }))
      answers.push(JSON.stringify(await server.withToken(token, 'GET', '/api/v1/namespaces/%zz/pods')))
    }
    await world.advance(3_700_000)
    answers.push(JSON.stringify(await server.withToken(good)))
    assert.ok(lines.length > 0, 'something was logged')
    for (const text of [...lines, ...answers]) {
      for (const token of secrets) assert.ok(!text.includes(token), text)
      assert.ok(!text.includes(good.split('.')[2]!.slice(0, 20)), text)
    }
  })
})
