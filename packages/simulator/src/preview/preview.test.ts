import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { defineOperator } from '@coxswain/runtime'
import { previewChange } from './preview.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a' } }
const previewOf = (reconcile: (name: string) => Promise<void>) =>
  previewChange({
    operators: [
      defineOperator('outside', operator => {
        operator
          .controller('maps')
          .for(ConfigMap)
          .reconcile(({ key: { name } }) => reconcile(name))
      }),
    ],
    objects: [],
    definitions: [],
    now,
    change: { action: 'apply', manifests: [object] },
  })

describe('the preview of a change', () => {
  it('lists what operators would fetch or send, and sends nothing', async t => {
    const fetchOutside = t.mock.method(globalThis, 'fetch', () => Promise.reject(new Error('sent')))
    const statuses: number[] = []
    const { outside } = await previewOf(async name => {
      if (name !== 'a') return
      const url = `https://dns.example.com/records/${name}`
      statuses.push((await fetch(url)).status)
      statuses.push((await fetch(`${url}?token=secret`, { method: 'PUT', body: '{}' })).status)
    })
    assert.deepEqual(statuses, [404, 201])
    assert.deepEqual(
      outside.map(({ method, url }) => `${method} ${url}`),
      ['GET https://dns.example.com/records/a', 'PUT https://dns.example.com/records/a'],
    )
    assert.equal(fetchOutside.mock.callCount(), 0)
    assert.equal(globalThis.fetch, fetchOutside)
  })
})
