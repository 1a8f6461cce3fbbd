import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type RunningServer, startServer } from '../../support/coxswain.ts'
import { freePort } from '../../support/free-port.ts'
import { createKubectl, type Following, kubectlVersions, succeeds } from '../../support/kubectl.ts'
import { ask } from '../../support/proxied-backend.ts'
import { expecting, namespaceIsReady } from '../session.ts'

/** Answers HTTP with what it was asked, and WebSockets with what they say. */
const script = (port: number) => `
  const { createHash } = require('crypto')
  const server = require('http').createServer((q, r) => {
    let length = 0
    q.on('data', chunk => { length += chunk.length })
    q.on('end', () => r.end(q.method + ' ' + q.url + ' ' + length))
  })
  server.on('upgrade', (q, socket) => {
    const accept = createHash('sha1').update(q.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
    socket.write(Buffer.concat([Buffer.from([0x81, q.url.length]), Buffer.from(q.url)]))
  })
  server.listen(${port}); console.log('listening')`

describe('proxies to what our own nodes run', () => {
  const directory = mkdtempSync(join(tmpdir(), 'proxies-'))
  let port = 0
  const base = '/api/v1/namespaces/default'
  let server: RunningServer
  let proxy: Following
  let local = 0
  before(async () => {
    port = await freePort()
    server = await startServer('--runtime', 'process')
    const kubectl = createKubectl('1.36', server.kubeconfig)
    await expecting('kubectl', kubectl).until(namespaceIsReady)
    const containers = [
      {
        name: 'main',
        image: 'node',
        command: [process.execPath, '-e', script(port)],
        ports: [{ name: 'web', containerPort: port }],
        readinessProbe: { httpGet: { port }, periodSeconds: 1 },
      },
    ]
    const items = [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', labels: { app: 'web' } },
        spec: { containers },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web' },
        spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'web' }] },
      },
    ]
    const file = join(directory, 'objects.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    await succeeds(kubectl('apply', '-f', file))
    await succeeds(kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=120s'))
    proxy = kubectl.follow('proxy', '--port=0')
    local = Number(/127\.0\.0\.1:(\d+)/.exec(await proxy.until(/Starting to serve/))![1])
  })
  after(async () => {
    await proxy?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true, force: true })
  })

  for (const version of kubectlVersions) {
    it(`kubectl ${version} reads pods, services and nodes through them`, async () => {
      const kubectl = createKubectl(version, server.kubeconfig)
      const raw = (path: string) => succeeds(kubectl('get', '--raw', path))
      assert.equal(await raw(`${base}/pods/web/proxy/a?b=c`), 'GET /a?b=c 0')
      assert.equal(await raw(`${base}/pods/web:${port}/proxy/`), 'GET / 0')
      await expecting('kubectl', kubectl).until(`get --raw ${base}/services/web:http/proxy/x`, 'GET /x 0')
      assert.equal(await raw(`${base}/services/web:80/proxy/x`), 'GET /x 0')
      assert.equal(await raw('/api/v1/nodes/node-1/proxy/healthz'), 'ok')
      const pods = JSON.parse(await raw('/api/v1/nodes/node-1/proxy/pods'))
      assert.ok(pods.items.some(({ metadata }: { metadata: { name: string } }) => metadata.name === 'web'))
      const summary = JSON.parse(await raw('/api/v1/nodes/node-1/proxy/stats/summary'))
      assert.equal(summary.node.nodeName, 'node-1')
      const [found] = summary.pods.filter(({ podRef }: { podRef: { name: string } }) => podRef.name === 'web')
      assert.equal(found.podRef.namespace, 'default')
      assert.ok(found.containers[0].memory.workingSetBytes > 1_000_000)
      assert.ok(summary.node.cpu.usageCoreNanoSeconds > 0)
      assert.match(await raw('/api/v1/nodes/node-1/proxy/metrics'), /^kubelet_running_pods [1-9]/m)
      assert.match(await raw('/api/v1/nodes/node-1/proxy/metrics/resource'), /^resource_scrape_error 0$/m)
      const log = await raw('/api/v1/nodes/node-1/proxy/containerLogs/default/web/main')
      assert.equal(log, 'listening\n')
    })
  }

  it('kubectl proxy passes bodies of any length, and every method', async () => {
    const body = 'x'.repeat(20_000_000)
    const headers = { 'content-length': String(body.length) }
    for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
      const { status, text } = await ask(local, method, `${base}/services/web:http/proxy/up`, {
        headers,
        body,
      })
      assert.deepEqual([status, text], [200, `${method} /up ${body.length}`])
    }
  })

  it('WebSockets work through them', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${local}${base}/pods/web/proxy/ws?room=7`)
    const message = await new Promise((resolve, reject) => {
      socket.onmessage = ({ data }) => resolve(data)
      socket.onerror = () => reject(new Error('no WebSocket'))
    })
    assert.equal(message, '/ws?room=7')
    socket.close()
  })
})
