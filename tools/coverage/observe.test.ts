import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { WireRequest, WireResponse } from '@coxswain/wire'
import { factOf, listedFacts } from './observe.ts'

const ask = (method: string, url: string, headers: WireRequest['headers'] = {}): WireRequest => {
  const [path = '', query = ''] = url.split('?')
  return { method, path, query, headers, signal: new AbortController().signal }
}
const answer = (status = 200, type = 'application/json'): WireResponse => ({
  status,
  headers: { 'content-type': type },
})

describe('what an exchange proves', () => {
  it('is the resource, the verb and the encoding', () => {
    assert.deepEqual(factOf(ask('GET', '/api/v1/namespaces/x/pods/a'), answer()), {
      resource: 'v1/pods',
      verb: 'get',
      mediaType: 'json',
    })
    assert.deepEqual(factOf(ask('GET', '/apis/apps/v1/deployments?watch=1'), answer()), {
      resource: 'apps/v1/deployments',
      verb: 'watch',
      mediaType: 'json',
    })
    assert.deepEqual(factOf(ask('PUT', '/api/v1/namespaces/x/pods/a/status'), answer()), {
      resource: 'v1/pods/status',
      verb: 'update',
      mediaType: 'json',
    })
  })

  it('is the patch type too', () => {
    const headers = { 'content-type': 'application/apply-patch+yaml; charset=utf-8' }
    assert.deepEqual(factOf(ask('PATCH', '/api/v1/namespaces/x/pods/a', headers), answer(201)), {
      resource: 'v1/pods',
      verb: 'patch',
      patchType: 'apply',
      mediaType: 'json',
    })
  })

  it('tells tables, metadata and other encodings apart', () => {
    const mediaType = (accept: string, type: string) =>
      factOf(ask('GET', '/api/v1/pods', { accept }), answer(200, type))?.mediaType
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    assert.equal(mediaType(`${table},application/json`, 'application/json'), 'table')
    assert.equal(mediaType('application/json', table), 'table')
    assert.equal(
      mediaType('application/json;as=PartialObjectMetadataList;v=v1', 'application/json'),
      'metadata',
    )
    assert.equal(mediaType('', 'application/vnd.kubernetes.protobuf'), 'protobuf')
    assert.equal(mediaType('', 'text/plain'), undefined)
  })

  it('is nothing when the answer is a failure, or not about a resource', () => {
    assert.equal(factOf(ask('GET', '/api/v1/pods'), answer(404)), undefined)
    assert.equal(factOf(ask('GET', '/readyz'), answer()), undefined)
    assert.equal(factOf(ask('GET', '/api/v1'), answer()), undefined)
  })
})

describe('what discovery lists', () => {
  it('is offered, as far as it is a verb of a request', () => {
    const lists = [
      {
        groupVersion: 'apps/v1',
        resources: [{ name: 'deployments', verbs: ['get', 'list', 'impersonate'] }],
      },
    ]
    assert.deepEqual(listedFacts(lists), [{ resource: 'apps/v1/deployments', offered: ['get', 'list'] }])
  })
})
