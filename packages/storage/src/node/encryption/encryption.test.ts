import assert from 'node:assert/strict'
import { createDecipheriv } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { createMemoryStore } from '../../memory.ts'
import type { Store } from '../../store.ts'
import { ProtoWriter, readFields } from '../etcd/protobuf.ts'
import { createEncryptedStore, readEncryption } from './index.ts'

const env = createRealEnv()
const secretOf = (fill: number, size = 32) => Buffer.alloc(size, fill).toString('base64')
const key = (name: string, fill: number) => ({ name, secret: secretOf(fill) })

const configure = (providers: object[], resources = ['secrets']) =>
  readEncryption(
    {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources, providers }],
    },
    env,
  )

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => value && Buffer.from(value).toString()
const put = (store: Store, at: string, value: string) =>
  store.transact({ operations: [{ type: 'put', key: at, value: bytes(value) }] })

const at = '/core/secrets/default/a'

describe('encryption at rest', () => {
  for (const name of ['aescbc', 'aesgcm', 'secretbox']) {
    it(`encrypts values with ${name} and decrypts them, in reads, ranges and watches`, async () => {
      await using inner = createMemoryStore({ env })
      const store = createEncryptedStore(inner, configure([{ [name]: { keys: [key('one', 1)] } }]))
      await put(store, at, 'hunter2')
      const raw = (await inner.get(at)).kv!.value
      assert.ok(text(raw)?.startsWith(`k8s:enc:${name}:v1:one:`))
      assert.ok(!Buffer.from(raw).includes('hunter2'))
      assert.equal(text((await store.get(at)).kv?.value), 'hunter2')
      assert.equal(text((await store.range('/core/')).items[0]?.value), 'hunter2')
      for await (const { changes } of store.watch('/', { from: 2, previous: true })) {
        assert.equal(changes[0]?.type === 'put' && text(changes[0].kv.value), 'hunter2')
        break
      }
      const outcome = await put(store, at, 'changed')
      assert.equal(outcome.committed && text(outcome.previous[0]?.value), 'hunter2')
    })
  }

  it('writes the format that other implementations read', async () => {
    await using inner = createMemoryStore({ env })
    const store = createEncryptedStore(inner, configure([{ aesgcm: { keys: [key('one', 1)] } }]))
    await put(store, at, 'hunter2')
    const raw = Buffer.from((await inner.get(at)).kv!.value).subarray('k8s:enc:aesgcm:v1:one:'.length)
    const decipher = createDecipheriv('aes-256-gcm', Buffer.alloc(32, 1), raw.subarray(0, 12))
    decipher.setAAD(Buffer.from(at))
    decipher.setAuthTag(raw.subarray(-16))
    assert.equal(
      Buffer.concat([decipher.update(raw.subarray(12, -16)), decipher.final()]).toString(),
      'hunter2',
    )
  })

  it('leaves other resources alone, and reads values from before', async () => {
    await using inner = createMemoryStore({ env })
    await put(inner, at, 'old')
    const store = createEncryptedStore(
      inner,
      configure([{ aesgcm: { keys: [key('one', 1)] } }, { identity: {} }]),
    )
    assert.equal(text((await store.get(at)).kv?.value), 'old')
    assert.equal(await store.isStale!(at), true)
    await put(store, at, 'old')
    assert.equal(await store.isStale!(at), false)
    const other = '/core/configmaps/default/a'
    await put(store, other, 'plain')
    assert.equal(text((await inner.get(other)).kv?.value), 'plain')
  })

  it('rotates keys: the new one writes, the old one still reads until it is removed', async () => {
    await using inner = createMemoryStore({ env })
    const store = createEncryptedStore(inner, configure([{ secretbox: { keys: [key('one', 1)] } }]))
    await put(store, at, 'x')
    store.configure(configure([{ secretbox: { keys: [key('two', 2), key('one', 1)] } }]))
    assert.equal(text((await store.get(at)).kv?.value), 'x')
    assert.equal(await store.isStale!(at), true)
    await put(store, at, 'x')
    assert.ok(text((await inner.get(at)).kv?.value)?.startsWith('k8s:enc:secretbox:v1:two:'))
    store.configure(configure([{ secretbox: { keys: [key('three', 3)] } }]))
    await assert.rejects(store.get(at), {
      code: 'Corrupt',
      message: `no provider of the configuration can read ${at}`,
    })
  })

  it('detects a value that was changed or moved', async () => {
    await using inner = createMemoryStore({ env })
    const store = createEncryptedStore(inner, configure([{ aesgcm: { keys: [key('one', 1)] } }]))
    await put(store, at, 'x')
    const raw = (await inner.get(at)).kv!.value
    const moved = '/core/secrets/default/b'
    await inner.transact({ operations: [{ type: 'put', key: moved, value: raw }] })
    await assert.rejects(store.get(moved), { code: 'Corrupt' })
  })

  it('matches groups by their names and by wildcards', async () => {
    const cases: [string, string, boolean][] = [
      ['deployments.apps', '/apps/deployments/default/a', true],
      ['deployments.apps', '/core/deployments/default/a', false],
      ['*.apps', '/apps/daemonsets/default/a', true],
      ['*.', '/core/pods/default/a', true],
      ['*.', '/apps/deployments/default/a', false],
      ['*.*', '/example.com/things/a', true],
    ]
    for (const [resource, where, isHidden] of cases) {
      await using inner = createMemoryStore({ env })
      const store = createEncryptedStore(
        inner,
        configure([{ aesgcm: { keys: [key('one', 1)] } }], [resource]),
      )
      await put(store, where, 'x')
      assert.equal(text((await inner.get(where)).kv?.value) !== 'x', isHidden, `${resource} ${where}`)
    }
  })

  it('reports what is wrong with a configuration, and never a key', () => {
    assert.throws(() => configure([{ aescbc: { keys: [{ name: 'a', secret: secretOf(7, 5) }] } }]), {
      message: 'resources[0].providers[0].aescbc.keys[0].secret: 5 bytes; a key of aescbc has 16, 24, 32',
    })
    assert.throws(() => configure([{ rot13: {} }]), { message: /unknown provider rot13/ })
    assert.throws(() => configure([{ kms: { name: 'a', endpoint: 'unix:///x' } }]), {
      message: /must be v2/,
    })
  })
})

/** A plug-in that XORs with the number of its key. */
async function startPlugin() {
  const endpoint = `unix://${join(mkdtempSync(join(tmpdir(), 'kms-')), 'kms.sock')}`
  const plugin = { keyId: '7', calls: [] as string[], endpoint, stop: () => server.forceShutdown() }
  const server = new Server()
  const same = (value: Uint8Array) => Buffer.from(value)
  const mix = (value: Uint8Array, id: string) => value.map(byte => byte ^ Number(id))
  const field = (message: Uint8Array, wanted: number) =>
    [...readFields(message)].find(found => found.field === wanted)?.bytes ?? new Uint8Array()
  const method = (name: string, answer: (request: Buffer) => Uint8Array) => ({
    path: `/v2.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
    handle: answer,
  })
  const answers: Record<string, (request: Buffer) => Uint8Array> = {
    Status: () => new ProtoWriter().text(1, 'v2').text(2, 'ok').text(3, plugin.keyId).finish(),
    Encrypt: request =>
      new ProtoWriter()
        .bytes(1, mix(field(request, 1), plugin.keyId))
        .text(2, plugin.keyId)
        .finish(),
    Decrypt: request =>
      new ProtoWriter().bytes(1, mix(field(request, 1), Buffer.from(field(request, 3)).toString())).finish(),
  }
  const definition = Object.fromEntries(
    Object.keys(answers).map(name => [name, method(name, answers[name]!)]),
  )
  const handlers = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      (call: { request: Buffer }, done: (error: null, value: Uint8Array) => void) => {
        plugin.calls.push(name)
        done(null, answer(call.request))
      },
    ]),
  )
  server.addService(definition as never, handlers as never)
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(endpoint.replace('unix:///', 'unix:/'), ServerCredentials.createInsecure(), error =>
      error ? reject(error) : resolve(),
    )
  })
  return plugin
}

describe('a KMS plug-in', () => {
  it('encrypts one seed for many values, and is called again only for unknown ones', async () => {
    const plugin = await startPlugin()
    try {
      const kms = { kms: { apiVersion: 'v2', name: 'test', endpoint: plugin.endpoint } }
      await using inner = createMemoryStore({ env })
      const store = createEncryptedStore(inner, configure([kms]))
      for (const name of ['a', 'b', 'c']) await put(store, `/core/secrets/default/${name}`, name)
      assert.deepEqual(plugin.calls, ['Status', 'Encrypt'])
      assert.ok(text((await inner.get(at)).kv?.value)?.startsWith('k8s:enc:kms:v2:test:'))
      const fresh = createEncryptedStore(inner, configure([kms]))
      assert.deepEqual(
        (await fresh.range('/core/')).items.map(({ value }) => text(value)),
        ['a', 'b', 'c'],
      )
      assert.deepEqual(plugin.calls, ['Status', 'Encrypt', 'Decrypt'])
      plugin.keyId = '9'
      const rotated = createEncryptedStore(inner, configure([kms]))
      await put(rotated, '/core/secrets/default/d', 'd')
      assert.equal(await rotated.isStale!(at), true)
      assert.equal(await rotated.isStale!('/core/secrets/default/d'), false)
    } finally {
      plugin.stop()
    }
  })

  it('that is unavailable fails the write, with its name', async () => {
    await using inner = createMemoryStore({ env })
    const kms = {
      kms: { apiVersion: 'v2', name: 'away', endpoint: 'unix:///nowhere/kms.sock', timeout: '1s' },
    }
    const store = createEncryptedStore(inner, configure([kms]))
    await assert.rejects(put(store, at, 'x'), /the KMS plug-in away failed to Status/)
    assert.equal((await inner.get(at)).kv, undefined)
  })
})
