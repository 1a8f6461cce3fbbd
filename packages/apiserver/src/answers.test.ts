import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { builtinProtobuf } from '@coxswain/api'
import { readYaml, writeYaml } from '@coxswain/apimachinery/yaml'
import { decodeText, encodeText, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import { isStream, readBody } from '@coxswain/wire'
import type { Compression } from './request/compression.ts'
import { createApiServer } from './server.ts'

const peer = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const configMaps = '/api/v1/namespaces/default/configmaps'
const protobuf = 'application/vnd.kubernetes.protobuf'
/** Marks what it has compressed. */
const compression: Compression = {
  gzip: body => body,
  async *gunzip(body) {
    for await (const chunk of body) yield chunk[0] === 1 ? chunk.subarray(1) : chunk
  },
  async *pack(body) {
    yield Uint8Array.of(1)
    yield* body
  },
}

async function start() {
  const world = new VirtualWorld()
  const store = createMemoryStore({ env: world })
  const server = createApiServer({ env: world, store, platform: { compression } })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const ask = async (method: string, url: string, headers: Record<string, string> = {}, body?: unknown) => {
    const [path = '', query = ''] = url.split('?')
    const request = { method, path, query, headers, signal: group.signal, peer }
    const json = body === undefined ? {} : { body: encodeText(JSON.stringify(body)) }
    return world.run(server.handler({ ...request, ...json }))
  }
  const read = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await ask('GET', url, headers)
    const bytes = await world.run(readBody(answer.body))
    return { ...answer, isStreamed: isStream(answer.body), bytes, text: decodeText(bytes) }
  }
  const create = (url: string, object: object) =>
    ask('POST', url, { 'content-type': 'application/json' }, object)
  const fill = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const metadata = { name: `c-${String(i).padStart(3, '0')}`, annotations: { note: 'on: "yes"\n' } }
      await create(configMaps, { metadata, data: { k: 'v'.repeat(8_000), n: 'null' } })
    }
  }
  const define = (group: string) =>
    create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    })
  return {
    world,
    read,
    create,
    fill,
    define,
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}

describe('JSON responses', () => {
  it('end in a newline: objects, lists, Tables, discovery and errors', async () => {
    await using server = await start()
    await server.fill(1)
    const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    for (const [url, headers] of [
      [`${configMaps}/c-000`],
      [`${configMaps}/c-000`],
      [`${configMaps}/c-000`, table],
      [configMaps],
      [configMaps, table],
      ['/api/v1/nodes'],
      [`${configMaps}/missing`],
      ['/api'],
      ['/apis'],
      ['/apis/apps'],
      ['/apis/apps/v1'],
      ['/apis', { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }],
    ] as const) {
      const { text } = await server.read(url, headers)
      assert.match(text, /^\{.*\}\n$/, url)
    }
  })

  it('have one newline, even when the object was served before', async () => {
    await using server = await start()
    await server.fill(2)
    const alone = await server.read(`${configMaps}/c-000`)
    const { items } = JSON.parse((await server.read(configMaps)).text)
    const { kind: _kind, apiVersion: _apiVersion, ...object } = JSON.parse(alone.text)
    assert.deepEqual(items[0], object)
    assert.equal((await server.read(configMaps)).text.split('\n').length, 2)
  })

  it('are indented for people, without a trailing newline', async () => {
    await using server = await start()
    await server.fill(60)
    for (const [url, headers] of [
      [`${configMaps}/c-000?pretty=true`],
      [`${configMaps}/c-000?pretty=1`],
      [`${configMaps}/c-000`, { accept: 'application/json;pretty=1' }],
      [`${configMaps}/c-000?pretty=`, { 'user-agent': 'curl/8.5.0' }],
      [`${configMaps}/c-000`, { 'user-agent': 'Wget/1.21' }],
      [configMaps, { 'user-agent': 'Mozilla/5.0 (X11)', 'accept-encoding': 'gzip' }],
      [`${configMaps}/missing`, { 'user-agent': 'curl/8.5.0' }],
      ['/apis/apps/v1?pretty=true'],
      [
        '/apis?pretty=true',
        {
          accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
          'accept-encoding': 'gzip',
        },
      ],
      ['/version'],
      ['/'],
    ] as const) {
      const { text, headers: sent } = await server.read(url, headers)
      assert.equal(text, JSON.stringify(JSON.parse(text), null, 2), url)
      assert.equal(sent['content-length'] ?? String(text.length), String(text.length), url)
    }
    for (const [url, headers] of [
      [`${configMaps}/c-000?pretty=false`, { 'user-agent': 'curl/8.5.0' }],
      [`${configMaps}/c-000`, { 'user-agent': 'kubectl/v1.36.4' }],
      ['/openapi/v3', { 'user-agent': 'curl/8.5.0' }],
    ] as const) {
      assert.doesNotMatch((await server.read(url, headers)).text, /\n./, url)
    }
  })

  it('name the commit of the release in /version', async () => {
    await using server = await start()
    const version = JSON.parse((await server.read('/version')).text)
    assert.match(version.gitCommit, /^(?!0{40})[0-9a-f]{40}$/)
    assert.equal(version.gitVersion, 'v1.36.4')
    assert.equal(version.gitTreeState, 'clean')
  })
})

describe('large lists', () => {
  const partial = 'as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
  const table = 'as=Table;v=v1;g=meta.k8s.io'

  it('are streamed in every encoding and form, with the same content', async () => {
    await using server = await start()
    await server.fill(180)
    for (const [form, key] of [
      ['', 'items'],
      [`;${partial}`, 'items'],
      [`;${table}`, 'rows'],
    ] as const) {
      const query = key === 'rows' ? '?includeObject=Object' : ''
      const json = await server.read(configMaps + query, { accept: `application/json${form}` })
      const yaml = await server.read(configMaps + query, { accept: `application/yaml${form}` })
      const list = JSON.parse(json.text)
      assert.equal(list[key].length, 180)
      assert.equal(yaml.headers['content-type'], 'application/yaml')
      assert.ok(yaml.text === writeYaml(list, { sorted: true }), form)
      if (form !== `;${partial}`) assert.ok(json.isStreamed && yaml.isStreamed, form)
      if (key === 'rows') continue
      const binary = await server.read(configMaps, { accept: protobuf + form })
      assert.ok(Buffer.from(binary.bytes).equals(builtinProtobuf.encode(list)), form)
      assert.equal(String(binary.bytes.length), binary.headers['content-length'])
      assert.equal(binary.isStreamed, form === '', form)
    }
  })

  it('are sent in one chunk when they are small or empty', async () => {
    await using server = await start()
    for (const count of [0, 2]) {
      await server.fill(count)
      const { text } = await server.read(configMaps)
      const yaml = await server.read(configMaps, { accept: 'application/yaml' })
      assert.equal(yaml.text, writeYaml(JSON.parse(text), { sorted: true }))
      assert.equal(yaml.isStreamed, false)
      const binary = await server.read(configMaps, { accept: protobuf })
      assert.deepEqual(binary.bytes, builtinProtobuf.encode(JSON.parse(text)))
    }
  })

  it('have no Tables in protobuf', async () => {
    await using server = await start()
    const { status } = await server.read(configMaps, { accept: `${protobuf};${table}` })
    assert.equal(status, 406)
  })
})

describe('OpenAPI documents', () => {
  const apps = '/openapi/v3/apis/apps/v1'

  it('have the hash of their URL, and never change under it', async () => {
    await using server = await start()
    const { paths } = JSON.parse((await server.read('/openapi/v3')).text)
    for (const name of ['api/v1', 'apis', 'apis/apps/v1']) {
      const [path = '', hash = ''] = paths[name].serverRelativeURL.split('?hash=')
      const document = await server.read(`${path}?hash=${hash}`)
      assert.equal(document.status, 200)
      assert.equal(document.headers.etag, `"${hash}"`)
      assert.equal(document.headers['cache-control'], 'public, immutable')
      assert.equal(document.headers.expires, 'Wed, 01 Jan 2031 00:00:00 GMT')
      const plain = await server.read(path)
      assert.equal(plain.headers['cache-control'], 'public')
      assert.equal(plain.headers.etag, `"${hash}"`)
      assert.equal((await server.read(path, { 'if-none-match': `"${hash}"` })).status, 304)
      const moved = await server.read(`${path}?hash=OLD`)
      assert.equal(moved.status, 301)
      assert.equal(moved.headers.location, `${path}?hash=${hash}`)
    }
  })

  it('are served in protobuf under both media types, with the hash of the JSON', async () => {
    await using server = await start()
    const json = await server.read(apps)
    for (const separator of ['.', '@']) {
      const accept = `application/com.github.proto-openapi.spec.v3${separator}v1.0+protobuf, application/json;q=0.5`
      const { headers, bytes } = await server.read(apps, { accept })
      const type = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
      assert.equal(headers['content-type'], type)
      assert.equal(headers.etag, json.headers.etag)
      assert.deepEqual([...bytes.subarray(0, 7)], [0x0a, 5, ...encodeText('3.0.0')])
    }
    for (const url of [apps, '/openapi/v2']) {
      assert.equal((await server.read(url, { accept: 'application/yaml' })).status, 406)
    }
  })

  it('change only with the resources of their group', async () => {
    await using server = await start()
    const linksOf = async () => JSON.parse((await server.read('/openapi/v3')).text).paths
    await server.define('a.example.com')
    await server.world.settle()
    const before = await linksOf()
    await server.define('b.example.com')
    await server.world.settle()
    const after = await linksOf()
    assert.ok(before['apis/a.example.com/v1'])
    for (const [name, link] of Object.entries(before)) assert.deepEqual(after[name], link, name)
    assert.ok(after['apis/b.example.com/v1'])
  })

  it('are compressed for clients that accept gzip, and streamed for others', async () => {
    await using server = await start()
    const packed = await server.read('/openapi/v2', { 'accept-encoding': 'gzip' })
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.equal(packed.isStreamed, false)
    const plain = await server.read('/openapi/v2')
    assert.equal(plain.isStreamed, true)
    assert.equal(plain.headers['content-length'], String(plain.bytes.length))
    assert.equal(JSON.parse(plain.text).swagger, '2.0')
  })
})

describe('watches', () => {
  it('are not available in YAML', async () => {
    await using server = await start()
    await server.define('a.example.com')
    await server.world.settle()
    const types = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
    for (const url of [
      `${configMaps}?watch=1`,
      '/api/v1/watch/pods',
      '/apis/a.example.com/v1/things?watch=1',
    ]) {
      const { status, text } = await server.read(url, { accept: 'application/yaml' })
      assert.equal(status, 406)
      const { message } = readYaml(text)!.value as { message: string }
      assert.equal(message, `only the following media types are accepted: ${types}`)
    }
  })

  it('of the legacy path take the options of a list, unless they set watch', async () => {
    await using server = await start()
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1'
    const old = await server.read(`/api/v1/watch/pods?${query}`)
    assert.equal(old.status, 422)
    const { details } = JSON.parse(old.text)
    assert.deepEqual(details.causes.map((cause: { field: string }) => cause.field).sort(), [
      'resourceVersionMatch',
      'sendInitialEvents',
    ])
    assert.equal((await server.read(`/api/v1/watch/pods?watch=1&${query}`)).status, 200)
  })
})
