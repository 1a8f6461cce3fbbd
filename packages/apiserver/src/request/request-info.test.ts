import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePath, parseQuery } from '@coxswain/wire'
import { isTrue, parseRequestInfo } from './request-info.ts'

function parse(method: string, url: string) {
  const [path = '', query = ''] = url.split('?')
  return parseRequestInfo(method, path, parsePath(path).segments, parseQuery(query))
}

describe('parseRequestInfo', () => {
  const cases: readonly (readonly [string, string, Record<string, unknown>])[] = [
    [
      'GET',
      '/api/v1/pods',
      { verb: 'list', group: '', version: 'v1', resource: 'pods', namespace: '', name: '' },
    ],
    ['GET', '/api/v1/namespaces/a/pods/b', { verb: 'get', resource: 'pods', namespace: 'a', name: 'b' }],
    ['GET', '/api/v1/namespaces/a/pods?watch=1', { verb: 'watch', resource: 'pods', namespace: 'a' }],
    ['GET', '/api/v1/namespaces/a/pods/b?watch=1', { verb: 'get', name: 'b' }],
    [
      'GET',
      '/api/v1/watch/namespaces/a/pods/b',
      { verb: 'watch', namespace: 'a', name: 'b', legacyWatch: true },
    ],
    ['GET', '/api/v1/namespaces', { verb: 'list', resource: 'namespaces', namespace: '' }],
    ['GET', '/api/v1/namespaces/a', { verb: 'get', resource: 'namespaces', namespace: 'a', name: 'a' }],
    [
      'PUT',
      '/api/v1/namespaces/a/finalize',
      { verb: 'update', resource: 'namespaces', name: 'a', subresource: 'finalize' },
    ],
    [
      'GET',
      '/api/v1/namespaces/a/status',
      { verb: 'get', resource: 'namespaces', name: 'a', subresource: 'status' },
    ],
    [
      'DELETE',
      '/apis/apps/v1/namespaces/a/deployments',
      { verb: 'deletecollection', group: 'apps', resource: 'deployments' },
    ],
    [
      'PATCH',
      '/apis/apps/v1/namespaces/a/deployments/d/scale',
      { verb: 'patch', name: 'd', subresource: 'scale' },
    ],
    ['GET', '/api/v1/namespaces/a/pods/p/proxy/x/y', { subresource: 'proxy', rest: ['x', 'y'] }],
    ['POST', '/apis/g/v1/things', { verb: 'create', group: 'g', version: 'v1', resource: 'things' }],
  ]
  for (const [method, url, expected] of cases) {
    it(`parses ${method} ${url}`, () => {
      const info = parse(method, url)
      assert.equal(info.isResource, true)
      for (const [key, value] of Object.entries(expected)) {
        assert.deepEqual((info as unknown as Record<string, unknown>)[key], value, key)
      }
    })
  }

  for (const url of [
    '/',
    '/api',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
    '/api/v1',
    '/healthz',
    '/version',
  ]) {
    it(`treats ${url} as a non-resource path`, () => assert.equal(parse('GET', url).isResource, false))
  }

  it('keeps a segment such as .. unchanged', () => {
    const info = parse('GET', '/api/v1/namespaces/%2e%2e/pods')
    assert.equal(info.isResource && info.namespace, '..')
    assert.equal(info.isResource && info.resource, 'pods')
  })

  it('parses booleans as upstream does: everything but a clear no is true', () => {
    assert.deepEqual(['', '1', 'maybe', 'f', '0', 'false', 'False'].map(isTrue), [
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ])
    assert.equal(isTrue(undefined), false)
  })
})
