import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { isStatusError } from '@coxswain/apimachinery/status'
import { resolveAuthentication } from '../../authentication/authentication.ts'
import { createTokenAuthenticator } from '../../authentication/authenticator.ts'
import { type Authorizer, allow, alwaysAllow } from '../../authorization/authorizer.ts'
import { authorizePrivileged } from '../../authorization/union.ts'
import type { ResourceContext } from '../../request/context.ts'
import { reviewAccess, reviewLocalAccess, reviewOwnAccess, reviewOwnRules } from './access.ts'
import { reviewToken } from './identity.ts'

const users = new Map([['secret', { name: 'jane', uid: 'u1', groups: ['devs'] }]])

function contextOf(groups: readonly string[], authorizer: Authorizer = authorizePrivileged): ResourceContext {
  const state = {
    authorizer,
    authentication: resolveAuthentication({ knownTokens: [createTokenAuthenticator(users)] }),
  }
  const request = { signal: new AbortController().signal }
  return { state, request, user: { name: 'me', groups } } as unknown as ResourceContext
}

const question = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  kind: 'Review',
  apiVersion: 'authorization.k8s.io/v1',
  metadata,
  spec,
})

/** The message of the refusal. */
async function refusalOf(ask: () => unknown): Promise<string> {
  try {
    await ask()
  } catch (error) {
    if (isStatusError(error)) return error.message
    throw error
  }
  return 'answered'
}

const pods = { resourceAttributes: { namespace: 'ns', verb: 'get', resource: 'pods' } }

describe('access reviews', () => {
  it('ask the authorizer about the one who asks, or about somebody else', async () => {
    assert.deepEqual((await reviewOwnAccess(contextOf(['system:masters']), question(pods))).status, {
      allowed: true,
    })
    assert.deepEqual((await reviewOwnAccess(contextOf([]), question(pods))).status, { allowed: false })
    const about = question({ ...pods, user: 'x', groups: ['system:masters'] })
    assert.deepEqual((await reviewAccess(contextOf([]), about)).status, { allowed: true })
  })

  it('show the authorizer a request as it would come', async () => {
    const seen: unknown[] = []
    const authorizer: Authorizer = ({ info }) => {
      seen.push(info)
      return allow
    }
    await reviewOwnAccess(
      contextOf([], authorizer),
      question({ nonResourceAttributes: { path: '/x', verb: 'get' } }),
    )
    await reviewOwnAccess(
      contextOf([], authorizer),
      question({ resourceAttributes: { verb: 'impersonate' } }),
    )
    assert.deepEqual(seen[0], { isResource: false, path: '/x', verb: 'get' })
    assert.equal((seen[1] as { verb: string; version: string }).verb, 'impersonate')
    assert.equal((seen[1] as { verb: string; version: string }).version, '*')
  })

  it('are about one thing and one person', async () => {
    assert.equal(
      await refusalOf(() => reviewAccess(contextOf([]), question({}))),
      '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
    )
  })

  it('stay in their namespace', async () => {
    const elsewhere = question({ ...pods, user: 'x' }, { namespace: 'other' })
    assert.match(
      await refusalOf(() => reviewLocalAccess(contextOf([]), elsewhere)),
      /spec\.resourceAttributes\.namespace: Invalid value: "ns": must match metadata\.namespace$/,
    )
  })

  it('say which selectors they could not take into account', async () => {
    const ask = async (fieldSelector: JsonObject) => {
      const resourceAttributes = { ...pods.resourceAttributes, fieldSelector }
      const { status } = await reviewOwnAccess(contextOf([]), question({ resourceAttributes }))
      return (status as { evaluationError?: string }).evaluationError
    }
    assert.equal(await ask({ rawSelector: 'metadata.name=x' }), undefined)
    const known = { key: 'metadata.name', operator: 'In', values: ['x'] }
    const unknown = { key: 'metadata.name', operator: 'Gt', values: ['x'] }
    assert.equal(
      await ask({ requirements: [known, unknown] }),
      'spec.resourceAttributes.fieldSelector partially ignored due to parse error',
    )
    assert.equal(
      await ask({ requirements: [unknown] }),
      'spec.resourceAttributes.fieldSelector ignored due to parse error',
    )
  })
})

describe('rules reviews', () => {
  it('list what the authorizer can list, and admit where it cannot', async () => {
    const { status: rules } = await reviewOwnRules(contextOf([], alwaysAllow), question({ namespace: 'ns' }))
    assert.deepEqual((rules as { resourceRules: unknown }).resourceRules, [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    ])
    const { status: silent } = await reviewOwnRules(
      contextOf([], () => allow),
      question({ namespace: 'ns' }),
    )
    assert.equal((silent as { incomplete: boolean }).incomplete, true)
  })
})

describe('token reviews', () => {
  it('say whose token it is', async () => {
    assert.deepEqual((await reviewToken(contextOf([]), question({ token: 'secret' }))).status, {
      authenticated: true,
      user: { username: 'jane', uid: 'u1', groups: ['devs', 'system:authenticated'] },
    })
    assert.deepEqual((await reviewToken(contextOf([]), question({ token: 'other' }))).status, {
      user: {},
      error: 'invalid bearer token',
    })
  })
})
