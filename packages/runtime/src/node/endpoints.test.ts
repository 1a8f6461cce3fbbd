import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createRealEnv } from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'
import { createHttpTransport } from '@coxswain/wire/node'
import { runChecks } from '../health.ts'
import type { HealthCheck } from '../index.ts'
import { createHealthHandler, createMetricsHandler, MetricsRegistry } from '../index.ts'
import { createCertificateMaker, loadOperator, parseBindAddress, serveEndpoint } from './index.ts'

const env = createRealEnv()
const handler: Handler = async () => ({ status: 204, headers: {} })

describe('the endpoints of an operator', () => {
  it('serve metrics, health and readiness, each check by itself', async () => {
    const metrics = new MetricsRegistry()
    metrics.counter({ name: 'n', help: 'N' }).add(3)
    const checks = new Map<string, HealthCheck>([
      ['ping', () => {}],
      ['caches', () => assert.fail('not synced')],
    ])
    const source = {
      metrics,
      metricsHandlers: new Map<string, Handler>([
        ['/own', async () => ({ status: 200, headers: {}, body: new TextEncoder().encode('own') })],
      ]),
      checkHealth: async () => ({ ok: true, checks: [{ name: 'ping', ok: true }] }),
      checkReady: (only?: string) => runChecks(checks, only),
    }
    const health = createHealthHandler(source)
    const shown = createMetricsHandler(source)
    const isHealth = (path: string) => /^\/(healthz|readyz)/.test(path)
    await using endpoints = await serveEndpoint(
      request => (isHealth(request.path) ? health(request) : shown(request)),
      { env, port: 0 },
    )
    const get = async (path: string) => {
      const response = await fetch(endpoints.url + path)
      return `${response.status} ${await response.text()}`
    }
    assert.equal(await get('/healthz'), '200 ok')
    assert.equal(await get('/healthz?verbose'), '200 [+]ping ok\nhealthz check passed\n')
    assert.equal(
      await get('/readyz'),
      '500 [+]ping ok\n[-]caches failed: reason withheld\nreadyz check failed\n',
    )
    assert.equal(await get('/readyz/ping'), '200 ok')
    for (const name of ['nothing', 'constructor', '__proto__'])
      assert.equal(await get(`/readyz/${name}`), '404 not found')
    checks.set('stuck', () => new Promise<void>(() => {}))
    assert.equal(await get('/readyz/ping'), '200 ok', 'it does not wait for another check')
    assert.equal(await get('/nothing'), '404 not found')
    assert.match(await get('/metrics'), /^200 # HELP n N\n/)
    assert.equal(await get('/own'), '200 own')
    const post = await fetch(`${endpoints.url}/metrics`, { method: 'POST' })
    assert.equal(post.status, 405)
  })

  it("listen on addresses in Go's format", () => {
    assert.equal(parseBindAddress('0'), undefined)
    assert.deepEqual(parseBindAddress('127.0.0.1:8443'), { host: '127.0.0.1', port: 8443 })
    assert.deepEqual(parseBindAddress('[::1]:80'), { host: '::1', port: 80 })
    assert.match(parseBindAddress(':8443')!.host, /^(::|0\.0\.0\.0)$/)
    for (const wrong of ['', '8443', ':', ':99999', 'a b:1', '::1:80', 'https://x:1'])
      assert.throws(() => parseBindAddress(wrong), /an address such as :8443/)
  })

  it('have a self-signed certificate over TLS, and reload certificate files that change', async () => {
    const ask = async (url: string, ca?: string) => {
      await using transport = createHttpTransport({ server: url, tls: ca ? { ca } : { insecure: true } })
      const { signal } = new AbortController()
      const answer = await transport.send({ method: 'GET', path: '/', query: '', headers: {}, signal })
      return answer.status
    }
    {
      await using made = await serveEndpoint(handler, { env, port: 0, tls: {} })
      assert.match(made.url, /^https:/)
      assert.equal(await ask(made.url), 204)
      await assert.rejects(ask(made.url.replace('https', 'http')))
    }
    const looks: (() => void)[] = []
    const clock = { ...env.clock, sleep: () => new Promise<void>(resolve => looks.push(resolve)) }
    const path = mkdtempSync(join(tmpdir(), 'coxswain-endpoints-'))
    try {
      const maker = createCertificateMaker(env.random)
      const times = { notBefore: Date.now() - 1_000, notAfter: Date.now() + 3_600_000 }
      const put = () => {
        const ca = maker.createCa('files', times)
        const { certificate, key } = maker.createServer(['127.0.0.1'], times, ca)
        writeFileSync(join(path, 'a.crt'), certificate)
        writeFileSync(join(path, 'a.key'), key)
        return ca.certificate
      }
      const first = put()
      const files = { path, name: 'a.crt', key: 'a.key' }
      await using served = await serveEndpoint(handler, { env: { ...env, clock }, port: 0, tls: { files } })
      assert.equal(await ask(served.url, first), 204)
      const second = put()
      looks.shift()?.()
      while (looks.length === 0) await new Promise(resolve => setImmediate(resolve))
      assert.equal(await ask(served.url, second), 204)
      await assert.rejects(ask(served.url, first))
    } finally {
      rmSync(path, { recursive: true })
    }
  })
})

describe('loading an operator', () => {
  it('rejects a file that exports none', async () => {
    await assert.rejects(loadOperator(import.meta.filename), { code: 'BadDefinition' })
  })
})
