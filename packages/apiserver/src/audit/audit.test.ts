import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRealEnv, silentLogger, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import type { PeerCertificate, WireRequest } from '@coxswain/wire'
import { createApiServer } from '../server.ts'
import { type AuditEvent, createBatchingBackend, readAuditPolicy, truncateEvent } from './index.ts'

const admin: PeerCertificate = {
  commonName: 'admin',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}

function requestOf(
  method: string,
  path: string,
  body?: object,
  extra: Partial<WireRequest> = {},
): WireRequest {
  const [bare = '', query = ''] = path.split('?')
  return {
    method,
    path: bare,
    query,
    headers: { 'content-type': 'application/json', 'user-agent': 'test' },
    ...(body && { body: new TextEncoder().encode(JSON.stringify(body)) }),
    peer: admin,
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
    ...extra,
  }
}

async function record(
  rules: object[],
  requests: readonly WireRequest[],
  more: object = {},
): Promise<AuditEvent[]> {
  const env = createRealEnv()
  await using store = createMemoryStore({ env })
  const events: AuditEvent[] = []
  const backend = { write: (event: AuditEvent) => void events.push(event), async [Symbol.asyncDispose]() {} }
  const policy = readAuditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, ...more })
  const server = createApiServer({ env, store, audit: { policy, backends: [backend] } })
  const controller = new AbortController()
  const running = server.run(controller.signal)
  await server.ready
  for (const request of requests) {
    const { body } = await server.handler(request)
    if (body && Symbol.asyncIterator in body) await body[Symbol.asyncIterator]().return?.()
  }
  controller.abort()
  await running
  return events
}

const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { key: 'hunter2' } }
const secrets = '/api/v1/namespaces/default/secrets'

describe('the audit log', () => {
  it('records the stages of a request, and no objects at level Metadata', async () => {
    const events = await record([{ level: 'Metadata' }], [requestOf('POST', secrets, secret)])
    assert.deepEqual(
      events.map(({ stage }) => stage),
      ['RequestReceived', 'ResponseComplete'],
    )
    const [, last] = events
    assert.equal(last?.auditID, events[0]?.auditID)
    assert.equal(last?.requestURI, secrets)
    assert.equal(last?.verb, 'create')
    assert.deepEqual(last?.user, { username: 'admin', groups: ['system:masters', 'system:authenticated'] })
    assert.deepEqual(last?.sourceIPs, ['127.0.0.1'])
    assert.deepEqual(last?.objectRef, { resource: 'secrets', namespace: 'default', apiVersion: 'v1' })
    assert.deepEqual(last?.responseStatus, { metadata: {}, code: 201 })
    assert.match(JSON.stringify(last?.annotations), /"authorization.k8s.io.decision":"allow"/)
    assert.ok(!JSON.stringify(events).includes('hunter2'))
    assert.ok(!JSON.stringify(events).includes(Buffer.from('hunter2').toString('base64')))
  })

  it('has the objects at the higher levels, without managed fields where the policy omits them', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { a: '1' } }
    const path = '/api/v1/namespaces/default/configmaps'
    const [, request] = await record([{ level: 'Request' }], [requestOf('POST', path, map)])
    assert.deepEqual(request?.requestObject, map)
    assert.equal(request?.responseObject, undefined)
    const [, both] = await record([{ level: 'RequestResponse' }], [requestOf('POST', path, map)], {
      omitManagedFields: true,
    })
    const made = both?.responseObject as { metadata: Record<string, unknown>; data: object }
    assert.deepEqual(made.data, { a: '1' })
    assert.equal(made.metadata.managedFields, undefined)
    assert.match(JSON.stringify(both?.objectRef), new RegExp(String(made.metadata.uid)))
  })

  it('applies the first matching rule, and omits stages', async () => {
    const rules = [
      { level: 'None', resources: [{ group: '', resources: ['configmaps'] }] },
      { level: 'None', nonResourceURLs: ['/healthz*'] },
      { level: 'Metadata', verbs: ['list'], omitStages: ['RequestReceived'] },
    ]
    const events = await record(rules, [
      requestOf('GET', '/api/v1/namespaces/default/configmaps'),
      requestOf('GET', '/healthz'),
      requestOf('GET', secrets),
      requestOf('GET', '/version'),
    ])
    assert.deepEqual(
      events.map(({ requestURI, stage }) => `${stage} ${requestURI}`),
      [`ResponseComplete ${secrets}`],
    )
  })

  it('records rejections with their reason, failed authentication, and both ends of watches', async () => {
    const unprivileged = { commonName: 'jane', organizations: [], notAfter: Number.MAX_SAFE_INTEGER }
    const bad = requestOf('GET', secrets, undefined, { headers: { authorization: 'Bearer nonsense' } })
    const { peer: _, ...withoutPeer } = bad
    const events = await record(
      [{ level: 'Metadata', omitStages: ['RequestReceived'] }],
      [
        requestOf('GET', secrets, undefined, { peer: unprivileged }),
        { ...withoutPeer, peerError: 'expired' },
        requestOf('GET', `${secrets}?watch=true`),
      ],
    )
    assert.deepEqual(
      events.map(({ stage, responseStatus }) => `${stage} ${(responseStatus as { code: number }).code}`),
      ['ResponseComplete 403', 'ResponseStarted 401', 'ResponseStarted 200', 'ResponseComplete 200'],
    )
    assert.match(JSON.stringify(events[0]?.responseStatus), /User .*jane.* cannot list/)
  })

  it('keeps the audit id of a client', async () => {
    const headers = { 'audit-id': 'my-own-id' }
    const [event] = await record([{ level: 'Metadata' }], [requestOf('GET', secrets, undefined, { headers })])
    assert.equal(event?.auditID, 'my-own-id')
  })
})

describe('an audit policy', () => {
  it('is rejected with every error and its path', () => {
    const rules = [
      { level: 'Everything' },
      { level: 'None', resources: [{ group: '' }], nonResourceURLs: ['/x'] },
      { level: 'None', user: ['x'] },
    ]
    assert.throws(() => readAuditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }), {
      message:
        'rules[0].level: "Everything" is none of None, Metadata, Request, RequestResponse; rules[1].nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs; rules[2].user: unknown field',
    })
  })
})

describe('batches of events', () => {
  const eventOf = (id: string): AuditEvent => ({ auditID: id, stage: 'ResponseComplete', level: 'Metadata' })

  it('are sent when they are full or old enough, one at a time, and drop events over the limit', async () => {
    const world = new VirtualWorld({ seed: 1 })
    const sent: string[][] = []
    const send = async (events: readonly AuditEvent[]) => {
      await world.clock.sleep(1_000)
      sent.push(events.map(({ auditID }) => auditID))
    }
    const backend = createBatchingBackend({
      clock: world.clock,
      log: silentLogger,
      name: 'test',
      send,
      bufferSize: 4,
      maxSize: 2,
      maxWait: 10_000,
    })
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) backend.write(eventOf(id))
    await world.advance(5_000)
    assert.deepEqual(sent, [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ])
    backend.write(eventOf('i'))
    await world.advance(12_000)
    assert.deepEqual(sent.at(-1), ['i'])
    await world.run(backend[Symbol.asyncDispose]() as Promise<void>)
  })

  it('drop the objects of events that are too large', () => {
    const large = { ...eventOf('a'), requestObject: 'x'.repeat(1_000) }
    const small = truncateEvent(large, 500)
    assert.equal(small?.requestObject, undefined)
    assert.deepEqual(small?.annotations, { 'audit.k8s.io/truncated': 'true' })
    assert.equal(truncateEvent(large, 5), undefined)
    const exact = { ...eventOf('a'), requestObject: { spec: { seconds: 9223372036854775807n } } }
    assert.equal(truncateEvent(exact, 10_000), exact)
  })
})
