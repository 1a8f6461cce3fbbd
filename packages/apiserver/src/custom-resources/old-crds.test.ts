import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startCrdServer } from './test-support/crd-server.ts'

describe('a v1beta1 CRD', () => {
  it('is answered with the usual 404, and with a hint', async () => {
    await using server = await startCrdServer()
    const path = '/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions'
    for (const [method, url] of [
      ['POST', path],
      ['GET', `${path}/foos.example.com`],
    ] as const) {
      const { status, body, warnings } = await server.send(method, url, method === 'POST' ? {} : undefined)
      assert.deepEqual([status, body.kind, body.reason], [404, 'Status', 'NotFound'])
      assert.match(
        body.message,
        /apiextensions\.k8s\.io\/v1, where each of spec\.versions .*coxswain convert FILE/,
      )
      assert.match(warnings[0] ?? '', /coxswain convert/)
    }
  })
})
