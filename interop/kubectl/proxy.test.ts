import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Following } from '../support/kubectl.ts'
import { ask, converse, type ProxiedBackend, page, startProxiedBackend } from '../support/proxied-backend.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createSession, type Session } from './session.ts'

describe('proxies to pods, services and nodes, through kubectl proxy', () => {
  const namespace = 'proxied'
  const node = `elsewhere-${process.pid}`
  let target: Target
  let session: Session
  let backend: ProxiedBackend
  let proxy: Following
  let port = 0
  let pods = ''
  let services = ''

  const send = (method: string, path: string, more: Parameters<typeof ask>[3] = {}) =>
    ask(port, method, path, more)
  const messageOf = async (path: string): Promise<string> => {
    const { status, text } = await send('GET', path)
    return `${status} ${JSON.parse(text).message}`
  }

  before(async () => {
    target = await startTarget()
    backend = await startProxiedBackend()
    session = await createSession(target, '1.36', `${namespace}-${process.pid}`)
    pods = `/api/v1/namespaces/${session.namespace}/pods`
    services = `/api/v1/namespaces/${session.namespace}/services`
    await makeObjects()
    proxy = session.kubectl.follow('proxy', '--port=0')
    port = Number(/127\.0\.0\.1:(\d+)/.exec(await proxy.until(/Starting to serve/))![1])
  })

  after(async () => {
    await proxy?.[Symbol.asyncDispose]()
    await session?.ok(`delete node ${node}`)
    session?.[Symbol.dispose]()
    await backend?.[Symbol.asyncDispose]()
    await target?.[Symbol.asyncDispose]()
  })

  async function makeObjects(): Promise<void> {
    const { address } = backend
    const ports = [{ name: 'web', containerPort: backend.port }]
    const targetRef = { kind: 'Pod', name: 'web', namespace: session.namespace }
    const pod = (name: string, more: object = {}) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { nodeName: node, containers: [{ name: 'main', image: 'x', ...more }] },
    })
    const service = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports: [{ name: 'web', port: 80 }] },
    })
    const endpoints = (name: string, subsets: object[]) => ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name },
      subsets,
    })
    const items = [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: node },
        status: { addresses: [{ type: 'InternalIP', address }] },
      },
      pod('web', { ports }),
      pod('portless'),
      pod('loopback'),
      pod('pending'),
      service('web'),
      service('empty'),
      service('lonely'),
      endpoints('web', [
        { addresses: [{ ip: address, targetRef }], ports: [{ name: 'web', port: backend.port }] },
      ]),
      endpoints('empty', []),
    ]
    const file = join(session.directory, 'objects.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    await session.ok(`apply -f ${file}`)
    for (const [name, ip] of [
      ['web', address],
      ['portless', address],
      ['loopback', '127.0.0.1'],
    ]) {
      const status = JSON.stringify({ status: { podIP: ip, podIPs: [{ ip }] } })
      await session.ok(`patch pod ${name} --subresource=status --type=merge -p '${status}'`)
    }
  }

  it('pass every method on, with the body and without the headers that are for the API server', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const body = method === 'GET' || method === 'OPTIONS' ? '' : 'x'.repeat(4_000_000)
      const headers = {
        connection: 'keep-alive, x-hop',
        'x-hop': '1',
        'x-kept': '1',
        'content-length': String(body.length),
      }
      const { status, text } = await send(method, `${pods}/web/proxy/echo?a=b`, { headers, body })
      assert.equal(status, 200)
      const heard = JSON.parse(text)
      assert.deepEqual([heard.method, heard.url, heard.length], [method, '/echo?a=b', body.length])
      assert.equal(heard.headers['x-forwarded-uri'], `${pods}/web/proxy/echo`)
      assert.match(heard.headers['x-forwarded-for'], /127\.0\.0\.1/)
      assert.equal(heard.headers['x-kept'], '1')
      assert.equal(heard.headers['x-hop'], undefined)
      assert.equal(heard.headers.authorization, undefined)
    }
  })

  it('reach pods by number and scheme, services by name and number, nodes by number', async () => {
    const places = [
      `${pods}/web/proxy/`,
      `${pods}/web:${backend.port}/proxy/`,
      `${pods}/http:web:${backend.port}/proxy/`,
      `${pods}/portless:${backend.port}/proxy/`,
      `${services}/web:web/proxy/`,
      `${services}/web:80/proxy/`,
      `${services}/http:web:web/proxy/`,
      `/api/v1/nodes/${node}:${backend.port}/proxy/`,
    ]
    for (const place of places) assert.equal((await send('GET', place)).status, 200, place)
  })

  it('say what is wrong', async () => {
    const refused = (at: string) =>
      `error trying to reach service: dial tcp ${at}: connect: connection refused`
    const { address } = backend
    const tls = 'error trying to reach service: tls: first record does not look like a TLS handshake'
    const cases: Readonly<Record<string, string>> = {
      [`${pods}/web:1/proxy/`]: `503 ${refused(`${address}:1`)}`,
      [`${pods}/https:web:${backend.port}/proxy/`]: `503 ${tls}`,
      [`${pods}/web/proxy/broken`]: '503 error trying to reach service: EOF',
      [`${pods}/loopback/proxy/`]: '400 address not allowed',
      [`${pods}/pending/proxy/`]: '400 address not allowed',
      [`${pods}/none/proxy/`]: '404 pods "none" not found',
      [`${pods}/a:web:80/proxy/`]: '400 invalid pod request "a:web:80"',
      [`${pods}/web/proxy/?dryRun=All`]: '400 dryRun is not supported',
      [`${services}/web:81/proxy/`]: '503 no service port 81 found for service "web"',
      [`${services}/web:other/proxy/`]: '503 no endpoints available for service "web:other"',
      [`${services}/empty:80/proxy/`]: '503 no endpoints available for service "empty"',
      [`${services}/lonely:80/proxy/`]: '404 services "lonely" not found',
      [`${services}/none:80/proxy/`]: '404 services "none" not found',
      [`/api/v1/nodes/${node}/proxy/healthz`]: `503 ${refused(`${address}:10250`)}`,
      '/api/v1/nodes/none/proxy/': '404 nodes "none" not found',
    }
    for (const [path, expected] of Object.entries(cases)) assert.equal(await messageOf(path), expected, path)
  })

  it('lead redirects and links through themselves, and let no other site in', async () => {
    const root = await send('GET', `${pods}/web/proxy?a=b`)
    assert.deepEqual([root.status, root.headers.location], [301, `${pods}/web/proxy/?a=b`])
    const moved = await send('GET', `${pods}/web/proxy/moved`)
    assert.deepEqual([moved.status, moved.headers.location], [302, `${pods}/web/proxy/there/?x=1`])
    const { text } = await send('GET', `${services}/web:web/proxy/page`)
    assert.equal(text, page.replaceAll(/(href|src)="\//g, `$1="${services}/web:web/proxy/`))
    const { headers } = await send('GET', `${pods}/web/proxy/origin`)
    assert.deepEqual([headers.vary, headers['access-control-allow-origin']], ['a', undefined])
  })

  it('switch protocols when those behind do, and close both connections when they do not', async () => {
    const head = (path: string) =>
      `GET ${pods}/web/proxy/${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: toy/1\r\n\r\n`
    assert.match(await converse(port, head('x'), 'bye'), /^HTTP\/1\.1 101 .*BYE$/s)
    assert.match(await converse(port, head('refused'), ''), /^HTTP\/1\.1 403 .*no$/s)
    const redirected = await converse(port, head('redirected'), '')
    assert.match(redirected, /^HTTP\/1\.1 500 .*invalid upgrade response: status code 302/s)
  })
})
