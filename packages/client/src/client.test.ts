import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isConflict, isExpired, isForbidden, isNotFound, isStatusError } from '@coxswain/apimachinery/status'
import { aborted } from '@coxswain/kit'
import { isTransportError, type WireRequest } from '@coxswain/wire'
import { isClientError } from './errors.ts'
import { kindFor, metadataOf } from './kind-for.ts'
import type { WatchEvent } from './options.ts'
import { failure, json, startScripted, stream, text } from './test-support/scripted-server.ts'

const Pod = kindFor({ version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true })
const Node = kindFor({ version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false })
const Deployment = kindFor({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  namespaced: true,
})
const key = { namespace: 'ns', name: 'a' }
const pod = (name: string, resourceVersion = '1') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'ns', resourceVersion },
})

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const event of events) all.push(event)
  return all
}

describe('reading', () => {
  it('gets an object by its key, and a miss is a value', async () => {
    await using server = startScripted([json(pod('a')), failure(404, 'NotFound')])
    assert.equal((await server.client.get(Pod, key))?.metadata.name, 'a')
    assert.equal(await server.client.get(Deployment, key, { resourceVersion: '0' }), undefined)
    assert.deepEqual(server.calls(), [
      'GET /api/v1/namespaces/ns/pods/a',
      'GET /apis/apps/v1/namespaces/ns/deployments/a?resourceVersion=0',
    ])
  })

  it('throws every other failure as its Status', async () => {
    await using server = startScripted([failure(403, 'Forbidden', 'no')])
    await assert.rejects(
      server.client.get(Pod, key),
      error => isForbidden(error) && (error as Error).message === 'no',
    )
  })

  it("makes a Status of an answer that is not one, in client-go's words", async () => {
    await using server = startScripted([text('<html>Bad gateway</html>', 502), text('', 404)])
    await assert.rejects(server.client.get(Pod, key), error => {
      assert.ok(isStatusError(error))
      assert.equal(error.code, 502)
      assert.equal(error.status.details?.causes?.[0]?.message, '<html>Bad gateway</html>')
      return true
    })
    await assert.rejects(server.client.list(Pod), error => {
      assert.ok(isNotFound(error))
      assert.equal((error as Error).message, 'the server could not find the requested resource (get pods)')
      return true
    })
  })

  it('rejects keys that would change the path, before anything is sent', async () => {
    await using server = startScripted([json(pod('a'))])
    const bad = [
      { namespace: 'ns', name: '..' },
      { namespace: 'ns', name: 'a/b' },
      { namespace: 'ns', name: 'a%2fb' },
      { namespace: '..', name: 'a' },
      { namespace: 'ns', name: '' },
      { name: 'a' },
    ]
    for (const each of bad)
      await assert.rejects(server.client.get(Pod, each), error => isClientError(error, 'BadKey'))
    await assert.rejects(server.client.get(Node, key), error => isClientError(error, 'BadKey'))
    assert.deepEqual(server.calls(), [])
  })

  it('lists with selectors and sets the apiVersion and kind of items', async () => {
    const list = {
      apiVersion: 'v1',
      kind: 'PodList',
      metadata: { resourceVersion: '7' },
      items: [{ metadata: { name: 'a' } }],
    }
    await using server = startScripted([json(list), json({ ...list, items: null })])
    const { items, metadata } = await server.client.list(Pod, {
      namespace: 'ns',
      labelSelector: 'a in (b,c)',
      fieldSelector: 'spec.nodeName=n',
      limit: 5,
    })
    assert.deepEqual([items[0]?.apiVersion, items[0]?.kind, metadata.resourceVersion], ['v1', 'Pod', '7'])
    assert.deepEqual((await server.client.list(Pod)).items, [])
    assert.deepEqual(server.calls(), [
      'GET /api/v1/namespaces/ns/pods?labelSelector=a in (b,c)&fieldSelector=spec.nodeName=n&limit=5',
      'GET /api/v1/pods',
    ])
  })

  it('lists everything page by page, requesting the next when the last is consumed', async () => {
    const page = (names: string[], next?: string) =>
      json({
        metadata: { resourceVersion: '7', ...(next && { continue: next }) },
        items: names.map(name => pod(name)),
      })
    await using server = startScripted([page(['a', 'b'], 'token'), page(['c'])])
    const names: string[] = []
    for await (const item of server.client.listAll(Pod, { limit: 2, resourceVersion: '0' })) {
      if (item.metadata.name === 'b') assert.equal(server.calls().length, 1)
      names.push(item.metadata.name)
    }
    assert.deepEqual(names, ['a', 'b', 'c'])
    assert.deepEqual(server.calls(), [
      'GET /api/v1/pods?limit=2&resourceVersion=0',
      'GET /api/v1/pods?limit=2&continue=token',
    ])
  })

  it('requests only metadata for a metadata kind', async () => {
    await using server = startScripted([
      json({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } }),
      json({ metadata: {}, items: [{ metadata: { name: 'a' } }] }),
    ])
    await server.client.get(metadataOf(Pod), key)
    const list = await server.client.list(metadataOf(Pod))
    assert.equal(list.items[0]?.kind, 'PartialObjectMetadata')
    assert.deepEqual(
      server.seen.map(({ headers }) => headers.accept),
      [
        'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
        'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      ],
    )
  })

  it('keeps whole numbers beyond 2^53 exact, there and back', async () => {
    const raw =
      '{"metadata":{"name":"a","namespace":"ns"},"spec":{"big":9007199254740993,"list":[-9223372036854775808],"small":7,"text":"[1234567890123456789]","half":0.12345678901234567890}}'
    let sent = ''
    const keep = (request: WireRequest) => {
      sent = new TextDecoder().decode(request.body)
      return json(pod('a'))
    }
    await using server = startScripted([text(raw), keep])
    const object = await server.client.get(Pod, key)
    assert.deepEqual(object?.spec, {
      big: 9007199254740993n,
      list: [-9223372036854775808n],
      small: 7,
      text: '[1234567890123456789]',
      half: 0.12345678901234568,
    })
    await server.client.raw
      .request({ method: 'PUT', path: '/x', body: { big: 9007199254740993n } })
      .catch(() => {})
    assert.equal(sent, '{"big":9007199254740993}')
  })
})

describe('writing', () => {
  it('sends each verb as the API has it', async () => {
    await using server = startScripted([json(pod('a'))], { fieldManager: 'me' })
    const { client } = server
    const object = { metadata: { name: 'a', namespace: 'ns' }, spec: {} }
    await client.create(Pod, object, { dryRun: true, fieldValidation: 'Strict' })
    await client.update(Pod, object)
    await client.updateStatus(Pod, object, { fieldManager: 'other' })
    await client.apply(Pod, object, { force: true })
    await client.applyStatus(Pod, object)
    await client.patch(Pod, key, [{ op: 'remove', path: '/x' }], { type: 'json' })
    await client.patch(Pod, key, {}, { subresource: 'status' })
    await client.patch(Pod, key, {}, { type: 'strategic' })
    await client.delete(Pod, key)
    await client.delete(Pod, key, {
      propagationPolicy: 'Foreground',
      preconditions: { uid: 'u' },
      gracePeriodSeconds: 0,
      dryRun: true,
    })
    await client.deleteAll(Pod, { namespace: 'ns', labelSelector: 'a=b' })
    const path = '/api/v1/namespaces/ns/pods'
    assert.deepEqual(server.calls(), [
      `POST ${path}?dryRun=All&fieldManager=me&fieldValidation=Strict`,
      `PUT ${path}/a?fieldManager=me`,
      `PUT ${path}/a/status?fieldManager=other`,
      `PATCH ${path}/a?fieldManager=me&force=true`,
      `PATCH ${path}/a/status?fieldManager=me&force=false`,
      `PATCH ${path}/a?fieldManager=me`,
      `PATCH ${path}/a/status?fieldManager=me`,
      `PATCH ${path}/a?fieldManager=me`,
      `DELETE ${path}/a`,
      `DELETE ${path}/a`,
      `DELETE ${path}?labelSelector=a=b`,
    ])
    assert.deepEqual(server.seen[0]?.body, { apiVersion: 'v1', kind: 'Pod', ...object })
    assert.deepEqual(
      server.seen.slice(3, 8).map(({ headers }) => headers['content-type']),
      [
        'application/apply-patch+yaml',
        'application/apply-patch+yaml',
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/strategic-merge-patch+json',
      ],
    )
    assert.equal(server.seen[8]?.body, undefined)
    assert.deepEqual(server.seen[9]?.body, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
      propagationPolicy: 'Foreground',
      dryRun: ['All'],
    })
  })

  it('refuses to apply without a field manager, to create without a namespace, to update without a name', async () => {
    await using server = startScripted([json(pod('a'))])
    const { client } = server
    await assert.rejects(client.apply(Pod, { metadata: { name: 'a', namespace: 'ns' } }), error =>
      isClientError(error, 'BadOptions'),
    )
    await assert.rejects(client.create(Pod, { metadata: { name: 'a' } }), error =>
      isClientError(error, 'BadKey'),
    )
    await assert.rejects(client.update(Pod, { metadata: { name: '', namespace: 'ns' } }), error =>
      isClientError(error, 'BadKey'),
    )
    assert.deepEqual(server.calls(), [])
  })

  it('tells a deletion that is done from one that waits, and from a miss', async () => {
    await using server = startScripted([
      json({ kind: 'Status', apiVersion: 'v1', status: 'Success', details: { name: 'a', uid: 'u1' } }),
      json({ ...pod('a'), metadata: { name: 'a', uid: 'u2', finalizers: ['x'] } }),
      failure(404, 'NotFound'),
      failure(409, 'Conflict'),
    ])
    const { client } = server
    assert.deepEqual(await client.delete(Pod, key), { uid: 'u1' })
    assert.equal((await client.delete(Pod, key))?.object?.metadata.finalizers?.[0], 'x')
    assert.equal(await client.delete(Pod, key), undefined)
    await assert.rejects(client.delete(Pod, key), isConflict)
  })

  it('reaches subresources', async () => {
    await using server = startScripted([
      json({ kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a' }, spec: { replicas: 2 } }),
      json({ kind: 'Scale' }),
      json({ kind: 'Status', status: 'Success' }, 201),
      stream('line 1\n', 'line 2\n'),
      failure(404, 'NotFound'),
    ])
    const { client } = server
    const scale = client.subresource(Deployment, key, 'scale')
    assert.deepEqual((await scale.get<{ spec: { replicas: number } }>())?.spec, { replicas: 2 })
    await scale.update({ spec: { replicas: 3 } })
    await client
      .subresource(Pod, key, 'eviction')
      .create({ kind: 'Eviction', apiVersion: 'policy/v1' }, { dryRun: true })
    const log = await collect(
      client.subresource(Pod, key, 'log').stream({ query: { follow: true, container: 'c' } }),
    )
    assert.equal(Buffer.concat(log).toString(), 'line 1\nline 2\n')
    assert.equal(await scale.get(), undefined)
    assert.deepEqual(server.calls().slice(0, 4), [
      'GET /apis/apps/v1/namespaces/ns/deployments/a/scale',
      'PUT /apis/apps/v1/namespaces/ns/deployments/a/scale',
      'POST /api/v1/namespaces/ns/pods/a/eviction?dryRun=All',
      'GET /api/v1/namespaces/ns/pods/a/log?follow=true&container=c',
    ])
  })

  it('sends its user agent and the impersonated user', async () => {
    await using server = startScripted([json(pod('a'))], {
      userAgent: 'op/1',
      impersonate: { user: 'jane', uid: 'u', groups: ['a', 'b'], extra: { 'Scopes/X': ['v'] } },
    })
    await server.client.get(Pod, key)
    const { headers } = server.seen[0]!
    assert.equal(headers['user-agent'], 'op/1')
    assert.deepEqual(
      [
        headers['impersonate-user'],
        headers['impersonate-uid'],
        headers['impersonate-group'],
        headers['impersonate-extra-scopes%2Fx'],
      ],
      ['jane', 'u', ['a', 'b'], ['v']],
    )
  })
})

describe('watching', () => {
  const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`

  it('leaves managedFields out when asked to, and only then', async () => {
    const metadata = { name: 'a', managedFields: [{ manager: 'm' }], resourceVersion: '1' }
    for (const omitManagedFields of [true, false]) {
      const body = new TextEncoder().encode(event('ADDED', { ...pod('a'), metadata }))
      await using server = startScripted([{ status: 200, headers: {}, body }])
      const [first] = await collect(server.client.watch(Pod, { omitManagedFields }))
      assert.ok(first?.type === 'ADDED')
      assert.deepEqual(Object.keys(first.object.metadata), [
        'name',
        ...(omitManagedFields ? [] : ['managedFields']),
        'resourceVersion',
      ])
    }
  })

  it('yields events as they arrive, wherever the chunks are split', async () => {
    const whole =
      event('ADDED', pod('ä')) +
      event('MODIFIED', pod('b', '2')) +
      event('DELETED', pod('c', '3')) +
      event('BOOKMARK', { kind: 'Pod', metadata: { resourceVersion: '9' } })
    const bytes = new TextEncoder().encode(whole)
    for (const size of [1, 2, 7, 64, bytes.length]) {
      async function* body() {
        for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
      }
      await using server = startScripted([{ status: 200, headers: {}, body: body() }])
      const events = await collect(
        server.client.watch(Pod, { namespace: 'ns', resourceVersion: '5', timeoutSeconds: 60 }),
      )
      assert.deepEqual(
        events.map(each => [
          each.type,
          each.type === 'BOOKMARK' ? each.object.metadata.resourceVersion : each.object.metadata.name,
        ]),
        [
          ['ADDED', 'ä'],
          ['MODIFIED', 'b'],
          ['DELETED', 'c'],
          ['BOOKMARK', '9'],
        ],
      )
      assert.deepEqual(server.calls(), [
        'GET /api/v1/namespaces/ns/pods?watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=60',
      ])
    }
  })

  it('requests initial events with the matching resourceVersionMatch', async () => {
    await using server = startScripted([stream()])
    await collect(server.client.watch(Pod, { sendInitialEvents: true, allowWatchBookmarks: true }))
    assert.deepEqual(server.calls(), [
      'GET /api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true',
    ])
  })

  it('throws an ERROR event as its Status, after the events before it', async () => {
    const gone = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason: 'Expired',
      code: 410,
      message: 'too old',
    }
    await using server = startScripted([stream(event('ADDED', pod('a')), event('ERROR', gone))])
    const seen: WatchEvent[] = []
    await assert.rejects(async () => {
      for await (const each of server.client.watch(Pod)) seen.push(each)
    }, isExpired)
    assert.equal(seen.length, 1)
  })

  it('throws when an event is truncated, too long, or invalid', async () => {
    const cases: [string, (error: unknown) => boolean][] = [
      ['{"type":"ADDED","obj', error => isTransportError(error, 'ConnectionLost')],
      [`{"type":"ADDED","object":{"x":"${'y'.repeat(300)}"}}\n`, error => isClientError(error, 'BadAnswer')],
      [`{"type":"ADDED","object":{"x":"${'y'.repeat(300)}`, error => isClientError(error, 'BadAnswer')],
      ['not json\n', error => isClientError(error, 'BadAnswer')],
      ['{"type":"WHAT","object":{}}\n', error => isClientError(error, 'BadAnswer')],
      ['[]\n', error => isClientError(error, 'BadAnswer')],
    ]
    for (const [raw, expected] of cases) {
      await using server = startScripted([stream(raw)], { limits: { eventBytes: 200 } })
      await assert.rejects(collect(server.client.watch(Pod)), expected, raw.slice(0, 40))
    }
  })

  it('ends without an error when the signal aborts, and ends the request when the loop is left', async () => {
    let left = 0
    const endless = async (request: { signal: AbortSignal }) => {
      async function* body() {
        yield new TextEncoder().encode(event('ADDED', pod('a')))
        await aborted(request.signal)
        left++
      }
      return { status: 200, headers: {}, body: body() }
    }
    const server = startScripted([endless])
    const controller = new AbortController()
    for await (const _ of server.client.watch(Pod, { signal: controller.signal })) controller.abort()
    for await (const _ of server.client.watch(Pod)) break
    await server[Symbol.asyncDispose]()
    assert.equal(left, 2)
    assert.deepEqual(await collect(server.client.watch(Pod, { signal: controller.signal })), [])
  })

  it('reads a long line in time proportional to its length', async () => {
    const long = event('ADDED', { ...pod('a'), data: 'x'.repeat(8_000_000) })
    const bytes = new TextEncoder().encode(long)
    async function* body() {
      for (let i = 0; i < bytes.length; i += 1000) yield bytes.subarray(i, i + 1000)
    }
    await using server = startScripted([{ status: 200, headers: {}, body: body() }])
    const start = process.cpuUsage().user
    assert.equal((await collect(server.client.watch(Pod))).length, 1)
    assert.ok(process.cpuUsage().user - start < 3_000_000)
  })
})
