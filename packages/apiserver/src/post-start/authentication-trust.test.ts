import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestServer } from '../test-support/token-server.ts'

const url = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`
const trust = { 'client-ca-file': pem('ours'), 'requestheader-username-headers': '["X-Remote-User"]' }

describe('the ConfigMap extension-apiserver-authentication', () => {
  it('publishes the CAs and header names for aggregated API servers, and is recreated when it is deleted', async () => {
    await using server = await startTestServer({ authentication: { trust } })
    await server.world.settle()
    const { body } = await server.send('GET', url)
    assert.deepEqual(body.data, trust)
    await server.send('DELETE', url)
    await server.world.settle()
    const again = await server.send('GET', url)
    assert.deepEqual(again.body.data, trust)
    assert.notEqual(again.body.metadata.uid, body.metadata.uid)
  })

  it('does not exist when there is nothing to publish', async () => {
    await using server = await startTestServer()
    await server.world.settle()
    assert.equal((await server.send('GET', url)).status, 404)
  })
})
