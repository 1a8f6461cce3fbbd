import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isStoreError, type Store, type StoreErrorCode, type WatchBatch } from '@coxswain/storage'
import { createEtcdStore } from '@coxswain/storage/etcd'
import { EtcdCluster } from './etcd-cluster.ts'

const timeout = 60_000
const hasCode = (code: StoreErrorCode) => (error: unknown) => isStoreError(error, code)
const put = (store: Store, key: string, text: string) =>
  store.transact({ operations: [{ type: 'put', key, value: new TextEncoder().encode(text) }] })

async function take(watch: AsyncIterator<WatchBatch>, count: number): Promise<number[]> {
  const revisions: number[] = []
  while (revisions.length < count) {
    const { value } = await watch.next()
    for (const change of (value as WatchBatch).changes) {
      revisions.push(change.type === 'put' ? change.kv.modRevision : change.revision)
    }
  }
  return revisions
}

describe('an etcd store', () => {
  it('goes on with another member when one is down', { timeout }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6', size: 3 })
    await using store = createEtcdStore({ endpoints: cluster.endpoints })
    await put(store, '/a', '1')
    await cluster.kill(0)
    assert.equal((await store.get('/a')).kv?.version, 1)
    for (let tries = 0; ; tries++) {
      try {
        await put(store, '/a', '2')
        break
      } catch (error) {
        assert.ok(tries < 5 && hasCode('UnknownOutcome')(error), String(error))
      }
    }
  })

  it('reports the result of an unanswered write as unknown, and does not retry it', {
    timeout,
  }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6' })
    await using store = createEtcdStore({ endpoints: cluster.endpoints, requestTimeout: 1500 })
    await put(store, '/a', '1')
    cluster.pause(0)
    await assert.rejects(put(store, '/a', '2'), hasCode('UnknownOutcome'))
    await assert.rejects(store.get('/a'), hasCode('Unavailable'))
    cluster.resume(0)
    await cluster.ready()
    const { kv } = await store.get('/a')
    assert.ok(kv && kv.version <= 2, `version ${kv?.version}`)
  })

  it('reports while idle that its server is down, and that it is back', { timeout }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6' })
    await using store = createEtcdStore({ endpoints: cluster.endpoints })
    const { revision } = await put(store, '/a', '0')
    const watch = store.watch('/', { from: revision })[Symbol.asyncIterator]()
    await take(watch, 1)
    const next = watch.next()
    assert.equal(store.writeFailure?.(), undefined)
    const becomes = async (isFailing: boolean) => {
      while ((store.writeFailure?.() !== undefined) !== isFailing) await sleep(50)
    }
    await cluster.kill(0)
    await becomes(true)
    assert.equal(store.writeFailure?.()?.code, 'Unavailable')
    cluster.launch(0)
    await becomes(false)
    await put(store, '/a', '1')
    await next
    await watch.return?.()
  })

  it('reports a write as failed, and repeats it elsewhere, only when it never left', {
    timeout,
  }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6' })
    const endpoints = ['http://127.0.0.1:1', ...cluster.endpoints]
    await using store = createEtcdStore({ endpoints, requestTimeout: 5000 })
    assert.equal((await put(store, '/a', '1')).committed, true)
    assert.equal((await store.get('/a')).kv?.version, 1)
    await using nowhere = createEtcdStore({ endpoints: ['http://127.0.0.1:1'], requestTimeout: 500 })
    await assert.rejects(put(nowhere, '/a', '1'), hasCode('Unavailable'))
  })

  it('resumes its watches, without gap or duplicate, when the server was restarted', {
    timeout,
  }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6' })
    await using store = createEtcdStore({ endpoints: cluster.endpoints })
    const { revision: from } = await put(store, '/a', '0')
    const watch = store.watch('/', { from })[Symbol.asyncIterator]()
    assert.deepEqual(await take(watch, 1), [from])
    const next = take(watch, 4)
    await put(store, '/a', '1')
    await cluster.kill(0)
    cluster.launch(0)
    await cluster.ready()
    // `ready` writes too, outside the prefix.
    const writes = [await put(store, '/a', '2'), await put(store, '/a', '3'), await put(store, '/a', '4')]
    assert.deepEqual(await next, [from + 1, ...writes.map(({ revision }) => revision)])
    await watch.return?.()
  })

  it('tells a watch whose history was compacted while it was away', { timeout }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6', size: 3 })
    await using store = createEtcdStore({ endpoints: cluster.endpoints.slice(0, 1), requestTimeout: 2000 })
    await using other = createEtcdStore({ endpoints: cluster.endpoints.slice(1) })
    const { revision: from } = await put(store, '/a', '0')
    const watch = store.watch('/', { from })[Symbol.asyncIterator]()
    await take(watch, 1)
    const next = watch.next()
    next.catch(() => {})
    await cluster.kill(0)
    for (let i = 0; i < 20; i++) await put(other, '/a', String(i)).catch(() => {})
    await other.compact((await other.status()).revision)
    cluster.launch(0)
    await assert.rejects(next, hasCode('Compacted'))
  })

  it('reads a range larger than a message in pages of one revision', { timeout }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6' })
    await using store = createEtcdStore({ endpoints: cluster.endpoints })
    const value = new Uint8Array(20_000)
    for (let i = 0; i < 2000; i += 40) {
      const operations = Array.from({ length: 40 }, (_, j) => ({
        type: 'put' as const,
        key: `/k${i + j}`,
        value,
      }))
      await store.transact({ operations })
    }
    let writing = true
    const writer = (async () => {
      for (let i = 0; writing; i++) await put(store, `/k${i % 2000}`, 'changed')
    })()
    const { items, revision } = await store.range('/k')
    writing = false
    await writer
    assert.equal(items.length, 2000)
    for (const kv of items)
      assert.ok(kv.modRevision <= revision, `${kv.key} is of ${kv.modRevision}, the range of ${revision}`)
    const changed = items.filter(kv => kv.value.length < 100).length
    const before = (await store.range('/k', { revision })).items.filter(kv => kv.value.length < 100).length
    assert.equal(changed, before)
  })

  it('refuses a value that the server finds too large', { timeout }, async () => {
    await using cluster = await EtcdCluster.start({ version: 'etcd-3.6' })
    await using store = createEtcdStore({ endpoints: cluster.endpoints })
    const value = new Uint8Array(3_000_000)
    await assert.rejects(
      store.transact({ operations: [{ type: 'put', key: '/a', value }] }),
      hasCode('TooLarge'),
    )
  })

  it('uses TLS and a client certificate, and is refused without one', { timeout }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-tls-'))
    try {
      const path = (name: string) => join(folder, name)
      makeCertificates(folder)
      const server = ['--cert-file', path('server.pem'), '--key-file', path('server.key')]
      const args = [...server, '--client-cert-auth', '--trusted-ca-file', path('ca.pem')]
      await using cluster = await EtcdCluster.start({ version: 'etcd-3.6', clientScheme: 'https', args })
      const { endpoints } = cluster
      const ca = readFileSync(path('ca.pem'))
      const tls = { ca, cert: readFileSync(path('client.pem')), key: readFileSync(path('client.key')) }
      await using store = createEtcdStore({ endpoints, tls, requestTimeout: 20_000 })
      for (let tries = 0; ; tries++) {
        try {
          assert.equal((await put(store, '/a', '1')).committed, true)
          break
        } catch (error) {
          if (tries === 20) throw error
          await sleep(200)
        }
      }
      await using anonymous = createEtcdStore({ endpoints, tls: { ca }, requestTimeout: 2000 })
      await assert.rejects(anonymous.get('/a'), hasCode('Unavailable'))
      await using suspicious = createEtcdStore({ endpoints, requestTimeout: 2000 })
      await assert.rejects(suspicious.get('/a'), hasCode('Unavailable'))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

function makeCertificates(folder: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=ca',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  )
  for (const name of ['server', 'client']) {
    openssl(
      'req',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
    )
    writeFileSync(
      join(folder, 'extensions'),
      'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n',
    )
    const ca = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'extensions']
    openssl('x509', '-req', '-in', `${name}.csr`, ...ca, '-days', '2', '-out', `${name}.pem`)
  }
}
