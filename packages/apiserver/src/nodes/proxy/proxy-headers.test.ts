import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { WireRequest } from '@coxswain/wire'
import { forwardedHeaders, forwardedUpgradeHeaders, isUpgrade, returnedHeaders } from './proxy-headers.ts'

const request = (headers: WireRequest['headers'], remoteAddress?: string): WireRequest => ({
  method: 'GET',
  path: '/',
  query: '',
  headers,
  signal: new AbortController().signal,
  ...(remoteAddress !== undefined && { remoteAddress }),
})

describe('forwarded headers', () => {
  it('have no credentials of the client, whatever earlier filters left', () => {
    const headers = {
      authorization: 'Bearer x',
      'impersonate-user': 'a',
      'impersonate-extra-b': 'c',
      'x-remote-user': 'd',
      'x-remote-extra-e': 'f',
      'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.eA',
      cookie: 'kept',
    }
    assert.deepEqual({ ...forwardedHeaders(request(headers)) }, { cookie: 'kept' })
    assert.deepEqual({ ...forwardedUpgradeHeaders(request(headers)) }, { cookie: 'kept' })
  })

  it('have HTTP/1.1 form when the request came over HTTP/2', () => {
    const headers = { ':method': 'GET', ':authority': 'a:1', ':path': '/', ':scheme': 'https', accept: '*/*' }
    assert.deepEqual(
      { ...forwardedHeaders(request(headers, '192.0.2.1')) },
      {
        accept: '*/*',
        host: 'a:1',
        'x-forwarded-for': '192.0.2.1',
      },
    )
  })

  it('cannot drop X-Forwarded headers', () => {
    const headers = { connection: 'x-forwarded-for, host', 'x-forwarded-for': '198.51.100.1', host: 'a' }
    const forwarded = forwardedHeaders(request(headers, '192.0.2.1'))
    assert.deepEqual({ ...forwarded }, { host: 'a', 'x-forwarded-for': '198.51.100.1, 192.0.2.1' })
  })

  it('ask for an upgrade only when the connection header does', () => {
    assert.equal(isUpgrade(request({ connection: 'keep-alive, Upgrade', upgrade: 'websocket' })), true)
    assert.equal(isUpgrade(request({ connection: 'keep-alive', upgrade: 'h2c' })), false)
    assert.equal(isUpgrade(request({ connection: 'upgrade' })), false)
    assert.equal(forwardedHeaders(request({ upgrade: 'h2c' })).upgrade, undefined)
  })

  it('keep repeated values in responses', () => {
    const returned = returnedHeaders({ 'set-cookie': ['a', 'b'], 'transfer-encoding': 'chunked', etag: 'x' })
    assert.deepEqual(
      { ...returned },
      { 'set-cookie': ['a', 'b'], etag: 'x', 'cache-control': 'no-cache, private' },
    )
  })
})
