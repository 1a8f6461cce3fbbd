/** Inputs that a server must reject, and how: one row per input. Those that need sockets are in `@coxswain/wire`. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { createMemoryStore, type Store } from '@coxswain/storage'
import { isStream, type WireResponse } from '@coxswain/wire'
import { type ApiServer, createApiServer } from './server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const namespace = '/api/v1/namespaces/default'
const maps = `${namespace}/configmaps`
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface Row {
  readonly what: string
  readonly method?: string
  readonly path: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | object
  readonly bodyTooLarge?: boolean
  readonly as?: 'anonymous'
  readonly status: number
  readonly reason?: string
  readonly message?: RegExp
}

const config = (name: string, more: object = {}) => ({ metadata: { name }, data: { a: 'b' }, ...more })
const json = { 'content-type': 'application/json' }
const yaml = { 'content-type': 'application/yaml' }
const patch = (type: string) => ({ 'content-type': `application/${type}` })
const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...[...'bcdefghi'].map((c, i) => `${c}: &${c} [${`*${'abcdefgh'[i]},`.repeat(9)}]`),
].join('\n')
const operations = (count: number) =>
  `[${Array(count).fill('{"op":"test","path":"/data/a","value":"b"}').join(',')}]`
const crd = (pattern: string) => ({
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', pattern } } } },
      },
    ],
  },
})

const rows: readonly Row[] = [
  {
    what: 'a day that there is not',
    method: 'POST',
    path: maps,
    body: config('a', { metadata: { name: 'a', creationTimestamp: '2020-02-30T00:00:00Z' } }),
    status: 400,
    message: /parsing time "2020-02-30T00:00:00Z": day out of range$/,
  },
  {
    what: 'a time of six digits that has three',
    method: 'POST',
    path: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
    body: { metadata: { name: 'a' }, spec: { renewTime: '2020-02-20T00:00:00.123Z' } },
    status: 400,
    message: /as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".123Z" as ".000000"$/,
  },
  { what: 'no credentials', path: maps, as: 'anonymous', status: 403, reason: 'Forbidden' },
  {
    what: 'a bad token',
    path: maps,
    as: 'anonymous',
    headers: { authorization: 'Bearer nonsense' },
    status: 401,
    reason: 'Unauthorized',
  },
  {
    what: 'a proxy header from a client without a certificate',
    path: maps,
    as: 'anonymous',
    headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
    status: 403,
  },
  {
    what: 'impersonation without the right',
    path: maps,
    as: 'anonymous',
    headers: { 'impersonate-user': 'admin' },
    status: 403,
    reason: 'Forbidden',
  },
  { what: 'a namespace of dots', path: '/api/v1/namespaces/../pods', status: 400 },
  { what: 'an escaped namespace of dots', path: '/api/v1/namespaces/%2e%2e/pods', status: 400 },
  { what: 'a name of one dot', path: `${maps}/.`, status: 400 },
  {
    what: 'a name of two dots',
    path: `${maps}/..`,
    status: 400,
    message: /Name parameter invalid|may not be/,
  },
  { what: 'a name with a percent sign', path: `${maps}/%25`, status: 400 },
  { what: 'a name with a slash', path: `${maps}/a%2Fb`, status: 400 },
  { what: 'a NUL in a name', path: `${maps}/%00`, status: 404 },
  { what: 'bytes that are no UTF-8 in a name', path: `${maps}/%ff`, status: 400 },
  { what: 'a cluster resource in a namespace', path: `${namespace}/nodes`, status: 404 },
  {
    what: 'a namespaced resource created without one',
    method: 'POST',
    path: '/api/v1/configmaps',
    body: config('x'),
    status: 405,
  },
  { what: 'an unknown group', path: '/apis/made.up/v1/things', status: 404 },
  { what: 'an unknown resource', path: '/api/v1/made', status: 404, reason: 'NotFound' },
  { what: 'an unknown method', method: 'BREW', path: maps, status: 405 },
  {
    what: 'a body past the limit',
    method: 'POST',
    path: maps,
    bodyTooLarge: true,
    status: 413,
    reason: 'RequestEntityTooLarge',
  },
  { what: 'deep JSON', method: 'POST', path: maps, body: '['.repeat(1_500_000), status: 400 },
  {
    what: 'deep JSON that ends',
    method: 'POST',
    path: maps,
    body: `{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    status: 400,
  },
  { what: 'deep YAML', method: 'POST', path: maps, headers: yaml, body: '['.repeat(1_500_000), status: 400 },
  {
    what: 'deep YAML by indentation',
    method: 'POST',
    path: maps,
    headers: yaml,
    body: Array.from({ length: 1_500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    status: 400,
  },
  {
    what: 'an alias bomb',
    method: 'POST',
    path: maps,
    headers: yaml,
    body: bomb,
    status: 400,
    message: /alias/,
  },
  {
    what: 'many aliases',
    method: 'POST',
    path: maps,
    headers: yaml,
    body: `a: &a x\nb: [${'*a,'.repeat(2_000)}]`,
    status: 400,
  },
  { what: 'no JSON', method: 'POST', path: maps, body: '{"metadata"', status: 400, reason: 'BadRequest' },
  { what: 'JSON that is no object', method: 'POST', path: maps, body: '[]', status: 400 },
  { what: 'an empty body', method: 'POST', path: maps, body: '', status: 400 },
  {
    what: 'no protobuf',
    method: 'POST',
    path: maps,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: 'k8s\0\xff\xff\xff\xff',
    status: 400,
  },
  {
    what: 'protobuf without its mark',
    method: 'POST',
    path: maps,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: 'nonsense',
    status: 400,
  },
  {
    what: '10,001 operations',
    method: 'PATCH',
    path: `${maps}/present`,
    headers: patch('json-patch+json'),
    body: operations(10_001),
    status: 413,
  },
  {
    what: 'a patch that cannot be applied',
    method: 'PATCH',
    path: `${maps}/present`,
    headers: patch('json-patch+json'),
    body: '[{"op":"remove","path":"/data/missing"}]',
    status: 422,
    reason: 'Invalid',
  },
  {
    what: 'a patch that is none',
    method: 'PATCH',
    path: `${maps}/present`,
    headers: patch('merge-patch+json'),
    body: '[',
    status: 400,
  },
  {
    what: 'a patch of plain JSON',
    method: 'PATCH',
    path: `${maps}/present`,
    headers: json,
    body: '{}',
    status: 415,
    reason: 'UnsupportedMediaType',
  },
  {
    what: 'an unknown content type',
    method: 'POST',
    path: maps,
    headers: { 'content-type': 'text/plain' },
    body: 'x',
    status: 415,
  },
  {
    what: 'nothing acceptable',
    path: maps,
    headers: { accept: 'image/png' },
    status: 406,
    reason: 'NotAcceptable',
  },
  {
    what: 'an apply without a manager',
    method: 'PATCH',
    path: `${maps}/present`,
    headers: patch('apply-patch+yaml'),
    body: '{}',
    status: 422,
  },
  {
    what: 'an unknown field, strictly',
    method: 'POST',
    path: maps,
    query: 'fieldValidation=Strict',
    body: config('x', { made: 'up' }),
    status: 400,
    message: /strict decoding error: unknown field "made"/,
  },
  {
    what: 'a repeated field, strictly',
    method: 'POST',
    path: maps,
    query: 'fieldValidation=Strict',
    body: '{"metadata":{"name":"x"},"data":{},"data":{}}',
    status: 400,
    message: /duplicate field "data"/,
  },
  {
    what: 'another apiVersion',
    method: 'POST',
    path: maps,
    body: config('x', { apiVersion: 'v2' }),
    status: 400,
  },
  { what: 'another kind', method: 'POST', path: maps, body: config('x', { kind: 'Secret' }), status: 400 },
  {
    what: 'another name',
    method: 'PUT',
    path: `${maps}/present`,
    body: config('other'),
    status: 400,
    message: /name/,
  },
  {
    what: 'another namespace',
    method: 'POST',
    path: maps,
    body: { metadata: { name: 'x', namespace: 'other' } },
    status: 400,
    message: /namespace/,
  },
  {
    what: 'a name that is taken',
    method: 'POST',
    path: maps,
    body: config('present'),
    status: 409,
    reason: 'AlreadyExists',
  },
  {
    what: 'a resourceVersion at creation',
    method: 'POST',
    path: maps,
    body: { metadata: { name: 'x', resourceVersion: '1' } },
    status: 400,
  },
  {
    what: 'a name that is none',
    method: 'POST',
    path: maps,
    body: config('Not_A_Name'),
    status: 422,
    reason: 'Invalid',
  },
  { what: 'a very long name', method: 'POST', path: maps, body: config('a'.repeat(300)), status: 422 },
  {
    what: 'a delete with another uid',
    method: 'DELETE',
    path: `${maps}/present`,
    body: { preconditions: { uid: 'x' } },
    status: 409,
    reason: 'Conflict',
  },
  {
    what: 'a delete with another version',
    method: 'DELETE',
    path: `${maps}/present`,
    body: { preconditions: { resourceVersion: '1' } },
    status: 409,
  },
  {
    what: 'an update of an old version',
    method: 'PUT',
    path: `${maps}/present`,
    body: { metadata: { name: 'present', resourceVersion: '1' } },
    status: 409,
    reason: 'Conflict',
  },
  {
    what: 'long annotations',
    method: 'POST',
    path: maps,
    body: { metadata: { name: 'x', annotations: { a: 'x'.repeat(300_000) } } },
    status: 422,
  },
  {
    what: 'a long secret',
    method: 'POST',
    path: `${namespace}/secrets`,
    body: { metadata: { name: 'x' }, stringData: { a: 'x'.repeat(1_100_000) } },
    status: 422,
  },
  { what: 'a bad label selector', path: maps, query: 'labelSelector=a%20in', status: 400 },
  { what: 'a bad field selector', path: maps, query: 'fieldSelector=a', status: 400 },
  { what: 'a field that cannot be selected', path: maps, query: 'fieldSelector=data.a%3Db', status: 400 },
  { what: 'a limit that is no number', path: maps, query: 'limit=abc', status: 400 },
  { what: 'a timeout that is none', path: maps, query: 'timeout=abc', status: 400 },
  { what: 'a continue token that is none', path: maps, query: 'limit=1&continue=nonsense', status: 400 },
  {
    what: 'a continue token that climbs',
    path: maps,
    query: `limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":5,"start":"../../x"}').toString('base64url')}`,
    status: 400,
  },
  { what: 'a version that is no number', path: maps, query: 'resourceVersion=abc', status: 400 },
  {
    what: 'a version still to come',
    path: maps,
    query: 'resourceVersion=999999999&timeout=10s',
    status: 504,
    reason: 'Timeout',
  },
  { what: 'a match without a version', path: maps, query: 'resourceVersionMatch=Exact', status: 422 },
  {
    what: 'an unknown dry run',
    method: 'POST',
    path: maps,
    query: 'dryRun=Some',
    body: config('x'),
    status: 422,
  },
  {
    what: 'an unknown field validation',
    method: 'POST',
    path: maps,
    query: 'fieldValidation=Maybe',
    body: config('x'),
    status: 422,
  },
  {
    what: 'a namespace that is missing',
    method: 'POST',
    path: '/api/v1/namespaces/missing/configmaps',
    body: config('x'),
    status: 404,
  },
  { what: 'deleting the namespace default', method: 'DELETE', path: namespace, status: 403 },
  { what: 'a pattern that looks ahead', method: 'POST', path: crds, body: crd('(?=x)'), status: 422 },
  { what: 'a pattern that looks back', method: 'POST', path: crds, body: crd('(a)\\1'), status: 422 },
  { what: 'the log of a missing pod', path: `${namespace}/pods/missing/log`, status: 404 },
  { what: 'an exec into a missing pod', method: 'POST', path: `${namespace}/pods/missing/exec`, status: 404 },
  {
    what: 'an object with the prototype as a key',
    method: 'POST',
    path: maps,
    query: 'fieldValidation=Strict',
    body: '{"metadata":{"name":"x"},"__proto__":{"a":1}}',
    status: 400,
    message: /unknown field "__proto__"/,
  },
]

describe('bad inputs', () => {
  const group = new TaskGroup()
  const env = createRealEnv()
  let store: Store
  let server: ApiServer

  const send = (row: Row): Promise<WireResponse> =>
    server.handler({
      method: row.method ?? 'GET',
      path: row.path,
      query: row.query ?? '',
      headers: row.headers ?? json,
      ...(row.body !== undefined && {
        body:
          typeof row.body === 'string'
            ? Buffer.from(row.body, 'latin1')
            : Buffer.from(JSON.stringify(row.body)),
      }),
      ...(row.bodyTooLarge && { bodyTooLarge: true }),
      ...(row.as !== 'anonymous' && { peer: admin }),
      signal: group.signal,
    })

  before(async () => {
    store = createMemoryStore({ env })
    server = createApiServer({ env, store })
    group.spawn(signal => server.run(signal))
    await server.ready
    const { status } = await send({
      what: '',
      method: 'POST',
      path: maps,
      body: config('present'),
      status: 201,
    })
    assert.equal(status, 201)
  })
  after(async () => {
    group.abort()
    await group.join()
    await store.close()
  })

  for (const row of rows) {
    it(`${row.what}: ${row.status}`, async () => {
      const { status, headers, body } = await send(row)
      assert.ok(!isStream(body))
      const text = new TextDecoder().decode(body as Uint8Array | undefined)
      assert.equal(status, row.status, text)
      if (status === 404 && String(headers['content-type']).startsWith('text/plain')) return
      const answer = JSON.parse(text) as { kind: string; reason?: string; message: string; code: number }
      assert.equal(answer.kind, 'Status')
      assert.equal(answer.code, status)
      if (row.reason) assert.equal(answer.reason, row.reason)
      if (row.message) assert.match(answer.message, row.message)
    })
  }

  it('a pattern that takes exponential time elsewhere: accepted, and fast', async () => {
    const made = await send({
      what: '',
      method: 'POST',
      path: crds,
      body: crd('^(a+)+$'),
      status: 201,
    })
    assert.equal(made.status, 201)
  })
})
