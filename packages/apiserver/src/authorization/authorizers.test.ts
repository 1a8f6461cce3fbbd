import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import { createAuthorize } from '../filters/access.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { RequestContext, UserInfo } from '../request/context.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { createAbacAuthorizer, parseAbacPolicy } from './abac.ts'
import { type Access, type Authorizer, alwaysAllow, alwaysDeny, type Decision, deny } from './authorizer.ts'
import type { AuthorizationPorts } from './authorizer-factory.ts'
import { authorizePrivileged, createUnionAuthorizer } from './union.ts'
import { compileMatchConditions } from './webhook/match-conditions.ts'
import { createWebhookAuthorizer, type WebhookAuthorizerOptions } from './webhook/webhook-authorizer.ts'

const jane: UserInfo = { name: 'jane', groups: ['devs', 'system:authenticated'] }

const resource = (verb: string, namespace: string, name: string): RequestInfo =>
  ({
    isResource: true,
    verb,
    group: '',
    version: 'v1',
    namespace,
    resource: name,
    subresource: '',
    name: '',
    rest: [],
    legacyWatch: false,
  }) as RequestInfo

const accessOf = (info: RequestInfo, user = jane): Access => ({ user, info })
const listPods = accessOf(resource('list', 'ns', 'pods'))

describe('several authorizers', () => {
  it('are tried in order until one has an opinion', async () => {
    const asked: string[] = []
    const says =
      (name: string, decision: Decision | Promise<Decision>): Authorizer =>
      () => {
        asked.push(name)
        return decision
      }
    const none: Decision = { verdict: 'no opinion', reason: 'why' }
    const union = createUnionAuthorizer([
      says('a', none),
      says('b', Promise.resolve(none)),
      says('c', deny),
      says('d', deny),
    ])
    assert.equal((await union(listPods)).verdict, 'deny')
    assert.deepEqual(asked, ['a', 'b', 'c'])
  })

  it('answer synchronously when all of them do', () => {
    const union = createUnionAuthorizer([authorizePrivileged, alwaysAllow])
    assert.ok(!(union(listPods) instanceof Promise))
  })

  it('report every reason and every error when none allows', async () => {
    const fails: Authorizer = () => ({ verdict: 'no opinion', error: 'broken' })
    const union = createUnionAuthorizer([alwaysDeny, fails, fails])
    assert.deepEqual(await union(listPods), {
      verdict: 'no opinion',
      reason: 'Everything is forbidden.',
      error: 'broken',
    })
  })
})

describe('ABAC', () => {
  const line = (spec: object) =>
    JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec })

  it('allows what a line of the file allows', async () => {
    const text = [
      '# who may do what',
      line({ user: 'jane', namespace: 'ns', resource: 'pods', apiGroup: '*', readonly: true }),
      line({ group: 'ops', namespace: '*', resource: '*', apiGroup: '*' }),
      line({ user: '*', nonResourcePath: '/version*', readonly: true }),
      '',
    ].join('\n')
    const abac = createAbacAuthorizer(parseAbacPolicy(text))
    const verdictOf = async (access: Access) => (await abac(access)).verdict
    assert.equal(await verdictOf(listPods), 'allow')
    assert.equal(await verdictOf(accessOf(resource('delete', 'ns', 'pods'))), 'no opinion')
    assert.equal(await verdictOf(accessOf(resource('list', 'other', 'pods'))), 'no opinion')
    const ops = { name: 'joe', groups: ['ops'] }
    assert.equal(await verdictOf(accessOf(resource('delete', 'x', 'nodes'), ops)), 'allow')
    const version: RequestInfo = { isResource: false, verb: 'get', path: '/version' }
    assert.equal(await verdictOf(accessOf(version)), 'allow')
    assert.equal(
      await verdictOf(accessOf(version, { name: 'x', groups: ['system:unauthenticated'] })),
      'no opinion',
    )
  })

  it('accepts the unversioned form, where an omitted field matches everything', async () => {
    const abac = createAbacAuthorizer(parseAbacPolicy('{"user":"jane"}'))
    assert.equal((await abac(accessOf(resource('delete', 'x', 'nodes')))).verdict, 'allow')
  })

  it('names the line that it cannot parse', () => {
    assert.throws(
      () => parseAbacPolicy('\n{"user":1}'),
      /^Error: line 2: \{"user":1\}: user is not a string$/,
    )
  })
})

interface Hook {
  readonly authorizer: Authorizer
  readonly reviews: { spec: Record<string, unknown>; apiVersion: string }[]
  readonly world: VirtualWorld
}

function hookThat(
  answer: () => { status: number; body: unknown },
  options: Partial<WebhookAuthorizerOptions> = {},
): Hook {
  const world = new VirtualWorld()
  const reviews: Hook['reviews'] = []
  const outbound: Outbound = {
    connect: () => ({
      send: async request => {
        reviews.push(JSON.parse(new TextDecoder().decode(request.body as Uint8Array)))
        const { status, body } = answer()
        return { status, headers: {}, body: new TextEncoder().encode(JSON.stringify(body)) }
      },
      async [Symbol.asyncDispose]() {},
    }),
  }
  const authorizer = createWebhookAuthorizer({
    target: { origin: 'https://authz.example.com' },
    path: '/authorize',
    version: 'v1',
    timeout: 3_000,
    authorizedTtl: 300_000,
    unauthorizedTtl: 30_000,
    failurePolicy: 'NoOpinion',
    ...options,
  })({ env: world, outbound } as unknown as AuthorizationPorts)
  return { authorizer, reviews, world }
}

const reviewed = (status: object) => ({ status: 200, body: { kind: 'SubjectAccessReview', status } })

describe('the webhook', () => {
  const ask = async ({ authorizer, world }: Hook, info = resource('list', 'ns', 'pods')) =>
    await world.run(Promise.resolve(authorizer(accessOf(info))))

  it('receives a SubjectAccessReview, and its response is cached for a time', async () => {
    const hook = hookThat(() => reviewed({ allowed: true, reason: 'because' }))
    assert.deepEqual(await ask(hook), { verdict: 'allow', reason: 'because' })
    assert.deepEqual(await ask(hook), { verdict: 'allow', reason: 'because' })
    assert.deepEqual(hook.reviews[0]?.spec, {
      resourceAttributes: { namespace: 'ns', verb: 'list', version: 'v1', resource: 'pods' },
      user: 'jane',
      groups: ['devs', 'system:authenticated'],
    })
    assert.equal(hook.reviews.length, 1)
    await hook.world.run(hook.world.clock.sleep(300_001))
    await ask(hook)
    assert.equal(hook.reviews.length, 2)
  })

  it('receives selectors, and groups by their old name in v1beta1', async () => {
    const hook = hookThat(() => reviewed({ denied: true }), { version: 'v1beta1', unauthorizedTtl: 0 })
    const selectors = {
      fields: [{ field: 'spec.nodeName', operator: '=' as const, value: 'n' }],
      labels: [
        { key: 'a', operator: 'exists' as const, values: [] },
        { key: 'n', operator: 'gt' as const, values: ['1'] },
      ],
    }
    const info = { ...resource('list', 'ns', 'pods'), selectors } as RequestInfo
    assert.equal((await ask(hook, info)).verdict, 'deny')
    const { spec, apiVersion } = hook.reviews[0]!
    assert.equal(apiVersion, 'authorization.k8s.io/v1beta1')
    assert.deepEqual(spec.group, ['devs', 'system:authenticated'])
    assert.deepEqual((spec.resourceAttributes as Record<string, unknown>).fieldSelector, {
      requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n'] }],
    })
    assert.deepEqual((spec.resourceAttributes as Record<string, unknown>).labelSelector, {
      requirements: [{ key: 'a', operator: 'Exists' }],
    })
  })

  it('is retried when it is overloaded, and is subject to the failure policy after that', async () => {
    const busy = () => ({
      status: 500,
      body: { kind: 'Status', status: 'Failure', reason: 'InternalError', code: 500, message: 'no' },
    })
    const hook = hookThat(busy)
    const decision = await ask(hook)
    assert.equal(decision.verdict, 'no opinion')
    assert.equal(decision.error, 'no')
    assert.equal(hook.reviews.length, 5)
    assert.equal((await ask(hookThat(busy, { failurePolicy: 'Deny' }))).verdict, 'deny')
  })

  it('is not called for what its match conditions exclude', async () => {
    const compiled = compileMatchConditions([
      "has(request.resourceAttributes) && request.resourceAttributes.namespace != 'ns'",
    ])
    assert.ok(compiled.ok)
    const hook = hookThat(() => reviewed({ allowed: true }), { matchConditions: compiled.matches })
    assert.equal((await ask(hook)).verdict, 'no opinion')
    assert.equal(hook.reviews.length, 0)
    assert.equal((await ask(hook, resource('list', 'other', 'pods'))).verdict, 'allow')
  })

  it('is subject to the failure policy when a condition cannot be evaluated', async () => {
    const compiled = compileMatchConditions(["request.nonResourceAttributes.path == '/x'"])
    assert.ok(compiled.ok)
    const hook = hookThat(() => reviewed({ allowed: true }), {
      matchConditions: compiled.matches,
      failurePolicy: 'Deny',
    })
    const decision = await ask(hook)
    assert.equal(decision.verdict, 'deny')
    assert.match(decision.error ?? '', /^cel evaluation error: expression 'request\.nonResourceAttributes/)
  })

  it('rejects invalid match conditions', () => {
    assert.deepEqual(compileMatchConditions(["'x'"]), {
      ok: false,
      index: 0,
      error: 'must evaluate to bool but got string',
    })
    const unknown = compileMatchConditions(['request.nothing == 1'])
    assert.ok(!unknown.ok && /^compilation failed: /.test(unknown.error))
  })
})

describe('the authorization filter', () => {
  const contextOf = (): RequestContext =>
    ({
      user: jane,
      info: { isResource: false, verb: 'get', path: '/x' },
      query: new Map(),
      auditAnnotations: new Map(),
    }) as unknown as RequestContext
  const passed = { status: 200, headers: {} }

  it('records the decision and its reason for the audit log', async () => {
    const context = contextOf()
    await createAuthorize(() => ({ verdict: 'allow', reason: 'because' }))(context, async () => passed)
    assert.deepEqual(Object.fromEntries(context.auditAnnotations), {
      'authorization.k8s.io/decision': 'allow',
      'authorization.k8s.io/reason': 'because',
    })
    const refused = contextOf()
    await assert.rejects(
      async () => createAuthorize(alwaysDeny)(refused, async () => passed),
      /^StatusError: forbidden: User "jane" cannot get path "\/x": Everything is forbidden\.$/,
    )
    assert.equal(refused.auditAnnotations.get('authorization.k8s.io/decision'), 'forbid')
  })

  it('answers with a 500 when an authorizer has failed', async () => {
    const broken: Authorizer = () => ({ verdict: 'no opinion', error: 'broken' })
    await assert.rejects(
      async () => createAuthorize(broken)(contextOf(), async () => passed),
      (error: { code?: number; message: string }) => error.message === 'Internal error occurred: broken',
    )
  })
})
