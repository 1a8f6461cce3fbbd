import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import { type Handler, isTransportError } from '@coxswain/wire'
import { createHttpTransport } from '@coxswain/wire/node'
import { CertificateRotation } from '../webhook/certificates.ts'
import { createCertificateMaker, createWebhookListener } from './index.ts'

const env = createRealEnv()
const handler: Handler = async () => ({ status: 200, headers: {}, body: new TextEncoder().encode('review') })

/** Whether a client that trusts `ca` gets an answer. */
async function asks(url: string, ca: string, serverName?: string): Promise<boolean> {
  await using transport = createHttpTransport({ server: url, tls: { ca, ...(serverName && { serverName }) } })
  const request = {
    method: 'POST',
    path: '/convert',
    query: '',
    headers: {},
    signal: new AbortController().signal,
  }
  try {
    const { status } = await transport.send(request)
    return status === 200
  } catch (error) {
    if (!isTransportError(error)) throw error
    return false
  }
}

function createRotation(hosts: readonly string[], clock = env.clock) {
  const maker = createCertificateMaker(env.random)
  return new CertificateRotation({ maker, clock, log: env.log, hosts, name: 'hooks' })
}

describe('webhooks over sockets', () => {
  it('are served with a certificate that only clients with the bundle trust', async () => {
    const stop = new AbortController()
    const listener = createWebhookListener({ ...env, port: 0 })
    const { server, caBundle } = await createRotation(listener.hosts).ensure()
    const address = await listener.listen(handler, stop.signal, server)
    assert.ok('url' in address)
    assert.equal(await asks(address.url, caBundle), true)
    const unrelated = await createRotation(['other']).ensure()
    assert.equal(await asks(address.url, unrelated.caBundle), false)

    listener.setKeyPair?.({ ...(await createRotation(listener.hosts).ensure()).server })
    assert.equal(await asks(address.url, caBundle), false, 'the new certificate is of another CA')
    stop.abort()
  })

  it('find out whether another process still serves, by its certificate', async () => {
    const stop = new AbortController()
    const listener = createWebhookListener({ ...env, port: 0 })
    const { server, caBundle } = await createRotation(listener.hosts).ensure()
    const address = await listener.listen(handler, stop.signal, server)
    assert.ok('url' in address)
    const other = createWebhookListener({ ...env, port: 0 })
    const answers = (ca: string) =>
      other.answers!({ url: address.url, caBundle: btoa(ca) }, new AbortController().signal)
    assert.equal(await answers(caBundle), true)
    assert.equal(await answers((await createRotation(['other']).ensure()).caBundle), false)
    stop.abort()
    while (await answers(caBundle));
  })

  it('are served for the names of a Service', async () => {
    const stop = new AbortController()
    const service = { namespace: 'ns', name: 'hooks' }
    const listener = createWebhookListener({ ...env, port: 0, host: '127.0.0.1', service })
    assert.deepEqual(listener.hosts, ['hooks.ns.svc', 'hooks.ns.svc.cluster.local'])
    const { server } = await createRotation(listener.hosts).ensure()
    assert.deepEqual(await listener.listen(handler, stop.signal, server), { service })
    stop.abort()
  })

  it('load certificates that others put into a directory', async () => {
    // A clock whose sleeps end at once.
    const looks: (() => void)[] = []
    const clock = { ...env.clock, sleep: () => new Promise<void>(resolve => looks.push(resolve)) }
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-hooks-'))
    const stop = new AbortController()
    try {
      const put = async () => {
        const { server, caBundle } = await createRotation(['127.0.0.1']).ensure()
        await writeFile(join(folder, 'tls.crt'), server.certificate)
        await writeFile(join(folder, 'tls.key'), server.key)
        return caBundle
      }
      const first = await put()
      const listener = createWebhookListener({ port: 0, certificate: { path: folder }, clock, log: env.log })
      const address = await listener.listen(handler, stop.signal)
      assert.ok('url' in address)
      assert.equal(await asks(address.url, first), true)
      const second = await put()
      looks.shift()?.()
      while (looks.length === 0) await new Promise(resolve => setImmediate(resolve)) // it has checked
      assert.equal(await asks(address.url, second), true)
      assert.equal(await asks(address.url, first), false)
    } finally {
      stop.abort()
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('certificates of the machine', () => {
  const maker = createCertificateMaker(env.random)
  const validity = { notBefore: 1_700_000_000_000, notAfter: 1_800_000_000_000 }
  const ca = maker.createCa('hooks', validity)

  it('can be read: their hosts and issuer', () => {
    const server = maker.createServer(['a.b.svc', '127.0.0.1'], validity, ca)
    assert.deepEqual(maker.read(server), { ...validity, hosts: ['a.b.svc', '127.0.0.1'] })
    assert.equal(maker.isSignedBy(server.certificate, ca.certificate), true)
    assert.equal(maker.isSignedBy(server.certificate, maker.createCa('hooks', validity).certificate), false)
  })

  it('are rejected with a key that does not match, and when they are garbage', () => {
    const other = maker.createCa('hooks', validity)
    assert.equal(maker.read({ certificate: ca.certificate, key: other.key }), undefined)
    assert.equal(maker.read({ certificate: 'garbage', key: 'garbage' }), undefined)
    assert.equal(maker.isSignedBy('garbage', ca.certificate), false)
  })
})
