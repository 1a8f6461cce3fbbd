import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MetricsRegistry } from '../index.ts'
import { loadOperator, serveEndpoints } from './index.ts'

describe('the endpoints of an operator', () => {
  it('serve metrics, health and readiness, each check by itself', async () => {
    const metrics = new MetricsRegistry()
    metrics.counter({ name: 'n', help: 'N' }).add(3)
    const bad = {
      ok: false,
      checks: [
        { name: 'ping', ok: true },
        { name: 'caches', ok: false },
      ],
    }
    await using endpoints = await serveEndpoints(
      {
        metrics,
        checkHealth: async () => ({ ok: true, checks: [{ name: 'ping', ok: true }] }),
        checkReady: async () => bad,
      },
      { port: 0 },
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
    assert.equal(await get('/readyz/nothing'), '404 not found')
    assert.equal(await get('/nothing'), '404 not found')
    assert.match(await get('/metrics'), /^200 # HELP n N\n/)
  })
})

describe('loading an operator', () => {
  it('refuses a file that exports none', async () => {
    await assert.rejects(loadOperator(import.meta.filename), { code: 'BadDefinition' })
  })
})
