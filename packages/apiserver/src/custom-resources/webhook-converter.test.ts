import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Outbound } from '../outbound/outbound.ts'
import { type Answered, crds, startCrdServer, thingCrd } from './test-support/crd-server.ts'

interface Review {
  readonly uid: string
  readonly desiredAPIVersion: string
  readonly objects: readonly Answered[]
}

type Hook = (review: Review) => Answered

/** The usual response: v1 has `host` and `port`, v2 `address`. */
function convert(object: Answered, apiVersion: string): Answered {
  if (object.apiVersion === apiVersion) return object
  if (apiVersion.endsWith('/v2')) {
    const { host, port, ...spec } = object.spec
    return { ...object, apiVersion, spec: { ...spec, address: `${host}:${port}` } }
  }
  const { address, ...spec } = object.spec
  const [host, port] = address.split(':')
  return { ...object, apiVersion, spec: { ...spec, host, port: Number(port) } }
}

const good: Hook = ({ uid, desiredAPIVersion, objects }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  response: {
    uid,
    result: { status: 'Success' },
    convertedObjects: objects.map(object => convert(object, desiredAPIVersion)),
  },
})

const spec = (properties: object) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
})

const text = { type: 'string' }
const crd = thingCrd(spec({}), {
  spec: {
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: spec({ host: text, port: { type: 'integer' } }) },
      },
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: spec({ address: text, size: { type: 'string', default: 'small' } }) },
        selectableFields: [{ jsonPath: '.spec.address' }],
        additionalPrinterColumns: [{ name: 'Address', type: 'string', jsonPath: '.spec.address' }],
      },
    ],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { url: 'https://hooks.example.com/convert' },
        conversionReviewVersions: ['v1'],
      },
    },
  },
})

const v1 = '/apis/example.com/v1/things'
const v2 = '/apis/example.com/v2/things'

const thing = (name: string, host = 'a', more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, ...more },
  spec: { host, port: 80 },
})

/** A server whose conversion webhook is `hook.answer`; it counts its calls. */
async function start() {
  const reviews: Review[] = []
  const hook: { answer: Hook; paths: string[] } = { answer: good, paths: [] }
  const outbound: Outbound = {
    connect: () => ({
      async send({ path, query, body }) {
        hook.paths.push(`${path}?${query}`)
        const { request } = JSON.parse(new TextDecoder().decode(body as Uint8Array))
        reviews.push(request)
        const answer = new TextEncoder().encode(JSON.stringify(hook.answer(request)))
        return { status: 200, headers: { 'content-type': 'application/json' }, body: answer }
      },
      async [Symbol.asyncDispose]() {},
    }),
  }
  const server = await startCrdServer({ outbound })
  assert.equal((await server.send('POST', crds, crd)).status, 201)
  return { server, reviews, hook, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

describe('conversion webhooks', () => {
  it('convert what is read in another version, and are not called for the stored one', async () => {
    await using test = await start()
    await test.server.send('POST', v1, thing('one'))
    await test.server.send('GET', `${v1}/one`)
    assert.equal(test.reviews.length, 0)
    const { body } = await test.server.send('GET', `${v2}/one`)
    assert.deepEqual([body.apiVersion, body.spec], ['example.com/v2', { address: 'a:80', size: 'small' }])
    assert.equal(
      body.metadata.resourceVersion,
      (await test.server.send('GET', `${v1}/one`)).body.metadata.resourceVersion,
    )
    assert.equal(test.reviews[0]?.desiredAPIVersion, 'example.com/v2')
    assert.equal(test.reviews[0]?.objects[0].metadata.resourceVersion, undefined)
    assert.deepEqual(test.hook.paths, ['/convert?timeout=30s'])
  })

  it('convert what is written in another version, both ways', async () => {
    await using test = await start()
    const made = await test.server.send('POST', v2, {
      apiVersion: 'example.com/v2',
      kind: 'Thing',
      metadata: { name: 'one', labels: { a: 'b' } },
      spec: { address: 'b:81' },
    })
    assert.deepEqual([made.status, made.body.spec.address], [201, 'b:81'])
    const { body } = await test.server.send('GET', `${v1}/one`)
    assert.deepEqual([body.spec, body.metadata.labels], [{ host: 'b', port: 81 }, { a: 'b' }])
    const patched = await test.server.send(
      'PATCH',
      `${v2}/one`,
      { spec: { address: 'c:82' } },
      'application/merge-patch+json',
    )
    assert.equal(patched.body.spec.address, 'c:82')
    assert.equal((await test.server.send('GET', `${v1}/one`)).body.spec.host, 'c')
    assert.equal((await test.server.send('DELETE', `${v2}/one`)).status, 200)
  })

  it('are called once for a whole list, and not again for objects they have converted', async () => {
    await using test = await start()
    for (const name of ['one', 'two', 'three']) await test.server.send('POST', v1, thing(name, name))
    const { body } = await test.server.send('GET', v2)
    assert.deepEqual(
      body.items.map((item: Answered) => item.spec.address),
      ['one:80', 'three:80', 'two:80'],
    )
    assert.equal(test.reviews.length, 1)
    await test.server.send('GET', v2)
    assert.equal(test.reviews.length, 1)
    const selected = await test.server.send('GET', `${v2}?fieldSelector=spec.address%3Dtwo:80`)
    assert.deepEqual(
      selected.body.items.map((item: Answered) => item.metadata.name),
      ['two'],
    )
  })

  it('convert the events of a watch, in order', async () => {
    await using test = await start()
    await test.server.send('POST', v1, thing('one', 'x'))
    const events = await test.server.watch(`${v2}?watch=true&resourceVersion=0`)
    await test.server.send('POST', v1, thing('two', 'y'))
    await test.server.send('DELETE', `${v1}/one`)
    const seen: string[] = []
    for (let i = 0; i < 3; i++) {
      const { value } = await events.next()
      seen.push(`${value.type} ${value.object.apiVersion} ${value.object.spec.address}`)
    }
    assert.deepEqual(seen, [
      'ADDED example.com/v2 x:80',
      'ADDED example.com/v2 y:80',
      'DELETED example.com/v2 x:80',
    ])
    await events.return?.()
  })

  it('that fail end a watch with an error event, and nothing else', async () => {
    await using test = await start()
    const events = await test.server.watch(`${v2}?watch=true&resourceVersion=0`)
    test.hook.answer = review => ({
      ...good(review),
      response: { uid: review.uid, result: { status: 'Failure', message: 'no idea' } },
    })
    await test.server.send('POST', v1, thing('one'))
    const { value } = await events.next()
    assert.equal(value.type, 'ERROR')
    assert.match(value.object.message, /failed: no idea$/)
    assert.equal((await events.next()).done, true)
    assert.equal((await test.server.send('GET', `${v1}/one`)).status, 200)
  })

  const who = 'conversion webhook for example.com/v1, Kind=Thing'
  const failures: readonly (readonly [string, (review: Review) => Answered, string | RegExp])[] = [
    [
      'another uid',
      review => ({ ...good(review), response: { ...good(review).response, uid: 'x' } }),
      /^.* failed: expected response.uid=".*", got "x"$/,
    ],
    [
      'a failure',
      ({ uid }) => ({
        ...good({ uid, desiredAPIVersion: '', objects: [] }),
        response: { uid, result: { status: 'Failure' } },
      }),
      `${who} failed: response.result.status was 'Failure', not 'Success'`,
    ],
    [
      'a failure with words',
      ({ uid }) => ({
        ...good({ uid, desiredAPIVersion: '', objects: [] }),
        response: { uid, result: { status: 'Failure', message: 'broken' } },
      }),
      `${who} failed: broken`,
    ],
    [
      'no response',
      () => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }),
      `${who} failed: no response provided`,
    ],
    [
      'another kind',
      review => ({ ...good(review), kind: 'Pod' }),
      `${who} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1, Kind=Pod`,
    ],
    ['too few objects', review => change(review, () => []), `${who} returned 0 objects, expected 1`],
    [
      'the old version',
      review => change(review, ([object]) => [{ ...object, apiVersion: 'example.com/v1' }]),
      `${who} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
    ],
    [
      'another name',
      review => change(review, ([object]) => [{ ...object, metadata: { ...object.metadata, name: 'x' } }]),
      `${who} returned invalid object: must have the same name: one != x`,
    ],
    [
      'another uid of the object',
      review => change(review, ([object]) => [{ ...object, metadata: { ...object.metadata, uid: 'x' } }]),
      /returned invalid object: must have the same UID: .* != x$/,
    ],
    [
      'no metadata',
      review => change(review, ([{ metadata: _, ...object }]) => [object]),
      `${who} returned invalid object: must have the same name: one != `,
    ],
    [
      'labels that are no text',
      review =>
        change(review, ([object]) => [{ ...object, metadata: { ...object.metadata, labels: { a: 1 } } }]),
      `${who} returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`,
    ],
  ]
  for (const [name, answer, message] of failures) {
    it(`that answer with ${name} fail the request with a 500`, async () => {
      await using test = await start()
      await test.server.send('POST', v1, thing('one'))
      test.hook.answer = answer
      const { status, body } = await test.server.send('GET', `${v2}/one`)
      assert.equal(status, 500)
      assert.equal(body.reason, undefined)
      if (typeof message === 'string') assert.equal(body.message, message)
      else assert.match(body.message, message)
      assert.equal((await test.server.send('GET', `${v1}/one`)).status, 200)
      test.hook.answer = good
      assert.equal((await test.server.send('GET', `${v2}/one`)).status, 200)
    })
  }

  it('that cannot be reached fail the request with a 500 that says why', async () => {
    await using server = await startCrdServer()
    await server.send('POST', crds, crd)
    await server.send('POST', v1, thing('one'))
    const { status, body } = await server.send('GET', `${v2}/one`)
    assert.equal(status, 500)
    assert.match(
      body.message,
      /^conversion webhook for example.com\/v1, Kind=Thing failed: Post "https:\/\/hooks.example.com\/convert\?timeout=30s": /,
    )
    assert.equal((await server.send('GET', v1)).status, 200)
  })

  it('change labels and annotations, and nothing else of the metadata', async () => {
    await using test = await start()
    await test.server.send(
      'POST',
      v1,
      thing('one', 'a', { labels: { a: 'b' }, finalizers: ['example.com/x'] }),
    )
    test.hook.answer = review =>
      change(review, ([object]) => [
        {
          ...object,
          metadata: {
            ...object.metadata,
            labels: { c: 'd' },
            annotations: { e: 'f' },
            finalizers: [],
            generation: 7,
          },
        },
      ])
    const { metadata } = (await test.server.send('GET', `${v2}/one`)).body
    assert.deepEqual(
      [metadata.labels, metadata.annotations, metadata.finalizers, metadata.generation],
      [{ c: 'd' }, { e: 'f' }, ['example.com/x'], 1],
    )
  })
})

/** The valid response with other objects. */
function change(review: Review, objects: (given: readonly Answered[]) => readonly unknown[]): Answered {
  const answer = good(review)
  return {
    ...answer,
    response: { ...answer.response, convertedObjects: objects(answer.response.convertedObjects) },
  }
}

describe('versions without a webhook', () => {
  const plain = structuredClone(crd)
  plain.spec.conversion = { strategy: 'None' }
  for (const version of plain.spec.versions) version.schema = { openAPIV3Schema: spec({ a: text }) }

  it('show old objects in the new storage version after it has changed', async () => {
    await using server = await startCrdServer()
    delete plain.spec.versions[1].selectableFields
    await server.send('POST', crds, plain)
    await server.send('POST', v1, { ...thing('one'), spec: { a: 'x' } })
    const { body: current } = await server.send('GET', `${crds}/things.example.com`)
    const [first, second] = current.spec.versions
    first.storage = false
    second.storage = true
    const { body: changed } = await server.send('PUT', `${crds}/things.example.com`, current)
    assert.deepEqual(changed.status.storedVersions, ['v1', 'v2'])
    const events = await server.watch(`${v2}?watch=true&resourceVersion=0`)
    assert.equal((await events.next()).value.object.apiVersion, 'example.com/v2')
    await events.return?.()
    for (const [path, apiVersion] of [
      [v1, 'example.com/v1'],
      [v2, 'example.com/v2'],
    ] as const) {
      assert.equal((await server.send('GET', `${path}/one`)).body.apiVersion, apiVersion)
      assert.equal((await server.send('GET', path)).body.items[0].apiVersion, apiVersion)
    }
    const put = await server.send('PATCH', `${v1}/one`, { spec: { a: 'y' } }, 'application/merge-patch+json')
    assert.deepEqual([put.body.apiVersion, put.body.spec.a], ['example.com/v1', 'y'])
  })
})
