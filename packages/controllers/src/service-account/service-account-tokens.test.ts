import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Secret, ServiceAccount } from '@coxswain/api/core/v1'
import { signJwt } from '@coxswain/apiserver'
import { createTokenController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { startCluster } from '@coxswain/testing'
import { testServiceAccounts } from '@coxswain/testing/test-support/service-account-keys'

const account = { namespace: 'default', name: 'bot' }
const secret = { namespace: 'default', name: 'bot-token' }

async function startWithToken() {
  const cluster = await startCluster({ env: new VirtualWorld(), controllers: false })
  cluster.start(
    createTokenController({ sign: claims => signJwt(claims, testServiceAccounts.signingKey), rootCa: 'CA' }),
  )
  await cluster.run(cluster.client.create(ServiceAccount, { metadata: account }))
  await cluster.run(
    cluster.client.create(Secret, {
      metadata: { ...secret, annotations: { 'kubernetes.io/service-account.name': 'bot' } },
      type: 'kubernetes.io/service-account-token',
    }),
  )
  await cluster.settle()
  const read = () => cluster.run(cluster.client.get(Secret, secret))
  const statusOf = async (token: string) => {
    const answer = await cluster.run(
      cluster.handler({
        method: 'GET',
        path: '/api',
        query: '',
        headers: { authorization: `Bearer ${token}` },
        signal: new AbortController().signal,
      }),
    )
    return answer.status
  }
  return Object.assign(cluster, { read, statusOf })
}

describe('createTokenController', () => {
  it('populates the secret with a token that the server accepts until the secret is deleted', async () => {
    await using cluster = await startWithToken()
    const { data = {}, metadata } = (await cluster.read())!
    assert.equal(atob(data['ca.crt']!), 'CA')
    assert.equal(atob(data.namespace!), 'default')
    const { uid } = (await cluster.run(cluster.client.get(ServiceAccount, account)))!.metadata
    assert.equal(metadata.annotations?.['kubernetes.io/service-account.uid'], uid)
    const token = atob(data.token!)
    assert.equal(await cluster.statusOf(token), 200)
    const lastUsed = async () =>
      (await cluster.read())!.metadata.labels?.['kubernetes.io/legacy-token-last-used']
    assert.equal(await lastUsed(), '2030-01-01')
    await cluster.advance(24 * 3_600_000)
    assert.equal(await cluster.statusOf(token), 200, 'it does not expire')
    assert.equal(await lastUsed(), '2030-01-02')
    await cluster.run(cluster.client.delete(Secret, secret))
    assert.equal(await cluster.statusOf(token), 401)
  })

  it('deletes the secret of a deleted account', async () => {
    await using cluster = await startWithToken()
    const token = atob((await cluster.read())!.data!.token!)
    await cluster.run(cluster.client.delete(ServiceAccount, account))
    await cluster.settle()
    assert.equal(await cluster.read(), undefined)
    assert.equal(await cluster.statusOf(token), 401)
  })

  it('does not mistake another account of the same name for it', async () => {
    await using cluster = await startWithToken()
    const present = (await cluster.read())!
    await cluster.run(
      cluster.client.update(Secret, { ...present, data: { ...present.data, token: btoa('stolen') } }),
    )
    assert.equal(await cluster.statusOf(atob(present.data!.token!)), 401, 'the secret has another token')
    assert.equal(await cluster.statusOf('stolen'), 401)
  })
})
