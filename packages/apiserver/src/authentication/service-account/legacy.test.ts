import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { startTestServer, testServiceAccountKeys } from '../../test-support/token-server.ts'
import { signJwt } from '../jwt/jwt.ts'

const namespace = '/api/v1/namespaces/default'
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews'
const serviceAccounts = testServiceAccountKeys()
const prefix = 'kubernetes.io/serviceaccount'

/** An account, and a Secret with its token, as the controller creates them. */
async function start(
  options: {
    readonly claims?: JsonObject
    readonly labels?: JsonObject
    readonly secrets?: JsonObject[]
  } = {},
) {
  const server = await startTestServer({ authentication: { serviceAccounts } })
  const account = await server.create(`${namespace}/serviceaccounts`, {
    metadata: { name: 'bot' },
    ...(options.secrets && { secrets: options.secrets }),
  })
  const { uid } = account.metadata!
  const claims = {
    iss: 'kubernetes/serviceaccount',
    [`${prefix}/namespace`]: 'default',
    [`${prefix}/secret.name`]: 's',
    [`${prefix}/service-account.name`]: 'bot',
    [`${prefix}/service-account.uid`]: uid,
    sub: 'system:serviceaccount:default:bot',
    ...options.claims,
  }
  const token = signJwt(claims, serviceAccounts.signingKey)
  const annotations = {
    'kubernetes.io/service-account.name': 'bot',
    'kubernetes.io/service-account.uid': uid,
  }
  await server.create(`${namespace}/secrets`, {
    metadata: { name: 's', annotations, ...(options.labels && { labels: options.labels }) },
    type: 'kubernetes.io/service-account-token',
    data: { token: btoa(token) },
  })
  const errorOf = async () =>
    (await server.send('POST', reviews, { body: { spec: { token } } })).body.status.error as
      | string
      | undefined
  return Object.assign(server, { token, errorOf, uid: uid as string })
}

describe('tokens in secrets', () => {
  it('authenticate as the account', async () => {
    await using server = await start()
    const { body } = await server.withToken(server.token)
    assert.deepEqual(body.status.userInfo, {
      username: 'system:serviceaccount:default:bot',
      uid: server.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    })
  })

  it('become invalid with the secret and with the account, at once', async () => {
    for (const [url, error] of [
      [`${namespace}/secrets/s`, 'Token has been invalidated'],
      [`${namespace}/serviceaccounts/bot`, 'serviceaccounts "bot" not found'],
    ] as const) {
      await using server = await start()
      assert.equal((await server.withToken(server.token)).status, 201)
      await server.send('DELETE', url)
      assert.equal((await server.withToken(server.token)).status, 401)
      assert.equal(await server.errorOf(), `[invalid bearer token, ${error}]`)
    }
  })

  for (const [what, claims, error] of [
    ['another account', { [`${prefix}/service-account.name`]: 'other' }, 'sub claim is invalid'],
    ['no subject', { sub: undefined }, 'sub claim is missing'],
    ['no namespace', { [`${prefix}/namespace`]: undefined }, 'namespace claim is missing'],
    ['no secret', { [`${prefix}/secret.name`]: undefined }, 'secretName claim is missing'],
    ['no uid', { [`${prefix}/service-account.uid`]: '' }, 'serviceAccountUID claim is missing'],
    ['a secret that is not there', { [`${prefix}/secret.name`]: 'x' }, 'Token has been invalidated'],
    ['an uid of before', { [`${prefix}/service-account.uid`]: 'x' }, /does not match claim \(x\)/],
  ] as const) {
    it(`are rejected with ${what}`, async () => {
      await using server = await start({ claims })
      const message = (await server.errorOf()) ?? ''
      if (typeof error === 'string') assert.equal(message, `[invalid bearer token, ${error}]`)
      else assert.match(message, error)
      assert.equal((await server.withToken(server.token)).status, 401)
    })
  }

  it('are rejected when they are marked as invalid', async () => {
    await using server = await start({ labels: { 'kubernetes.io/legacy-token-invalid-since': '2029-01-01' } })
    assert.equal((await server.withToken(server.token)).status, 401)
    assert.match((await server.errorOf()) ?? '', /has been marked invalid/)
  })

  it('are tracked since a day that the legacy token cleaner can read', async () => {
    await using server = await start()
    const path =
      '/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking'
    const { body } = await server.send('GET', path)
    assert.match(body.data.since, /^\d{4}-\d\d-\d\d$/)
  })

  it('that the account lists cause a warning', async () => {
    await using server = await start({ secrets: [{ name: 's' }] })
    const { headers } = await server.withToken(server.token)
    assert.match(String(headers.warning), /^299 - "Use tokens from the TokenRequest API/)
  })
})
