import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Access, type Authorizer, allow, noOpinion } from '../authorization/authorizer.ts'
import { selfReview, selfReviews, startTestServer } from '../test-support/token-server.ts'

const pods = '/api/v1/namespaces/default/pods'
const jane = { commonName: 'jane', organizations: [], notAfter: Number.MAX_SAFE_INTEGER }

/** `verb group/resource[/subresource] [namespace] name`, as checks are recorded. */
function describeAccess({ info, user }: Access): string {
  if (!info.isResource) return `${user.name}: ${info.verb} ${info.path}`
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  return `${user.name}: ${info.verb} ${info.group}/${resource} ${info.namespace}/${info.name}`
}

/** Allows what the pattern matches, and everything except impersonation. */
function authorizerOf(allowed: RegExp, asked: string[] = []): Authorizer {
  return access => {
    const question = describeAccess(access)
    if (!question.includes(': impersonate')) return allow
    asked.push(question)
    return allowed.test(question) ? allow : noOpinion
  }
}

describe('impersonation', () => {
  it("makes the request the other user's, with everything in the headers", async () => {
    await using server = await startTestServer({ authorizer: () => authorizerOf(/: impersonate /) })
    const { body } = await server.send('POST', selfReviews, {
      body: selfReview,
      peer: jane,
      headers: {
        'impersonate-user': 'joe',
        'impersonate-group': ['devs', 'ops'],
        'impersonate-uid': 'u1',
        'impersonate-extra-scopes': ['a', 'b'],
        'impersonate-extra-acme.com%2fproject': 'p',
      },
    })
    assert.deepEqual(body.status.userInfo, {
      username: 'joe',
      uid: 'u1',
      groups: ['devs', 'ops', 'system:authenticated'],
      extra: { scopes: ['a', 'b'], 'acme.com/project': ['p'] },
    })
  })

  it('checks permission for every part of the user', async () => {
    const asked: string[] = []
    await using server = await startTestServer({ authorizer: () => authorizerOf(/: impersonate /, asked) })
    const headers = {
      'impersonate-user': 'joe',
      'impersonate-group': 'devs',
      'impersonate-uid': 'u1',
      'impersonate-extra-scopes': 'a',
    }
    await server.send('GET', pods, { peer: jane, headers })
    assert.deepEqual(asked, [
      'jane: impersonate-on:user-info:list /pods default/',
      'jane: impersonate /users /joe',
      'jane: impersonate authentication.k8s.io/uids /u1',
      'jane: impersonate /groups /devs',
      'jane: impersonate authentication.k8s.io/userextras/scopes /a',
    ])
    asked.length = 0
    await server.send('GET', pods, { peer: jane, headers: { 'impersonate-user': 'joe' } })
    assert.deepEqual(asked, ['jane: impersonate /users /joe'], 'the mode that worked comes first')
  })

  for (const [part, headers, refused] of [
    ['user', {}, /cannot impersonate resource "users" in API group "" at the cluster scope/],
    ['group', { 'impersonate-group': 'devs' }, /resource "groups" in API group "" at the cluster scope/],
    ['uid', { 'impersonate-uid': 'u' }, /resource "uids" in API group "authentication.k8s.io"/],
    [
      'extra',
      { 'impersonate-extra-k': 'v' },
      /resource "userextras\/k" in API group "authentication.k8s.io"/,
    ],
  ] as const) {
    it(`is rejected without permission for the ${part}`, async () => {
      const names = { user: 'users', group: 'groups', uid: 'uids', extra: 'userextras' }
      const others = Object.entries(names).filter(([key]) => key !== part)
      const allowed = new RegExp(`: impersonate .*/(${others.map(([, name]) => name).join('|')})`)
      await using server = await startTestServer({ authorizer: () => authorizerOf(allowed) })
      const first = await server.send('GET', pods, {
        peer: jane,
        headers: { 'impersonate-user': 'joe', ...headers },
      })
      assert.equal(first.status, 403)
      assert.match(first.body.message, /^pods is forbidden: User "jane" cannot impersonate-on:user-info:list/)
      if (part === 'user') return
      // Once the legacy mode has worked for a user, its message is the one they get.
      assert.equal(
        (await server.send('GET', pods, { peer: jane, headers: { 'impersonate-user': 'joe' } })).status,
        200,
      )
      const again = await server.send('GET', pods, {
        peer: jane,
        headers: { 'impersonate-user': 'joe', ...headers },
      })
      assert.equal(again.status, 403)
      assert.match(again.body.message, refused)
    })
  }

  it("is rejected with the impersonated user's name when that user may not do it", async () => {
    const authorizer: Authorizer = ({ user }) => (user.name === 'jane' ? allow : noOpinion)
    await using server = await startTestServer({ authorizer: () => authorizer })
    const { status, body } = await server.send('GET', pods, {
      peer: jane,
      headers: { 'impersonate-user': 'joe' },
    })
    assert.equal(status, 403)
    assert.equal(
      body.message,
      'pods is forbidden: User "joe" cannot list resource "pods" in API group "" in the namespace "default"',
    )
  })

  it('adds the groups of service accounts and checks permission for the account', async () => {
    const asked: string[] = []
    await using server = await startTestServer({ authorizer: () => authorizerOf(/: impersonate /, asked) })
    const { body } = await server.send('POST', selfReviews, {
      body: selfReview,
      peer: jane,
      headers: { 'impersonate-user': 'system:serviceaccount:ns:bot' },
    })
    assert.ok(asked.includes('jane: impersonate /serviceaccounts ns/bot'))
    assert.deepEqual(body.status.userInfo.groups, [
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      'system:authenticated',
    ])
  })

  it('adds only the unauthenticated group to the anonymous user', async () => {
    await using server = await startTestServer({ authorizer: () => authorizerOf(/: impersonate /) })
    const groupsAs = async (headers: Record<string, string>) => {
      const { body } = await server.send('POST', selfReviews, { body: selfReview, peer: jane, headers })
      return body.status.userInfo.groups
    }
    assert.deepEqual(await groupsAs({ 'impersonate-user': 'system:anonymous' }), ['system:unauthenticated'])
    assert.deepEqual(
      await groupsAs({ 'impersonate-user': 'joe', 'impersonate-group': 'system:unauthenticated' }),
      ['system:unauthenticated'],
    )
  })

  it('needs a user name', async () => {
    await using server = await startTestServer()
    for (const headers of [
      { 'impersonate-group': 'devs' },
      { 'impersonate-uid': 'u' },
      { 'impersonate-extra-k': 'v' },
    ]) {
      const { status, body } = await server.send('GET', pods, { headers })
      assert.equal(status, 400)
      assert.match(
        body.message,
        /^requested &user\.DefaultInfo\{Name:"", .* without impersonating a user name$/,
      )
    }
  })

  it('decodes names as UTF-8, which sockets deliver byte by byte', async () => {
    await using server = await startTestServer()
    const bytes = String.fromCharCode(...new TextEncoder().encode('jörg'))
    const { body } = await server.send('POST', selfReviews, {
      body: selfReview,
      headers: { 'impersonate-user': bytes },
    })
    assert.equal(body.status.userInfo.username, 'jörg')
  })
})

describe('constrained impersonation', () => {
  it('allows one action as one user, and nothing else', async () => {
    const allowed =
      /: (impersonate-on:user-info:list \/pods |impersonate:user-info authentication.k8s.io\/users \/joe)/
    await using server = await startTestServer({ authorizer: () => authorizerOf(allowed) })
    const as = (name: string, url: string) =>
      server.send('GET', url, { peer: jane, headers: { 'impersonate-user': name } })
    assert.equal((await as('joe', pods)).status, 200)
    assert.equal((await as('ann', pods)).status, 403)
    assert.equal((await as('joe', '/api/v1/namespaces/default/secrets')).status, 403)
  })

  it('never makes a user a member of system:masters', async () => {
    await using server = await startTestServer({
      authorizer: () => authorizerOf(/impersonate(-on)?:user-info/),
    })
    const headers = { 'impersonate-user': 'joe', 'impersonate-group': 'system:masters' }
    const { status, body } = await server.send('GET', pods, { peer: jane, headers })
    assert.equal(status, 403)
    assert.match(body.message, /impersonating the system:masters group is not allowed$/)
  })

  it('accepts only extra keys with a domain', async () => {
    await using server = await startTestServer({
      authorizer: () => authorizerOf(/impersonate(-on)?:user-info/),
    })
    const as = (headers: Record<string, string>) =>
      server.send('GET', pods, { peer: jane, headers: { 'impersonate-user': 'joe', ...headers } })
    assert.equal((await as({ 'impersonate-extra-acme.com%2fk': 'v' })).status, 200)
    const { status, body } = await as({ 'impersonate-extra-k': 'v' })
    assert.equal(status, 403)
    assert.match(body.message, /must be a domain-prefixed path/)
  })

  it('lets a service account be the node that it runs on, and no other', async () => {
    const authorizer = authorizerOf(/:associated-node/)
    await using server = await startTestServer({ authorizer: () => authorizer })
    await server.create('/api/v1/nodes', { metadata: { name: 'n1' } })
    await server.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'agent' } })
    await server.create(pods, {
      metadata: { name: 'p' },
      spec: { serviceAccountName: 'agent', nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
    })
    const { status } = await server.create('/api/v1/namespaces/default/serviceaccounts/agent/token', {
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } },
    })
    const as = (node: string) =>
      server.send('POST', selfReviews, {
        body: selfReview,
        peer: null,
        headers: { authorization: `Bearer ${status!.token}`, 'impersonate-user': `system:node:${node}` },
      })
    const own = await as('n1')
    assert.equal(own.status, 201, JSON.stringify(own.body))
    assert.deepEqual(own.body.status.userInfo, {
      username: 'system:node:n1',
      groups: ['system:nodes', 'system:authenticated'],
    })
    assert.equal((await as('n2')).status, 403)
  })
})
