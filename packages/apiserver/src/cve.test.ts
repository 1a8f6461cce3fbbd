import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import type { WireRequest } from '@coxswain/wire'
import { type ApiServer, createApiServer } from './server.ts'

/** Vulnerabilities of other API servers, as tests; those of one folder are in that folder. */
describe('known vulnerabilities', () => {
  const env = createRealEnv()
  const store = createMemoryStore({ env })
  const controller = new AbortController()
  let server: ApiServer
  let running: Promise<void>

  before(async () => {
    server = createApiServer({ env, store })
    running = server.run(controller.signal)
    await server.ready
  })
  after(async () => {
    controller.abort()
    await running
    await store.close()
  })

  async function send(method: string, path: string, body?: string, type = 'application/json') {
    const request: WireRequest = {
      method,
      path,
      query: '',
      headers: { 'content-type': type },
      ...(body !== undefined && { body: new TextEncoder().encode(body) }),
      peer: { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER },
      signal: new AbortController().signal,
    }
    const started = process.cpuUsage().user
    const response = await server.handler(request)
    const text = Buffer.from(response.body as Uint8Array).toString()
    return { status: response.status, text, cpuMs: (process.cpuUsage().user - started) / 1_000 }
  }
  const namespace = '/api/v1/namespaces/default'
  const create = (path: string, object: object) => send('POST', path, JSON.stringify(object))

  it('CVE-2019-1002100: a JSON patch of very many or ever larger operations is rejected, and fast', async () => {
    await create(`${namespace}/configmaps`, { metadata: { name: 'patched' }, data: { a: 'x'.repeat(1_000) } })
    const patch = (operations: object[]) =>
      send(
        'PATCH',
        `${namespace}/configmaps/patched`,
        JSON.stringify(operations),
        'application/json-patch+json',
      )
    const many = await patch(
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' })),
    )
    assert.equal(many.status, 413)
    const growing = Array.from({ length: 9_000 }, (_, index) => ({
      op: 'copy',
      from: index === 0 ? '/data' : `/metadata/x${index - 1}`,
      path: `/metadata/x${index}`,
    }))
    const large = await patch(growing)
    assert.ok(large.status === 413 || large.status === 422, String(large.status))
    assert.ok(large.cpuMs < 2_000, `${large.cpuMs} ms`)
  })

  it('CVE-2019-11253: YAML whose aliases multiply is rejected, and fast', async () => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]']
    for (let level = 1; level < 9; level++)
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(',')}]`,
      )
    const bomb = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n${lines.join('\n')}\n`
    const { status, cpuMs } = await send('POST', `${namespace}/configmaps`, bomb, 'application/yaml')
    assert.ok(status >= 400 && status < 500, String(status))
    assert.ok(cpuMs < 2_000, `${cpuMs} ms`)
  })

  it('CVE-2019-11254: deep nesting is rejected, and fast', async () => {
    const deep = `{"apiVersion":"v1","kind":"ConfigMap","metadata":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`
    const { status, cpuMs } = await send('POST', `${namespace}/configmaps`, deep)
    assert.ok(status >= 400 && status < 500, String(status))
    assert.ok(cpuMs < 2_000, `${cpuMs} ms`)
  })

  it('CVE-2020-8552: made-up methods and paths create no new metrics', async () => {
    const lines = async () => (await send('GET', '/metrics')).text.split('\n').length
    await send('GET', '/made-up/0')
    await lines()
    const before = await lines()
    for (let index = 1; index < 200; index++) {
      await send('GET', `/made-up/${index}`)
      await send(`METHOD${index}`, '/api/v1/pods')
    }
    assert.ok((await lines()) - before < 60)
  })

  it('CVE-2021-25737: endpoints cannot be loopback or link-local addresses', async () => {
    for (const address of ['127.0.0.1', '169.254.1.1', '224.0.0.1']) {
      const { status, text } = await create('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
        metadata: { name: 'slice' },
        addressType: 'IPv4',
        endpoints: [{ addresses: [address] }],
      })
      assert.equal(status, 422, address)
      assert.match(text, /may not be/)
    }
  })

  it('CVE-2023-2728 and CVE-2024-3177: secrets that an account may not mount cannot be read by envFrom or ephemeral containers', async () => {
    await create(`${namespace}/serviceaccounts`, {
      metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
    })
    const pod = (name: string, container: object) => ({
      metadata: { name },
      spec: {
        serviceAccountName: 'strict',
        automountServiceAccountToken: false,
        containers: [{ name: 'c', image: 'i', ...container }],
      },
    })
    const envFrom = [{ secretRef: { name: 'foreign' } }]
    const refused = await create(`${namespace}/pods`, pod('a', { envFrom }))
    assert.equal(refused.status, 403)
    assert.match(refused.text, /envFrom referencing secret/)
    assert.equal((await create(`${namespace}/pods`, pod('b', {}))).status, 201)
    const beside = { spec: { ephemeralContainers: [{ name: 'e', image: 'i', envFrom }] } }
    const type = 'application/strategic-merge-patch+json'
    const late = await send('PATCH', `${namespace}/pods/b/ephemeralcontainers`, JSON.stringify(beside), type)
    assert.equal(late.status, 403)
  })
})
