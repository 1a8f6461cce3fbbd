import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { isStatusError } from '@coxswain/apimachinery/status'
import { createRealClock } from '@coxswain/kit'
import { type Authorizer, allow, alwaysAllow } from '../../authorization/authorizer.ts'
import { authorizePrivileged } from '../../authorization/union.ts'
import { reviewAccess, reviewLocalAccess, reviewOwnAccess, reviewOwnRules } from './access.ts'
import { reviewToken } from './identity.ts'
import type { Review, ReviewPorts } from './review.ts'

const users = new Map([['secret', { name: 'jane', uid: 'u1', groups: ['devs'] }]])

/** Sends a review to a server, as a user in these groups. */
function ask(
  review: Review,
  question: JsonObject,
  { groups = [], authorizer = authorizePrivileged }: { groups?: string[]; authorizer?: Authorizer } = {},
): Promise<JsonObject> | JsonObject {
  const ports: ReviewPorts = {
    clock: createRealClock(),
    authorizer,
    audiences: [],
    authenticateToken: token => {
      const user = users.get(token)
      return user ? { user, audiences: [] } : { error: 'invalid bearer token' }
    },
  }
  return review(ports, { user: { name: 'me', groups }, question })
}

const question = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  kind: 'Review',
  apiVersion: 'authorization.k8s.io/v1',
  metadata,
  spec,
})

/** The error message. */
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
  it('ask the authorizer about the user of the request, or about another user', async () => {
    assert.deepEqual((await ask(reviewOwnAccess, question(pods), { groups: ['system:masters'] })).status, {
      allowed: true,
    })
    assert.deepEqual((await ask(reviewOwnAccess, question(pods))).status, { allowed: false })
    const about = question({ ...pods, user: 'x', groups: ['system:masters'] })
    assert.deepEqual((await ask(reviewAccess, about)).status, { allowed: true })
  })

  it('present the access to the authorizer as a request would', async () => {
    const seen: unknown[] = []
    const authorizer: Authorizer = ({ info }) => {
      seen.push(info)
      return allow
    }
    await ask(reviewOwnAccess, question({ nonResourceAttributes: { path: '/x', verb: 'get' } }), {
      authorizer,
    })
    await ask(reviewOwnAccess, question({ resourceAttributes: { verb: 'impersonate' } }), { authorizer })
    assert.deepEqual(seen[0], { isResource: false, path: '/x', verb: 'get' })
    assert.equal((seen[1] as { verb: string; version: string }).verb, 'impersonate')
    assert.equal((seen[1] as { verb: string; version: string }).version, '*')
  })

  it('must name one access and one user', async () => {
    assert.equal(
      await refusalOf(() => ask(reviewAccess, question({}))),
      '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
    )
  })

  it('must be in their namespace', async () => {
    const elsewhere = question({ ...pods, user: 'x' }, { namespace: 'other' })
    assert.match(
      await refusalOf(() => ask(reviewLocalAccess, elsewhere)),
      /spec\.resourceAttributes\.namespace: Invalid value: "ns": must match metadata\.namespace$/,
    )
  })

  it('report the selectors that they ignored', async () => {
    const problemsOf = async (fieldSelector: JsonObject) => {
      const resourceAttributes = { ...pods.resourceAttributes, fieldSelector }
      const { status } = await ask(reviewOwnAccess, question({ resourceAttributes }))
      return (status as { evaluationError?: string }).evaluationError
    }
    assert.equal(await problemsOf({ rawSelector: 'metadata.name=x' }), undefined)
    const known = { key: 'metadata.name', operator: 'In', values: ['x'] }
    const unknown = { key: 'metadata.name', operator: 'Gt', values: ['x'] }
    assert.equal(
      await problemsOf({ requirements: [known, unknown] }),
      'spec.resourceAttributes.fieldSelector partially ignored due to parse error',
    )
    assert.equal(
      await problemsOf({ requirements: [unknown] }),
      'spec.resourceAttributes.fieldSelector ignored due to parse error',
    )
  })
})

describe('rules reviews', () => {
  it('list what the authorizer can list, and report when it is incomplete', async () => {
    const { status: rules } = await ask(reviewOwnRules, question({ namespace: 'ns' }), {
      authorizer: alwaysAllow,
    })
    assert.deepEqual((rules as { resourceRules: unknown }).resourceRules, [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    ])
    const { status: silent } = await ask(reviewOwnRules, question({ namespace: 'ns' }), {
      authorizer: () => allow,
    })
    assert.equal((silent as { incomplete: boolean }).incomplete, true)
  })
})

describe('token reviews', () => {
  it('authenticate the token', async () => {
    assert.deepEqual((await ask(reviewToken, question({ token: 'secret' }))).status, {
      authenticated: true,
      user: { username: 'jane', uid: 'u1', groups: ['devs', 'system:authenticated'] },
    })
    assert.deepEqual((await ask(reviewToken, question({ token: 'other' }))).status, {
      user: {},
      error: 'invalid bearer token',
    })
  })
})
